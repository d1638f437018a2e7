"""Kill commands, flood the server, and tag many segments; check the results and measure memory.

    python -m benchmarks.reliability kill --times 100
    python -m benchmarks.reliability flood --clients 200 --seconds 300 --half-open 50
    python -m benchmarks.reliability flood --clients 4 --seconds 3600 --pause 1       # a soak
    python -m benchmarks.reliability many --seconds 3600                              # a soak
    python -m benchmarks.reliability many --segments 1000000 --checks

Needs Linux.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from benchmarks.reliability import kills, load


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    subparser = commands.add_parser("kill")
    subparser.add_argument("--times", type=int, default=100, help="runs of each command; default: %(default)s")
    subparser.add_argument("--first", type=int, default=0, help="number of the first; default: %(default)s")
    subparser.add_argument("--only", nargs="+", choices=kills.NAMES, default=kills.NAMES)
    subparser = commands.add_parser("flood")
    for option, default in (("--clients", 200), ("--seconds", 300), ("--half-open", 50), ("--pause", 0)):
        subparser.add_argument(option, type=int, default=default, help="default: %(default)s")
    subparser = commands.add_parser("many")
    subparser.add_argument("--segments", type=int, default=1_000_000, help="default: %(default)s")
    subparser.add_argument("--seconds", type=int, default=86_400, help="then Ctrl-C ends it; default: %(default)s")
    subparser.add_argument("--checks", action="store_true", help="rule-based checks only, without a model")
    options = parser.parse_args()
    actions: dict[str, Callable[[], None]] = {
        "kill": lambda: kills.run(range(options.first, options.first + options.times), options.only),
        "flood": lambda: load.flood(options.clients, options.seconds, half_open=options.half_open, pause=options.pause),
        "many": lambda: load.tag_many(options.segments, options.seconds, checks_only=options.checks),
    }
    actions[options.command]()


if __name__ == "__main__":
    _main()
