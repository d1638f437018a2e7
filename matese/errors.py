"""Errors that a user can fix. Every other exception that reaches the command line is a fault of this package."""

from __future__ import annotations

import difflib
import importlib.util
import traceback
from collections.abc import Collection, Sequence
from pathlib import Path

_LONGEST_VALUE = 100
_PACKAGE = str(Path(__file__).parent)


class InputError(ValueError):
    """A value, file, option or model that the user can correct.

    The message has three parts: what is wrong, what is allowed, and where.
    """

    def _render_traceback_(self) -> list[str]:
        """Returns what IPython shows in place of a traceback: the user's line, without the frames below it."""
        frames = traceback.extract_tb(self.__traceback__)
        is_ours = [frame.filename.startswith(_PACKAGE) for frame in frames]
        n_of_user = is_ours.index(True) if True in is_ours else len(frames)
        callers = traceback.format_list(frames[max(n_of_user - 1, 0) : n_of_user])
        return [*"".join(callers).splitlines(), f"{type(self).__name__}: {self}"]


class UsageError(InputError):
    """An option or argument that cannot be used as given."""


class ModelError(InputError):
    """A model that is missing, incomplete, or of the wrong kind."""


class FormatError(InputError):
    """A file that does not follow its format.

    >>> str(FormatError("ted.tsv", 118, "<v> without </v> in target"))
    'ted.tsv:118: <v> without </v> in target'

    Attributes:
        path: the file, as the user gave it.
        line: counted from 1; None for the file as a whole.
        problem: what is wrong and what is allowed.
    """

    def __init__(self, path: str, line: int | None, problem: str) -> None:
        # All arguments reach ValueError, so that the error can be copied and pickled (it may cross processes).
        super().__init__(path, line, problem)
        self.path = path
        self.line = line
        self.problem = problem

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.problem}"


def near_miss(name: str, allowed: Collection[str]) -> str:
    """Returns the link between an unknown name and the allowed ones, with the most similar allowed name, if any.

    >>> near_miss("majro", ["minor", "major"]), near_miss("xyz", ["minor", "major"])
    (", did you mean 'major'?", ':')
    >>> near_miss("darr", ["system.spa", "segment.darr"])  # the last part of a name
    ", did you mean 'segment.darr'?"
    """
    close = difflib.get_close_matches(name.casefold(), allowed, n=1)
    close = close or [candidate for candidate in allowed if candidate.endswith(f".{name.casefold()}")]
    return f", did you mean {close[0]!r}?" if close else ":"


def unknown(what: str, name: str, names: Collection[str], *, allowed: str | None = None) -> str:
    """Returns the sentence about a name that is not among those allowed.

    Args:
        what: the kind of thing that is named.
        name: the unknown name.
        names: the known ones.
        allowed: what else is allowed, in words; None for the names alone.

    >>> unknown("severity", "majro", ["minor", "major"])
    "unknown severity 'majro', did you mean 'major'? must be minor or major"
    """
    return f"unknown {what} {name!r}{near_miss(name, names)} must be {allowed or one_of(list(names))}"


def one_of(names: Sequence[str]) -> str:
    """Returns the names as an English list of alternatives.

    >>> one_of(["a"]), one_of(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    return " or ".join(", ".join(names).rsplit(", ", 1))


def counted(n: int, noun: str) -> str:
    """Returns a number and a noun, which has an "s" unless the number is 1.

    >>> counted(1, "segment"), counted(1200, "more segment")
    ('1 segment', '1,200 more segments')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


_OF_ONE = {"are": "is", "were": "was", "have": "has"}


def agreeing(n: int, total: int, sentence: str) -> str:
    """Returns "N of TOTAL" and a sentence, whose first verb is in the number of its subject.

    >>> agreeing(1, 6, "hypotheses are blank"), agreeing(2, 6000, "hypotheses are blank")
    ('1 of 6 hypotheses is blank', '2 of 6,000 hypotheses are blank')
    """
    subject, verb, rest = sentence.split(" ", 2)
    return f"{n:,} of {total:,} {subject} {_OF_ONE[verb] if n == 1 else verb} {rest}"


def shortened(value: object) -> str:
    """Returns a value as messages show it: the beginning of a long one."""
    text = " ".join(repr(f"{value[:40]}..." if isinstance(value, str) and len(value) > 40 else value).splitlines())
    return text if len(text) <= _LONGEST_VALUE else f"{type(value).__name__} {text[:_LONGEST_VALUE]}..."


def check_list(**values: object) -> None:
    """Checks that no text is given where a list of texts is meant, whose letters would be taken for its items.

    Raises:
        UsageError: for the first that is a text.
    """
    for name, value in values.items():
        if isinstance(value, str):
            raise UsageError(f"{name} {value!r}: must be a list, not one text")


def check_installed(what: str, package: str, *, extra: str, module: str | None = None) -> None:
    """Raises a UsageError where a package that an extra of ours installs is missing; `what` needs it.

    `module` is the one that shows it, if its name is not the package's.
    """
    if importlib.util.find_spec(module or package) is None:
        raise UsageError(f"{what} needs {package}; install it with pip install 'matese[{extra}]'")
