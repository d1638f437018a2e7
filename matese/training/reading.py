"""Read files of ratings, or a reproducible share of them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from matese import preparation
from matese.annotation import Rating
from matese.evaluation.systems import raters
from matese.formats import detection, test_set_texts
from matese.formats.format import ReadOptions
from matese.formats.row_issues import RowIssue
from matese.formats.test_set_texts import TestSetTexts
from matese.merging import MergeMethod


def read(
    paths: Iterable[str | Path],
    *,
    hashes: tuple[float, float] = (0, 1),
    rater: str | None = None,
    prepare: MergeMethod | None = None,
    report: Callable[[RowIssue], None] | None = None,
    lang_pair: str | None = None,
    texts: Sequence[TestSetTexts] = (),
    notify: Callable[[str], None] = lambda _: None,
) -> Iterator[Rating]:
    """Yields the ratings of files in any format.

    Args:
        paths: the files.
        hashes: least hash of the sources whose ratings are yielded, and the hash above them; hashes are spread evenly
            from 0 to 1.
        rater: the rater whose ratings are yielded; None for all raters.
        prepare: how the ratings are prepared, see `preparation.prepare`; None to yield each rating as it is.
        report: called with each row that is skipped or repaired; None to raise a FormatError at such a row.
        lang_pair: of files that do not state it.
        texts: of test sets, whose sources and references are joined to the ratings.
        notify: called with sentences about segments without a reference after the join, and about the preparation.

    Raises:
        InputError: if a file is in no known format, is faulty, lacks the rater, or belongs to no given test set.
        OSError: if a file cannot be read.
    """
    for path in paths:
        ratings: Iterable[Rating] = detection.read(str(path), ReadOptions(report, lang_pair=lang_pair))
        if texts:
            joined = test_set_texts.join(ratings, *texts)
            for notice in joined.notices():
                notify(f"{path}: {notice}")
            ratings = joined.ratings
        if rater is not None:
            ratings = raters.one_per_segment(list(ratings), name=str(path), rater=rater).ratings
        if prepare is not None:
            prepared = preparation.prepare(ratings, merge=prepare)
            for notice in prepared.notices(str(path)):
                notify(notice)
            ratings = prepared.ratings
        for rating in ratings:
            source = rating.segment.source or rating.segment.hypothesis
            if hashes[0] <= zlib.crc32(source.encode("utf-8", "surrogatepass")) / 2**32 < hashes[1]:
                yield rating


def texts_of(rating: Rating) -> Iterator[str]:
    """Yields the hypothesis, the source and the references of a rating."""
    segment = rating.segment
    yield segment.hypothesis
    if segment.source is not None:
        yield segment.source
    yield from segment.references
