r"""Compare commands that read and write ratings with reading and writing the same JSON by msgspec alone.

    python -m benchmarks.many_rows

Processor time in seconds, of the fastest of several runs, in which the commands take turns. A command checks each
rating and makes objects of it; msgspec alone does neither, and loads no package.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import islice
from pathlib import Path

from benchmarks import markdown
from benchmarks.engines import processor_seconds
from benchmarks.host_path import segments
from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity
from matese.formats.tables import jsonl

_ALONE = """
import sys
import msgspec
with open(sys.argv[1], "rb") as given, open(sys.argv[2], "wb") as written:
    for line in given:
        written.write(msgspec.json.encode(msgspec.json.decode(line)))
        written.write(b"\\n")
"""

_READING = """
import sys
from matese.formats import detection
for rating in detection.read(sys.argv[1]):
    pass
"""
_FEW = 10


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--runs", type=int, default=3, help="default: %(default)s")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.jsonl"
        ratings = (rating(number, segment) for number, segment in enumerate(segments(None, options.rows)))
        path.write_text("".join(f"{jsonl.dumps(row)}\n" for row in ratings), encoding="utf-8")
        seconds = measure(path, options.runs)
    alone = seconds["msgspec alone"]
    rows = [[name, f"{taken:.2f}", f"{taken / alone:.1f}"] for name, taken in seconds.items()]
    print(*markdown.table([f"{options.rows:,} rows", "seconds", "× msgspec"], rows), sep="\n")


def rating(number: int, segment: Segment) -> Rating:
    """Returns a rating with two error spans, as a person may give it."""
    key = SegmentKey("examples", "de-en", f"system {number % 10}", f"document {number // 1000}", number)
    of_person = Segment(segment.hypothesis, None, segment.references, key)
    errors = (ErrorSpan(0, 3, Severity.MINOR, "Fluency/Grammar"), ErrorSpan(4, 9, Severity.MAJOR, "Accuracy/Addition"))
    return Rating(of_person, "rater 1", errors, overall=Overall(-6.0, "mqm"))


def measure(path: Path, n_runs: int) -> dict[str, float]:
    """Returns the processor seconds of msgspec alone and of each command on a file."""
    matese = [sys.executable, "-m", "matese"]
    few = path.with_name("few.jsonl")
    with open(path, encoding="utf-8") as lines:
        few.write_text("".join(islice(lines, _FEW)), encoding="utf-8")
    commands = {
        "msgspec alone": [sys.executable, "-c", _ALONE, str(path), str(path.with_name("alone.jsonl"))],
        f"`matese info` of {_FEW} rows": [*matese, "info", str(few)],
        "reading alone, a `Rating` a row": [sys.executable, "-c", _READING, str(path)],
        "`matese info`": [*matese, "info", str(path)],
        "`matese score`": [*matese, "score", str(path)],
        "`matese convert` to JSONL": [*matese, "convert", str(path), str(path.with_name("converted.jsonl"))],
        "`matese convert` to CSV": [*matese, "convert", str(path), str(path.with_name("converted.csv"))],
    }
    fastest: dict[str, float] = {}
    for _ in range(n_runs):
        for name, command in commands.items():
            fastest[name] = min(processor_seconds(command), fastest.get(name, float("inf")))
    return fastest


if __name__ == "__main__":
    main()
