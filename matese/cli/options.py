"""Parse command lines: the commands, the types of values, and the options that commands share.

Usage errors are one line and name a near miss.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from matese import mqm
from matese.errors import FormatError, UsageError, near_miss, one_of, unknown

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

GROUPS = {
    "everyday use": ("tag", "score", "compare", "gate", "report", "serve"),
    "files": ("convert", "info"),
    "research": ("evaluate", "agreement", "correlate", "rerank", "mbr", "explain", "stress"),
    "models": ("train", "distil", "shrink", "calibrate", "export"),
    "shell": ("completion",),
}
"""The commands by what people do."""
COMMANDS = tuple(name for names in GROUPS.values() for name in names)

_ENDINGS = ("html", "json", "jsonl", "csv", "tsv", "xlsx", "parquet", "txt")
"""Endings of files that people take for the name of an option."""
_QUIET = "show errors only, no notices and no progress"


class Command(Protocol):
    """A module named after its command, with a summary (an imperative) and an epilog of the help.

    A command whose `--quiet` does more than leave out notices has its help text in `QUIET`. One with many options names
    those of `--help` in `USUAL`, without dashes; `--help-all` shows all.
    """

    SUMMARY: str
    EPILOG: str

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Adds the command's options."""

    def run(self, args: argparse.Namespace) -> int | None:
        """Runs the command and returns its exit code; None stands for 0."""


_N_EXAMPLES = 5
"""Examples that the help of the usual options shows."""
_PROSE_WIDTH = 100
"""An indented line of more characters than this continues in the next one."""


