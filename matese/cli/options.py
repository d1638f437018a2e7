"""Parse command lines: the commands, and the help.

Usage errors are one line and name a near miss.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from matese.cli import fields
from matese.errors import UsageError, near_miss, one_of, unknown
from matese.validation.options import attribute_docs

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

GROUPS = {
    "everyday use": {
        "tag": "mark the errors of translations, and score them",
        "score": "score systems by the errors in their translations",
        "compare": "compare systems by the errors in their translations",
        "gate": "check translations against limits of quality",
        "report": "make an HTML page of ratings to read, search and correct",
        "serve": "serve a page that marks errors, or one to correct the marks",
    },
    "files": {
        "convert": "convert ratings between the formats of tools and shared tasks",
        "info": "show what is in a file of ratings, or describe the models",
    },
    "research": {
        "evaluate": "compare predicted errors with those that humans marked",
        "agreement": "compare the errors that several raters marked",
        "correlate": "compare the scores of metrics with those of humans",
        "rerank": "choose the best translation of each source among candidates",
        "mbr": "choose the translation most similar to all other candidates",
        "explain": "show which words lower the score of a translation",
        "stress": "inject errors into translations, and report which are noticed",
    },
    "models": {
        "prepare": "make training data of raw ratings by several raters",
        "train": "train a model on rated segments",
        "distil": "train a small model to agree with a large one",
        "shrink": "write a smaller and faster copy of a model",
        "calibrate": "write a copy of a model with calibrated confidences",
        "export": "write a COMET, MetricX or MaTESe model as a model directory",
    },
    "shell": {
        "completion": "write a shell script that completes commands and options",
    },
}
"""The commands by what people do, each with its summary (an imperative)."""
_SUMMARIES = {name: summary for group in GROUPS.values() for name, summary in group.items()}
COMMANDS = tuple(_SUMMARIES)

_USUAL = "usual options: "
"""Begins a text of `help/` that names the options of `--help`; `--help-all` shows all."""


_N_EXAMPLES = 5
"""Examples that the help of the usual options shows."""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help in which the commands are grouped by what people do."""

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
        wanted = [f"--{name}" for name in (*self.usual, "help", "help-all", "quiet")]
        usual = [action for action in self._actions if {*action.option_strings} & {*wanted}]
        ordered = sorted(usual, key=lambda action: wanted.index(action.option_strings[-1]))
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


def command(name: str) -> Any:  # noqa: ANN401  (a module with `Request` and `run(request, stream)`)
    """Imports the task of a command; importing all of them takes a fifth of a second."""
    return importlib.import_module(f"matese.{'cli' if name == 'completion' else 'tasks'}.{name}")


def make_parsers(names: Iterable[str] = COMMANDS) -> tuple[Parser, dict[str, Parser]]:
    """Returns the parser of these commands, and the parser of each command by name."""
    parser, subparsers = _program()
    for name in names:
        request = command(name).Request
        summary = _SUMMARIES[name]
        usual, epilog = _help_text(name)
        description = f"{summary[0].upper()}{summary[1:]}."
        child = subparsers.add_parser(name, help=summary, description=description, epilog=epilog)
        fields.add(child, request)
        child.usual = usual
        text = "show all options, explained, and exit" if usual else argparse.SUPPRESS
        child.add_argument("--help-all", action=_HelpAll, nargs=0, help=text)
        of_scores = attribute_docs(request).get("scores_only")
        text = "show errors only, no notices and no progress"
        child.add_argument("-q", "--quiet", action="store_true", help=f"{text}; {of_scores}" if of_scores else text)
    return parser, dict(subparsers.choices)


def _help_text(name: str) -> tuple[tuple[str, ...], str]:
    """Returns the options that `--help` shows, all if there are none, and what follows the options."""
    text = _text_file(name)
    if "{formats}" in text:
        from matese.formats.registry import TABLE

        rows = (
            f"{'r' if form.reads else '-'}{'w' if form.writes else '-'} {form.name:<16} {form.title}" for form in TABLE
        )
        text = text.replace("{formats}", "\n".join(f"  {row}" for row in rows))
    if "{figures}" in text:
        from matese.evaluation.spans.figure_texts import FIGURES

        rows = (
            textwrap.fill(f"{name:<16} {figure.meaning}", 118, subsequent_indent=" " * 17)
            for name, figure in FIGURES.items()
        )
        text = text.replace("{figures}", textwrap.indent("\n".join(rows), "  "))
    text = text.replace("{candidates}\n", _text_file("candidates"))
    if not text.startswith(_USUAL):
        return (), text
    usual, _, epilog = text.removeprefix(_USUAL).partition("\n\n")
    return tuple(usual.split()), epilog


def _text_file(name: str) -> str:
    return Path(__file__).with_name("help").joinpath(f"{name}.txt").read_text(encoding="utf-8")


def _program() -> tuple[Parser, argparse._SubParsersAction[Parser]]:
    """Returns the parser of the program, and where its commands are added."""
    parser = Parser(prog="matese", description="Marks errors in machine translations and scores the translations.")
    parser.add_argument(
        "-v", "--version", action="store_true", help="show the version and the signature of the default model"
    )
    return parser, parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", parser_class=Parser)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Returns the options of a command; `command` is its name, None for `--version`.

    Raises:
        UsageError: if an option or value is unknown, missing or not allowed.
        SystemExit: after `--help`.
    """
    if argv and argv[0] in COMMANDS:
        parser, commands = make_parsers(argv[:1])
        asked = commands[argv[0]]
    else:  # no command's options are needed, so none is imported
        parser, subparsers = _program()
        asked = parser
        for name, summary in _SUMMARIES.items():
            subparsers.add_parser(name, help=summary)
        if argv and not argv[0].startswith("-"):
            parser.error(unknown("command", argv[0], COMMANDS))
    args, rest = parser.parse_known_args(argv)
    if rest:
        _refuse(rest[0], asked)
    if args.command is None and not args.version:
        parser.error(f"no command: must be {one_of(COMMANDS)}")
    return args


def _refuse(argument: str, parser: Parser) -> NoReturn:
    """Raises a UsageError about an argument that a command does not know."""
    shown = [action for action in parser._actions if action.help != argparse.SUPPRESS]  # argparse has no public list
    if argument.startswith("-"):
        name = argument.split("=")[0]
        options = sorted(option for action in shown for option in action.option_strings if option.startswith("--"))
        # Dashes would make any two options look alike.
        meant = near_miss(name.lstrip("-"), [option.lstrip("-") for option in options]).replace("mean '", "mean '--")
        parser.error(f"unknown option {name}{meant} must be {one_of(options)}")
    positional = [action for action in shown if not action.option_strings]
    names = " and ".join(f"{action.metavar} ({action.help})" for action in positional)
    if any(action.nargs in ("*", "+") for action in positional):
        names = f"all {positional[-1].metavar} one after the other, before the options"
    takes = f"{parser.prog} takes {names}" if names else "must be the value of an option, such as --hyp FILE"
    parser.error(f"unexpected {argument!r}: {takes}")
