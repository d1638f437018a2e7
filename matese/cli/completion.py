"""`matese completion`: write a shell script that completes commands, options and values."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from matese import mqm
from matese.cli import options, output

SUMMARY = "write a shell script that completes commands, options and values"
EPILOG = """The script does not start matese, so completion is quick. Save it where the shell looks for completions,
and again after each update of matese:

  bash   matese completion bash > ~/.local/share/bash-completion/completions/matese
  zsh    matese completion zsh > ~/.zfunc/_matese        (with ~/.zfunc in fpath)
  fish   matese completion fish > ~/.config/fish/completions/matese.fish
  tcsh   matese completion tcsh > ~/.matese.csh          (and source it in ~/.tcshrc)
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    shells = options.Choice("shell", ("bash", "fish", "zsh", "tcsh"))
    parser.add_argument("shell", type=shells, metavar="SHELL", help="bash, fish, zsh or tcsh")


def run(args: argparse.Namespace) -> None:
    import shtab

    whole, _ = options.make()
    _add_values(whole)
    with output.opened(None) as results:
        if args.shell == "fish":
            results.write("".join(f"{line}\n" for line in _fish(whole)))
            return
        results.write(shtab.complete(whole, args.shell).rstrip("\n") + "\n")


def _add_values(parser: argparse.ArgumentParser) -> None:
    """Sets the values of each option: names or files."""
    import shtab

    from matese.encoder import checkpoint

    for action in parser._actions:  # argparse has no public list of options
        if isinstance(action, argparse._SubParsersAction):
            for command in dict.fromkeys(action.choices.values()):
                _add_values(command)
        elif names := getattr(action.type, "names", None):
            action.choices = names
        elif "--model" in action.option_strings or action.type is options.weights:
            action.choices = checkpoint.embedded() if "--model" in action.option_strings else tuple(mqm.PRESETS)
        elif action.nargs != 0 and action.type is None:
            vars(action)["complete"] = shtab.FILE


def _fish(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yields the lines of a script for fish, which shtab does not support."""
    (subparsers,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    helps = {one.dest: one.help or "" for one in subparsers._choices_actions}
    yield "complete -c matese -f"
    for name, command in subparsers.choices.items():
        yield f"complete -c matese -n __fish_use_subcommand -a {name} -d {_quoted(helps.get(name, ''))}"
        for action in command._actions:
            words = [f"complete -c matese -n '__fish_seen_subcommand_from {name}'"]
            words += [f"-{'l' if one.startswith('--') else 's'} {one.lstrip('-')}" for one in action.option_strings]
            if not action.option_strings:
                words.append("-F" if action.choices is None else "")
            elif action.nargs != 0:
                words.append("-r -F" if action.choices is None else "-x")
            if action.choices is not None:
                words.append(f"-a {_quoted(' '.join(map(str, action.choices)))}")
            yield " ".join([*filter(None, words), f"-d {_quoted(str(action.help or ''))}"])


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("%%", "%") + "'"
