"""Read the WMT test sets: sources, references, and the translations by all systems."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from data_prep.store import Store
from matese.errors import InputError

TEST_SETS = ("newstest2021", "generaltest2022", "wmt24")
LANGUAGES = frozenset(["en", "de", "ru", "zh", "cs", "uk", "ja", "hi", "es", "fr", "it", "pt", "is"])


@dataclass(frozen=True, slots=True)
class Item:
    """All translations of one source: human ones, and those of the systems by name; `index` counts lines from 0."""

    test_set: str
    lang_pair: str
    index: int
    source: str
    references: tuple[str, ...]
    hypotheses: Mapping[str, str]


def items(store: Store, test_set: str, *, lang_pairs: Collection[str] | None = None) -> Iterator[Item]:
    """Yields the items of a test set, including held-out ones, one language pair after the other.

    Without `lang_pairs`, these are all pairs of LANGUAGES.

    Raises:
        InputError: if the files of a pair differ in length.
    """
    files: dict[str, dict[str, str]] = {}
    for name in store.names(f"wmt/{test_set}"):
        place = _place(name)
        if place is not None and (lang_pairs is None or place[0] in lang_pairs):
            files.setdefault(place[0], {})[place[1]] = name
    wanted = [pair for pair in sorted(files) if lang_pairs is not None or set(pair.split("-")) <= LANGUAGES]
    lines = store.texts(f"wmt/{test_set}", [name for pair in wanted for name in files[pair].values()])
    for pair in wanted:
        texts = {role: lines[name] for role, name in files[pair].items()}
        if len({len(column) for column in texts.values()}) > 1:
            lengths = ", ".join(f"{files[pair][role]} {len(column)}" for role, column in texts.items())
            raise InputError(f"{test_set} {pair}: files differ in length ({lengths}); all need one line per segment")
        for index, row in enumerate(zip(*texts.values(), strict=True)):
            by_role = dict(zip(texts, row, strict=True))
            references = tuple(dict.fromkeys(by_role[role] for role in sorted(by_role) if role.startswith("ref ")))
            hypotheses = {role[4:]: by_role[role] for role in sorted(by_role) if role.startswith("hyp ")}
            if "src" in by_role:
                yield Item(test_set, pair, index, by_role["src"], references, hypotheses)


def _place(name: str) -> tuple[str, str] | None:
    """Returns the language pair and role ("src", "ref A", "hyp Online-B") of a test set's file; None for other files.

    >>> _place("txt/system-outputs/newstest2021.en-ha.hyp.GTCOM.ha"), _place("txt/system-outputs/en-hi/Aya23.txt")
    (('en-ha', 'hyp GTCOM'), ('en-hi', 'hyp Aya23'))
    """
    parts = name.split("/")[1:]
    if not parts or parts[0] not in {"sources", "references", "system-outputs"}:
        return None
    old = re.fullmatch(r"\w+\.(\w\w-\w\w)\.(src|ref|hyp)\.(?:(.+)\.)?\w\w", parts[-1])
    if old:
        return old[1], old[2] if old[2] == "src" else f"{old[2]} {old[3]}"
    if parts[0] == "system-outputs" and len(parts) == 3 and parts[2].endswith(".txt"):
        return parts[1], f"hyp {parts[2].removesuffix('.txt')}"
    new = re.fullmatch(r"(\w\w-\w\w)(?:\.ref(\w+))?\.(?:src\.)?\w+(?:\.txt)?", parts[-1])
    if new is None:
        return None
    return new[1], "src" if parts[0] == "sources" else f"ref {new[2] or 'A'}"
