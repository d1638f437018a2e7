"""Rated data that the paper did not have: biomedical MQM and WMT24 ESA; see `python -m data_prep labels --help`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from data_prep import bio, esa, splits
from data_prep.prepare import write_all
from data_prep.report import Count, Counts, Name, Report, Tally
from data_prep.splits import HeldOut
from data_prep.store import Store
from matese.annotation import Rating
from matese.formats.tables import jsonl

TEST_PAIRS: Mapping[str, frozenset[str]] = {
    "bio": frozenset({"en-fr", "zh-en"}),
    "esa": frozenset({"en-hi", "en-zh"}),
}
"""Language pairs that are never used for training, to measure generalisation to another domain or language."""


def write(data: Path, output: Path, progress: Callable[[str], None]) -> Report:
    """Writes `bio`, `bio-test`, `esa` and `esa-test`, each a JSONL file of ratings, and returns their counts.

    Training files have no segments on the committed lists of held-out texts, and none that share a text with
    `bio-test`. `esa-test` holds the sources on the list of WMT24 in two language pairs; the other sources of these
    pairs are in no file because `esa` has them in other languages.

    Args:
        data: folder of the raw files.
        output: folder to write, created if missing.
        progress: called with the name of each step.

    Raises:
        FormatError: if a raw file is not in its format.
        OSError: if a file cannot be read or written.
    """
    output.mkdir(parents=True, exist_ok=True)
    store, tally, files = Store(data), Tally(), dict[str, list[Rating]]()
    for name, reader in (("bio", bio.read), ("esa", esa.read)):
        progress(f"reading {name}")
        skip, drop, repair = (tally.counter(name, kind) for kind in ("skipped", "dropped", "repaired"))
        ratings = sorted(reader(store, skip=skip, drop=drop, repair=repair), key=_lang_pair)
        test = [rating for rating in ratings if _lang_pair(rating) in TEST_PAIRS[name]]
        train = [rating for rating in ratings if _lang_pair(rating) not in TEST_PAIRS[name]]
        files[f"{name}.jsonl"] = list(_without_held_out(train, test if name == "bio" else (), skip))
        files[f"{name}-test.jsonl"] = test if name == "bio" else list(_only_held_out(test, skip))
    progress("writing")
    write_all(output, {file: map(jsonl.dumps, ratings) for file, ratings in files.items()})
    return Report({file: _by_pair(file, ratings) for file, ratings in files.items()}, tally)


def _without_held_out(ratings: Iterable[Rating], test: Iterable[Rating], skip: Count) -> Iterator[Rating]:
    """Yields the ratings without a held-out text and without a text of the test ratings."""
    tested = HeldOut(frozenset(splits.fingerprint(text) for rating in test for text in splits.texts_of(rating.segment)))
    for rating in ratings:
        if splits.committed().covers(rating.segment):
            skip("segment of a held-out text")
        elif tested.covers(rating.segment):
            skip("segment with a text of the test file")
        else:
            yield rating


def _only_held_out(ratings: Iterable[Rating], skip: Count) -> Iterator[Rating]:
    for rating in ratings:
        if splits.committed().covers(rating.segment):
            yield rating
        else:
            skip("segment of a test pair whose source is in the training file")


def _lang_pair(rating: Rating) -> str:
    key = rating.segment.key
    return "" if key is None else key.lang_pair or ""


def _by_pair(file: str, ratings: Iterable[Rating]) -> Mapping[Name, Counts]:
    pairs: dict[str, list[Rating]] = defaultdict(list)
    for rating in ratings:
        pairs[_lang_pair(rating)].append(rating)
    return {(file.removesuffix(".jsonl"), pair): Counts.of(rated) for pair, rated in pairs.items()}
