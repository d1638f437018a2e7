"""Read files of ratings, or a reproducible share of them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from matese import preparation
from matese.annotation import Rating
from matese.evaluation.systems import raters
from matese.files import abridged, name_of
from matese.formats import detection, test_set_texts
from matese.formats.format import ReadOptions
from matese.formats.row_issues import RowIssue
from matese.training.config import DataConfig

AS_THEY_ARE = DataConfig(prepare=None)


def read(
    paths: Iterable[str | Path],
    data: DataConfig = AS_THEY_ARE,
    *,
    hashes: tuple[float, float] = (0, 1),
    report: Callable[[RowIssue], None] | None = None,
    notify: Callable[[str], None] = lambda _: None,
) -> Iterator[Rating]:
    """Yields the ratings of files in any format, which are prepared together.

    Args:
        paths: the files.
        data: the rater, how ratings are prepared, the language pair of files that do not state it, and test sets whose
            sources and references are joined to the ratings; by default, each rating is yielded as it is.
        hashes: least hash of the sources whose ratings are yielded, and the hash above them; hashes are spread evenly
            from 0 to 1.
        report: called with each row that is skipped or repaired; None to raise a FormatError at such a row.
        notify: called with sentences about segments without a reference after the join, and about the preparation.

    Raises:
        InputError: if a file is in no known format, is faulty, or belongs to no given test set, none has the rater, or
            a rater has marked a segment twice.
        OSError: if a file cannot be read.
    """
    texts_of_test_sets = (
        test_set_texts.read(texts.source, texts.references, test_set=texts.test_set, lang_pair=texts.lang_pair)
        for texts in data.texts
    )
    test_sets = [texts for texts in texts_of_test_sets if texts is not None]

    def read_file(path: str) -> Iterable[Rating]:
        ratings = detection.read(path, ReadOptions(report, lang_pair=data.lang_pair))
        if not test_sets:
            return ratings
        joined = test_set_texts.join(ratings, *test_sets)
        for notice in joined.notices():
            notify(f"{name_of(path)}: {notice}")
        return joined.ratings

    files = list(map(str, paths))
    name = abridged(map(name_of, files))
    ratings: Iterable[Rating] = chain.from_iterable(map(read_file, files))
    if data.rater is not None:
        ratings = raters.one_per_segment(list(ratings), name=name, rater=data.rater).ratings
    if data.prepare is not None:
        ratings = tuple(ratings)
        raters.check_marked_once(ratings, name)
        prepared = preparation.prepare(ratings, merge=data.prepare)
        for notice in prepared.notices(name):
            notify(notice)
        ratings = prepared.ratings
    for rating in ratings:
        source = rating.segment.source or rating.segment.hypothesis
        if hashes[0] <= zlib.crc32(source.encode("utf-8", "surrogatepass")) / 2**32 < hashes[1]:
            yield rating


def read_dev(
    data: DataConfig, report: Callable[[RowIssue], None] | None = None, notify: Callable[[str], None] = lambda _: None
) -> Iterator[Rating]:
    """Yields the ratings to validate on, which may be a part of the training data; see `read`."""
    for paths in data.dev_groups:
        yield from read(paths, data, hashes=(data.least_dev_hash, 1), report=report, notify=notify)


def texts_of(rating: Rating) -> Iterator[str]:
    """Yields the hypothesis, the source and the references of a rating."""
    segment = rating.segment
    yield segment.hypothesis
    if segment.source is not None:
        yield segment.source
    yield from segment.references
