"""`matese completion`: write a shell script that completes commands, options and values."""

from __future__ import annotations

import argparse

from matese.cli import fields, groups, options
from matese.errors import one_of
from matese.tasks import sinks
from matese.tasks.values import OneOf

SHELLS = ("bash", "zsh", "fish", "tcsh")
EPILOG = """The script does not start matese, so completion is quick. Save it where the shell looks for completions,
and again after each update of matese:

  bash   matese completion bash > ~/.local/share/bash-completion/completions/matese
  zsh    matese completion zsh > ~/.zfunc/_matese        (with ~/.zfunc in fpath)
  fish   matese completion fish > ~/.config/fish/completions/matese.fish
  tcsh   matese completion tcsh > ~/.matese.csh          (and source it in ~/.tcshrc)
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", type=fields.Argument(OneOf("shell", SHELLS)), metavar="SHELL", help=one_of(SHELLS))


def request(args: argparse.Namespace) -> str:
    shell: str = args.shell
    return shell


def run(shell: str) -> None:
    import shtab

    whole, _ = options.make_parsers()
    _add_values(whole)
    with sinks.opened(None, groups.standard_output()) as results:
        results.write(shtab.complete(whole, shell).rstrip("\n") + "\n")


def _add_values(parser: argparse.ArgumentParser) -> None:
    """Sets the values of each option: names or files."""
    import shtab

    from matese.model.storage import checkpoint

    for action in parser._actions:  # argparse has no public list of options
        if isinstance(action, argparse._SubParsersAction):
            for command in dict.fromkeys(action.choices.values()):
                _add_values(command)
        elif names := getattr(action.type, "names", None):
            action.choices = names
        elif "--model" in action.option_strings:
            action.choices = checkpoint.embedded()
        elif action.nargs != 0 and action.type is None:
            vars(action)["complete"] = shtab.FILE
