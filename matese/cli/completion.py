"""`matese completion`: a script by which a shell completes commands, options and values."""

from __future__ import annotations

import argparse

from matese.cli import options, output

SHELLS = ("bash", "zsh", "tcsh")

_EPILOG = """The script needs nothing of matese when it runs, so that a press of Tab is quick. Write it where the shell
looks for such scripts, again after an update:

  bash   matese completion bash > ~/.local/share/bash-completion/completions/matese
  zsh    matese completion zsh > ~/.zfunc/_matese        (with ~/.zfunc in fpath)
  tcsh   matese completion tcsh > ~/.matese.csh          (and source it in ~/.tcshrc)
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser(
        "completion",
        help="write a completion script of a shell",
        description="Writes a script by which a shell completes commands, options and values.",
        epilog=_EPILOG,
    )
    parser.add_argument("shell", type=options.choice("shell", *SHELLS), metavar="SHELL", help="bash, zsh or tcsh")


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    import shtab

    from matese.cli import parser

    everything = parser.make()
    _complete(everything)
    with output.opened(None) as results:
        results.write(shtab.complete(everything, args.shell).rstrip("\n") + "\n")
    return 0


def _complete(parser: argparse.ArgumentParser) -> None:
    """Says of each option what it may be: one of some names, or a file."""
    import shtab

    for action in parser._actions:  # argparse has no other way to its options
        if isinstance(action, argparse._SubParsersAction):
            for command in dict.fromkeys(action.choices.values()):
                _complete(command)
        elif names := getattr(action.type, "names", None):
            action.choices = names
        elif action.nargs != 0 and action.type in (None, options.known_weights):
            vars(action)["complete"] = shtab.FILE
