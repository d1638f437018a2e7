"""The rated data sets of WMT20 to WMT22: their files, known faults, references and human systems."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from data_prep.store import Store
from matese.annotation import ErrorSpan, Rating
from matese.formats import detection
from matese.formats.format import ReadOptions
from matese.formats.registry import BY_NAME
from matese.formats.row_issues import RowIssue

_HUMAN = re.compile(r"(?:ref|Human)[-.]?(?P<letter>[A-Z]?)(?:\.0)?")


@dataclass(frozen=True, slots=True)
class References:
    """The reference files of a test set, one segment per line."""

    folder: str  # or archive, "wmt/newstest2021"
    source: str  # file of the sources, relative to the folder
    texts: tuple[tuple[str, str], ...]  # translator's letter and file of each reference


@dataclass(frozen=True, slots=True)
class DataSet:
    """One file of ratings.

    Attributes:
        test_set: name of the test set in the segments' keys and in `--test-sets`.
        path: path of the file in the store.
        role: "train" for data that are split into train and dev, "test" for a test set.
        end_shift: as single_characters and first_segment, see `matese.formats.format.ReadOptions`.
        doubled_quotes: whether some quotation marks are doubled, and its reader cannot know; see
            `data_prep.cleaning.with_plain_quotes`.
        references: the test set's reference files; None if there are none.
        not_references: letters of human translations that are not used as references.
    """

    test_set: str
    lang_pair: str
    path: str
    form: Literal["mqm-tsv", "error-spans"]
    role: Literal["train", "test"] = "train"
    end_shift: int = 0
    single_characters: bool = False
    first_segment: int | None = None
    doubled_quotes: bool = False
    references: References | None = None
    not_references: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Test set and language pair, "ted2021 en-de"."""
        return f"{self.test_set} {self.lang_pair}"

    @property
    def start(self) -> int:
        """Number of the first segment in the file."""
        return BY_NAME[self.form].first_segment if self.first_segment is None else self.first_segment


def human(system: str) -> str | None:
    """Returns the letter of a human translator; None for a system.

    >>> human("Human-A.0"), human("ref.C"), human("ref"), human("refB"), human("hyp.Nemo")
    ('A', 'C', 'A', 'B', None)
    """
    match = _HUMAN.fullmatch(system)
    return None if match is None else match["letter"] or "A"


def read(data_set: DataSet, store: Store, report: Callable[[RowIssue], None]) -> Iterator[Rating]:
    """Yields the ratings of one file, with the official names of the systems.

    The official names are used in the files of segment scores. The error spans of 2021 have "hyp.Nemo" for "Nemo" and
    "ref.A", "ref" or "refB" for "ref-A" and "ref-B".
    """
    shared = ("test_set", "lang_pair", "end_shift", "single_characters", "first_segment")
    options = ReadOptions(report, **{name: getattr(data_set, name) for name in shared})
    ratings = detection.read(store.path(data_set.path), options, name=data_set.form)
    return map(_with_marks_in_source, map(_with_official_system, ratings))


def _with_marks_in_source(rating: Rating) -> Rating:
    """Returns the rating with its omissions as errors in the source, which `cleaning` drops by their category."""
    marks = (
        ErrorSpan(omission.start, omission.end, omission.severity, omission.category) for omission in rating.omissions
    )
    return replace(rating, source_errors=(*rating.source_errors, *marks), omissions=())


def _with_official_system(rating: Rating) -> Rating:
    key = rating.segment.key
    if key is None or key.system is None:
        return rating
    system = key.system.removeprefix("hyp.")
    letter = human(system)
    if letter is not None and system.startswith("ref"):
        system = f"ref-{letter}"
    return replace(rating, segment=replace(rating.segment, key=replace(key, system=system)))


def _files(test_set: str, lang_pair: str, letters: str) -> References:
    source, target = lang_pair.split("-")
    return References(
        folder=f"wmt/{test_set}",
        source=f"txt/sources/{test_set}.{lang_pair}.src.{source}",
        texts=tuple((letter, f"txt/references/{test_set}.{lang_pair}.ref.{letter}.{target}") for letter in letters),
    )


def _mqm_tsv(test_set: str, lang_pair: str, **faults: Any) -> DataSet:  # noqa: ANN401  (fields of DataSet)
    return DataSet(test_set, lang_pair, f"mqm/mqm_{test_set}_{lang_pair.replace('-', '')}.tsv", "mqm-tsv", **faults)


def _error_spans(test_set: str, lang_pair: str, name: str, letters: str = "", **fields: Any) -> DataSet:  # noqa: ANN401
    """Returns an error-span file; `letters` name the references of its test set at WMT."""
    wmt = test_set.replace("wmt22-test", "generaltest2022")
    references = _files(wmt, lang_pair, letters) if letters else None
    path = f"error-spans/{name.format(lang_pair)}_processed.tsv"
    return DataSet(test_set, lang_pair, path, "error-spans", references=references, **fields)


_WMT22: Mapping[str, Any] = {"role": "test", "single_characters": True}
_NEWS_2021: Mapping[str, Any] = {"first_segment": 1}
_EN_RU_2021: Mapping[str, Any] = {**_NEWS_2021, "end_shift": -3}

DATA_SETS: tuple[DataSet, ...] = (
    _mqm_tsv("newstest2020", "en-de", doubled_quotes=True),
    _mqm_tsv("newstest2020", "zh-en", doubled_quotes=True),
    # B looks like a post-edited machine translation: 182 of its 513 segments equal those of one submission (20 or fewer
    # of A, C and D). The published reference files leave it out too.
    _error_spans(
        "newstest2021", "en-de", "2021_{}", "ACD", **_NEWS_2021, doubled_quotes=True, not_references=frozenset("B")
    ),
    _error_spans("newstest2021", "zh-en", "2021_{}", "A", first_segment=1),
    _error_spans("newstest2021", "en-ru", "2021_{}", "AB", **_EN_RU_2021),
    # TED is published in both formats; only the MQM TSV has the categories that cleaning needs.
    _mqm_tsv("ted2021", "en-de"),
    _mqm_tsv("ted2021", "zh-en"),
    _error_spans("ted2021", "en-ru", "2021_TED_{}", **_EN_RU_2021),
    _error_spans("wmt22-dev", "en-de", "2022_{}_dev", **_WMT22),
    _error_spans("wmt22-dev", "en-ru", "2022_{}_dev", **_WMT22),
    _error_spans("wmt22-test", "en-de", "2022_{}_test", "AB", **_WMT22),
    _error_spans("wmt22-test", "en-ru", "2022_{}_test", "A", **_WMT22),
    _error_spans("wmt22-test", "zh-en", "2022_{}_test", "AB", **_WMT22),
)
