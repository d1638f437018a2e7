"""Read the WMT test sets, and make error-free ratings of their human translations for error injection.

The references of the test sets become the rated texts. Another human translation is their reference if there are
several, a translation by a system otherwise. There are no ratings of most of the languages.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from data_prep import splits
from data_prep.store import Store
from matese.annotation import Overall, Rating, Segment, SegmentKey
from matese.errors import InputError, UsageError
from matese.evaluation.metrics import chrf

TEST_SETS = ("newstest2021", "generaltest2022", "wmt24")
LANGUAGES = frozenset(["en", "de", "ru", "zh", "cs", "uk", "ja", "hi", "es", "fr", "it", "pt", "is"])
HELD_OUT_PAIRS = frozenset({("wmt24", "en-hi"), ("wmt24", "en-zh")})
"""Language pairs that are not used for training, to measure generalisation to another language."""

RATER = "human"
"""Rater of a human translation with another one as its reference."""
SYSTEM_REFERENCE = "human, system reference"
"""Rater of a human translation with the translation of a system as its reference."""
_MIN_SYSTEMS = 5
_MAX_CHARACTERS = 400


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


def is_usable(item: Item) -> bool:
    """Whether a source can be used for training: no text is held out, and enough systems translated it."""
    texts = (item.source, *item.references)
    return (
        (item.test_set, item.lang_pair) not in HELD_OUT_PAIRS
        and len(distinct_hypotheses(item)) >= _MIN_SYSTEMS
        and bool(item.source.strip())
        and max(map(len, texts)) <= _MAX_CHARACTERS
        and not any(text in splits.committed() for text in texts if text.strip())
    )


def distinct_hypotheses(item: Item) -> list[str]:
    """Returns the distinct translations that are neither blank nor too long."""
    texts = dict.fromkeys(item.hypotheses.values())
    return [text for text in texts if text.strip() and len(text) <= _MAX_CHARACTERS]


def ratings(item: Item, *, most: int) -> list[Rating]:
    """Returns human translations rated as error-free.

    The reference of each is another human translation, or a typical system translation if there is only one.
    """
    texts = [text for text in item.references if text.strip()]
    if len(texts) > 1:
        rater = RATER
        pairs = list(itertools.permutations(texts, 2))[:most]
    else:
        hypotheses = distinct_hypotheses(item)
        similarities = chrf.pairwise(hypotheses).sum(1)
        best = [hypothesis for _, hypothesis in sorted(zip(-similarities, hypotheses, strict=True))][:most]
        rater = SYSTEM_REFERENCE
        pairs = [(text, hypothesis) for text in texts for hypothesis in best]
    key = SegmentKey(item.test_set, item.lang_pair, RATER, None, item.index)
    # The model cannot learn to read other languages.
    source = item.source if item.lang_pair.split("-")[0] in LANGUAGES else None
    segments = [Segment(text, source, (reference,), key) for text, reference in pairs if reference != text]
    return [Rating(segment, rater, (), overall=Overall(0.0, "mqm")) for segment in segments]


def build(
    store: Store,
    *,
    lang_pairs: Collection[str] | None = None,
    n_sources: int = 900,
    most: int = 5,
    seed: int = 0,
    progress: Callable[[str], None],
) -> Iterator[Rating]:
    """Yields up to `most` ratings of each of the drawn sources, for each test set and language pair.

    Raises:
        InputError: if the files of a pair are not parallel, or a requested pair has no usable source.
    """
    unseen = set(lang_pairs or ())
    for test_set in TEST_SETS:
        all_items = items(store, test_set, lang_pairs=lang_pairs)
        for pair, of_pair in itertools.groupby(all_items, key=lambda item: item.lang_pair):
            progress(f"{test_set} {pair}")
            usable = list(filter(is_usable, of_pair))
            if usable:
                unseen.discard(pair)
            rng = random.Random(f"{seed} {test_set} {pair}")
            for item in rng.sample(usable, min(n_sources, len(usable))):
                yield from ratings(item, most=most)
    if unseen:
        names = ", ".join(TEST_SETS)
        raise UsageError(f"--lang-pairs {' '.join(sorted(unseen))}: must be language pairs of {names} and not held out")
