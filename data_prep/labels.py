"""Rated data that the paper did not have, such as WMT24 ESA; see `python -m data_prep labels --help`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from data_prep import biomedical, esa, splits
from data_prep.prepare import write_all
from data_prep.report import Count, Counts, Name, Report, Tally
from data_prep.splits import HeldOut
from data_prep.store import Store
from matese.annotation import Rating
from matese.formats.tables import jsonl


@dataclass(frozen=True, kw_only=True)
class Source:
    """A source of spans, of which NAME.jsonl and NAME-test.jsonl are written.

    Attributes:
        title: its name in the help.
        read: yields its ratings.
        test_pairs: language pairs that no network is trained on, to measure generalisation to another domain or
            language.
        has_dev: whether ratings in these pairs whose sources are not held out become NAME-dev.jsonl; otherwise, all of
            them are for tests, and no training file has a text of theirs.
    """

    title: str
    read: Callable[..., Iterable[Rating]]
    test_pairs: frozenset[str]
    has_dev: bool


SOURCES: Mapping[str, Source] = {
    "bio": Source(
        title="biomedical MQM", read=biomedical.read, test_pairs=frozenset({"en-fr", "zh-en"}), has_dev=False
    ),
    "esa": Source(title="WMT24 ESA", read=esa.read, test_pairs=frozenset({"en-hi", "en-zh"}), has_dev=True),
}
"""The sources of spans, by the names of their files."""


def write(store: Store, output: Path, progress: Callable[[str], None]) -> Report:
    """Writes the files of each of `SOURCES`, JSONL files of ratings, and returns their counts.

    Training files have no segments on the committed lists of held-out texts, and none that share a text with
    `bio-test`. `esa-test` holds the sources on the list of WMT24 in two language pairs. `esa-dev` holds their other
    sources, which `esa` has in other languages: they test no network, but calibrate the detection of error-free
    segments.

    Raises:
        FormatError: if a raw file is not in its format.
        OSError: if a file cannot be read or written.
    """
    output.mkdir(parents=True, exist_ok=True)
    tally = Tally()
    files = dict[str, list[Rating]]()
    for name, source in SOURCES.items():
        progress(f"reading {name}")
        skip, drop, repair = (tally.counter(name, kind) for kind in ("skipped", "dropped", "repaired"))
        parts: dict[bool, list[Rating]] = {True: [], False: []}
        for rating in sorted(source.read(store, skip=skip, drop=drop, repair=repair), key=_lang_pair):
            parts[_lang_pair(rating) in source.test_pairs].append(rating)
        test, train = parts.values()
        train = _pick(train, _is_free_of(splits.committed()), skip, "segment of a held-out text")
        if source.has_dev:
            is_free = _is_free_of(splits.committed())
            files[f"{name}-dev.jsonl"] = [rating for rating in test if is_free(rating)]
            test = [rating for rating in test if not is_free(rating)]
        else:
            texts = (text for rating in test for text in splits.texts_of(rating.segment))
            tested = HeldOut(frozenset(map(splits.fingerprint, texts)))
            train = _pick(train, _is_free_of(tested), skip, "segment with a text of the test file")
        files |= {f"{name}.jsonl": train, f"{name}-test.jsonl": test}
    progress("writing")
    write_all(output, {file: map(jsonl.dumps, ratings) for file, ratings in files.items()})
    return Report({file: _by_pair(file, ratings) for file, ratings in files.items()}, tally)


def _is_free_of(held_out: HeldOut) -> Callable[[Rating], bool]:
    return lambda rating: not held_out.covers(rating.segment)


def _pick(ratings: Iterable[Rating], is_wanted: Callable[[Rating], bool], skip: Count, reason: str) -> list[Rating]:
    """Returns the wanted ratings and counts the others."""
    wanted = []
    for rating in ratings:
        if is_wanted(rating):
            wanted.append(rating)
        else:
            skip(reason)
    return wanted


def _lang_pair(rating: Rating) -> str:
    key = rating.segment.key
    return "" if key is None else key.lang_pair or ""


def _by_pair(file: str, ratings: Iterable[Rating]) -> Mapping[Name, Counts]:
    pairs: dict[str, list[Rating]] = defaultdict(list)
    for rating in ratings:
        pairs[_lang_pair(rating)].append(rating)
    return {(file.removesuffix(".jsonl"), pair): Counts.of(rated) for pair, rated in pairs.items()}
