"""`matese completion`: write a shell script that completes commands, options and values."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Literal, TextIO

from matese.cli import options
from matese.tasks import sinks
from matese.validation.options import Options, option


@dataclass(frozen=True)
class Request(Options):
    """Complete commands.

    Attributes:
        shell: bash, zsh, fish or tcsh.
    """

    shell: Literal["bash", "zsh", "fish", "tcsh"] = option(metavar="SHELL")


def run(request: Request, stream: TextIO) -> None:
    """Writes the script."""
    import shtab

    whole, _ = options.make_parsers()
    _add_values(whole)
    with sinks.opened(None, stream) as results:
        results.write(shtab.complete(whole, request.shell).rstrip("\n") + "\n")


def _add_values(parser: argparse.ArgumentParser) -> None:
    """Sets the values of each option: names or files."""
    import shtab

    from matese.model.storage import checkpoint

    for action in parser._actions:  # argparse has no public list of options
        if isinstance(action, argparse._SubParsersAction):
            for command in dict.fromkeys(action.choices.values()):
                _add_values(command)
        elif (option := getattr(action, "option", None)) is None:
            continue
        elif option.flag == "--model":
            action.choices = checkpoint.embedded()
        elif option.names:
            action.choices = option.names
        elif option.type not in (int, float):
            vars(action)["complete"] = shtab.FILE
