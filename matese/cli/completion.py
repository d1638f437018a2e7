"""`matese completion`: a shell script that completes commands, options and values."""

from __future__ import annotations

import argparse

from matese.cli import options, output

SUMMARY = "write a shell script that completes commands, options and values"
EPILOG = """The script does not start matese, so completion is quick. Save it where the shell looks for completions,
and again after each update of matese:

  bash   matese completion bash > ~/.local/share/bash-completion/completions/matese
  zsh    matese completion zsh > ~/.zfunc/_matese        (with ~/.zfunc in fpath)
  tcsh   matese completion tcsh > ~/.matese.csh          (and source it in ~/.tcshrc)
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds the command's options."""
    shells = options.Choice("shell", ("bash", "zsh", "tcsh"))
    parser.add_argument("shell", type=shells, metavar="SHELL", help="bash, zsh or tcsh")


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    import shtab

    whole, _ = options.make()
    _add_values(whole)
    with output.opened(None) as results:
        results.write(shtab.complete(whole, args.shell).rstrip("\n") + "\n")


def _add_values(parser: argparse.ArgumentParser) -> None:
    """Adds to each option its values: some names, or files."""
    import shtab

    for action in parser._actions:  # argparse has no public list of options
        if isinstance(action, argparse._SubParsersAction):
            for command in dict.fromkeys(action.choices.values()):
                _add_values(command)
        elif names := getattr(action.type, "names", None):
            action.choices = names
        elif action.nargs != 0 and action.type in (None, options.known_weights):
            vars(action)["complete"] = shtab.FILE