class _Help(argparse.HelpFormatter):
    """Help that fits the terminal: no word is broken, paragraphs are folded, columns and examples stay."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "".join(f"{indent}{line}\n" for line in fold(text, width))

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _wrap(" ".join(text.split()), width)

    def _format_action(self, action: argparse.Action) -> str:
        if not isinstance(action, argparse._SubParsersAction):
            return super()._format_action(action)
        of_command = {listed.dest: listed for listed in action._get_subactions()}
        parts = []
        for title, names in GROUPS.items():
            listed = [of_command[name] for name in names if name in of_command]
            if listed:
                parts.append(f"{'':{self._current_indent}}{title}:\n")
                self._indent()
                parts += map(self._format_action, listed)
                self._dedent()
        return "".join(parts)


def fold(text: str, width: int) -> list[str]:
    r"""Returns the lines of a text, folded to a width; what stands in columns is folded below its last column.

    >>> fold("A text of\ntwo lines:\n  --a  what is long\n  b", 12)
    ['A text of', 'two lines:', '  --a  what', '    is long', '  b']
    >>> fold("  a  one two\n     three four\n  b", 16)
    ['  a  one two', '     three four', '  b']
    >>> fold("  a  one two\n     three four\n  b", 20)
    ['  a  one two three', '     four', '  b']
    """
    paragraphs: list[str] = []
    lines = text.split("\n")
    for before, line in zip(["", *lines], lines, strict=False):
        indent = len(line) - len(line.lstrip())
        same = indent == len(before) - len(before.lstrip()) and line.strip() and before.strip()
        is_listed = line.startswith(("  matese ", "  --")) or re.search(r"\S {2,}\S", line)  # an example, or in columns
        below_column = line.strip() and paragraphs and indent == _last_column(paragraphs[-1]) > 0
        if below_column or (same and (indent == 0 or (len(before) > _PROSE_WIDTH and not is_listed))):
            paragraphs[-1] += f" {line.strip()}"
        else:
            paragraphs.append(line)
    return [folded for paragraph in paragraphs for folded in _fold_one(paragraph, width)]


def _fold_one(paragraph: str, width: int) -> list[str]:
    if len(paragraph) <= width:
        return [paragraph]
    hanging = _last_column(paragraph) or len(paragraph) - len(paragraph.lstrip())
    start = paragraph[:hanging]
    if paragraph.startswith("  matese "):  # the rest of an example must not look like another one
        hanging += 4
    if hanging > width // 2:
        start = " " * (len(paragraph) - len(paragraph.lstrip()))
        hanging = 4
    return _wrap(paragraph[len(start) :], width, start, " " * hanging)


def _last_column(line: str) -> int:
    """Returns where the last column of a line begins; 0 if it has no columns."""
    columns = re.match(r" *\S.*?\s{2,}(?=\S)", line)
    return columns.end() if columns else 0


def _wrap(text: str, width: int, first: str = "", others: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )


class Parser(argparse.ArgumentParser):
    """A parser that raises an error instead of printing the usage and exiting.

    Attributes:
        usual: the options that `--help` shows, without dashes; all if there are none.
    """

    usual: tuple[str, ...] = ()

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        super().__init__(**{"allow_abbrev": False, "formatter_class": _Help, **options})
        # Negative numbers are values, not options; argparse accepts exponents only since Python 3.14.
        self._negative_number_matcher = re.compile(r"-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")

    def format_help(self) -> str:
        """Returns the help: of the usual options, if not all are, and with examples alone."""
        if not self.usual:
            return super().format_help()
        formatter = self._get_formatter()
        positional = [action for action in self._actions if not action.option_strings]
        names = "".join(f" {formatter._format_args(action, str(action.metavar))}" for action in positional)
        formatter.add_usage(f"%(prog)s [options]{names}", (), ())
        formatter.add_text(self.description)
        wanted = {f"--{name}" for name in (*self.usual, "help", "help-all", "quiet")}
        usual = [action for action in self._actions if wanted.intersection(action.option_strings)]
        ordered = sorted(usual, key=lambda action: bool({"--help", "--help-all", "--quiet"} & {*action.option_strings}))
        formatter.start_section("usual options" if ordered else None)
        formatter.add_arguments([*positional, *ordered])
        formatter.end_section()
        examples = re.search(r"^examples:\n(?:  .*\n)+", self.epilog or "", re.MULTILINE)
        formatter.add_text(examples and "".join(examples[0].splitlines(keepends=True)[: 1 + _N_EXAMPLES]))
        return formatter.format_help()

    def format_all(self) -> str:
        """Returns the help of all options."""
        return super().format_help()

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Writes the help; argparse would ignore a full disk or a closed pipe."""
        from matese.files import naming

        with naming("standard output"):
            (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raises a UsageError."""
        raise UsageError(f"{message.removeprefix('argument ')} (see {self.prog} --help)")


class _HelpAll(argparse.Action):
    """Shows the help of all options."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> NoReturn:
        from matese.files import naming

        assert isinstance(parser, Parser)
        with naming("standard output"):
            sys.stdout.write(parser.format_all())
        parser.exit()


def command(name: str) -> Command:
    """Imports a command; importing all of them takes a fifth of a second."""
    module: Command = importlib.import_module(f"matese.cli.{name.replace('-', '_')}")
    return module


def make_parsers(names: Iterable[str] = COMMANDS) -> tuple[Parser, dict[str, Parser]]:
    """Returns the parser of these commands, and the parser of each command by name."""
    parser = Parser(prog="matese", description="Marks errors in machine translations and scores the translations.")
    parser.add_argument(
        "-v", "--version", action="store_true", help="show the version and the signature of the default model"
    )
    subparsers = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", parser_class=Parser)
    for name in names:
        module = command(name)
        description = f"{module.SUMMARY[0].upper()}{module.SUMMARY[1:]}."
        child = subparsers.add_parser(name, help=module.SUMMARY, description=description, epilog=module.EPILOG)
        module.add_options(child)
        child.usual = getattr(module, "USUAL", ())
        text = "show all options, explained, and exit" if child.usual else argparse.SUPPRESS
        child.add_argument("--help-all", action=_HelpAll, nargs=0, help=text)
        child.add_argument("-q", "--quiet", action="store_true", help=getattr(module, "QUIET", _QUIET))
    return parser, dict(subparsers.choices)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Returns the options of a command; `command` is its name, None for `--version`.

    Raises:
        UsageError: if an option or value is unknown, missing or not allowed.
        SystemExit: after `--help`.
    """
    parser, commands = make_parsers(argv[:1] if argv and argv[0] in COMMANDS else COMMANDS)
    known = one_of(COMMANDS)
    if argv and not argv[0].startswith("-") and argv[0] not in COMMANDS:
        parser.error(unknown("command", argv[0], COMMANDS))
    args, rest = parser.parse_known_args(argv)
    if rest:
        _refuse(rest[0], commands.get(args.command, parser))
    if args.command is None and not args.version:
        parser.error(f"no command: must be {known}")
    return args


def _refuse(argument: str, parser: Parser) -> NoReturn:
    options = sorted(set(re.findall(r"(?<![\w-])--[a-z](?:[a-z0-9-]*[a-z0-9])?", parser.format_all())))
    if argument.startswith("-"):
        name = argument.split("=")[0]
        ending = name.removeprefix("--")
        if "--output" in options and ending in _ENDINGS:
            parser.error(f"unknown option {name}: use --output FILE.{ending}")
        if "--output" not in options and "--json" in options and ending in ("output", *_ENDINGS):
            where = "the results go to standard output: use > FILE, or --json FILE"
            parser.error(f"unknown option {name}: {where}")
        parser.error(f"unknown option {name}{near_miss(name, options)} must be {one_of(options)}")
    positional = [action for action in parser._actions if not action.option_strings]  # argparse has no public list
    names = " and ".join(f"{action.metavar} ({action.help})" for action in positional)
    if any(action.nargs in ("*", "+") for action in positional):
        names = f"all {positional[-1].metavar} one after the other, before the options"
    if "--input" in options and os.path.exists(argument) and not positional:
        allowed = "give translations as --hyp FILE, or a file with all texts as --input FILE"
        parser.error(f"unexpected {argument!r}: {allowed}")
    hint = "; repeat --ref for several references, list several systems after --hyp" if "--hyp" in options else ""
    takes = f"{parser.prog} takes {names}" if positional else f"must be the value of an option{hint}"
    parser.error(f"unexpected {argument!r}: {takes}")


@dataclass(frozen=True, slots=True)
class OneOf:
    """An argparse type: one of the names of `what`. The error for other names suggests a near miss."""

    what: str
    first: tuple[str, ...]
    rest: Callable[[], Sequence[str]] = tuple
    """Returns further names; only called for values that are not among the first, so it may import a lot."""

    @property
    def names(self) -> tuple[str, ...]:
        """All allowed names."""
        return tuple(dict.fromkeys((*self.first, *self.rest())))

    def __call__(self, value: str) -> str:
        """Returns the name."""
        if value not in self.first and value not in self.names:
            raise argparse.ArgumentTypeError(unknown(self.what, value, self.names))
        return value


def whole_number(lowest: int) -> Callable[[str], int]:
    """Returns an argparse type: whole numbers from `lowest` on."""

    def take(value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", value) or int(value) < lowest:
            raise argparse.ArgumentTypeError(f"{value!r} must be a whole number, {lowest} or more")
        return int(value)

    return take


def number(allowed: str, is_allowed: Callable[[float], bool]) -> Callable[[str], float]:
    """Returns an argparse type: the numbers that a function allows; `allowed` describes them."""

    def take(value: str) -> float:
        with contextlib.suppress(ValueError):
            if is_allowed(float(value)):
                return float(value)
        raise argparse.ArgumentTypeError(f"{value!r} must be a number{allowed}")

    return take


def probability() -> Callable[[str], float]:
    """Returns an argparse type: numbers between 0 and 1, exclusive."""
    return number(" greater than 0 and less than 1", lambda value: 0 < value < 1)


def share() -> Callable[[str], float]:
    """Returns an argparse type: shares from 0 to 1, or in per cent: "60%" is 0.6."""
    take = number(" from 0 to 1, or from 0% to 100%", lambda value: 0 <= value <= 1)

    def convert(value: str) -> float:
        with contextlib.suppress(ValueError):
            if value.endswith("%"):
                return take(repr(float(value[:-1]) / 100))
        return take(value)

    return convert


def not_negative() -> Callable[[str], float]:
    """Returns an argparse type: finite numbers from 0 on."""
    return number(", 0 or more", lambda value: 0 <= value < float("inf"))


def weights(value: str) -> mqm.Weights:
    """Returns the preset with this name, or the weights in a YAML file."""
    if value in mqm.PRESETS:
        return mqm.PRESETS[value]
    if os.sep not in value and not value.endswith((".yaml", ".yml")) and not os.path.exists(value):
        allowed = one_of([*mqm.PRESETS, "a YAML file"])
        raise argparse.ArgumentTypeError(unknown("weights", value, mqm.PRESETS, allowed=allowed))
    from matese.formats import weights_file

    try:
        return weights_file.read(value)
    except FormatError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def require(is_met: bool, problem: str) -> None:
    """Raises a UsageError unless a condition is met."""
    if not is_met:
        raise UsageError(problem)


def parse_settings(settings: Sequence[str]) -> list[tuple[str, str]]:
    """Returns the pairs of a dotted key and a YAML value of `--set`."""
    overrides = []
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--set {setting}: must be KEY=VALUE")
        overrides.append((key, value))
    return overrides


def add_weights(group: argparse._ActionsContainer) -> None:
    """Adds the penalties of errors."""
    text = f"penalties of errors: {one_of(list(mqm.PRESETS))}, or a YAML file (default: matese)"
    group.add_argument("--weights", type=weights, default="matese", metavar="NAME|FILE", help=text)


def add_basis(group: argparse._ActionsContainer) -> None:
    """Adds the option for the score that ranks systems."""
    text = "score that decides: spans or expected (default: expected if all ratings have an expected score)"
    group.add_argument("--by", type=OneOf("score", ("spans", "expected")), metavar="NAME", help=text)


def add_output(group: argparse._ActionsContainer, formats: OneOf, text: str) -> None:
    """Adds the format and the file of the output."""
    group.add_argument("--format", type=formats, metavar="NAME", help=text)
    group.add_argument("--output", metavar="FILE", help="write to a file, which appears when it is complete")


def add_limit(group: argparse._ActionsContainer, text: str) -> None:
    """Adds the number of segments of each system."""
    group.add_argument("--limit", type=whole_number(1), metavar="N", help=text)


def add_json(group: argparse._ActionsContainer) -> None:
    """Adds the output of figures as JSON."""
    group.add_argument("--json", metavar="FILE", help="write all figures as one object; - is standard output")


def add_number(
    group: argparse._ActionsContainer, name: str, lowest: int, default: int, what: str, *, to: str | None = None
) -> None:
    """Adds an option that takes a whole number from `lowest` on; `to` is its attribute of the arguments."""
    text = f"{what} (default: {default:,})"
    group.add_argument(name, type=whole_number(lowest), default=default, metavar="N", help=text, dest=to)
