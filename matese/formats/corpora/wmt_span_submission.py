"""Submissions to the error span detection task of WMT 2025: `wmt25-spans`.

A TSV with the columns of the official scorer, in its order (wmt-conference/wmt25-mteval, scripts/scoring/task2:
`TSV_FIELDS_RELEASE` and `TSV_FIELDS_GOLD`). A file that is read may have them in any order, and others among them,
which are ignored. The scorer joins on all columns but the texts: `method` (how people annotated: esa or mqm), which a
Rating does not have, is kept as another column.

Offsets are half-open and in code points; the last three fields are lists separated by spaces, `-1 -1 no-error` for a
segment free of errors. The indices of an error without a place are `missing`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from matese.annotation import ErrorSpan, Rating, Segment, SegmentKey, UnplacedError, severities
from matese.errors import FormatError, InputError
from matese.files import name_of, read_lines
from matese.formats.capabilities import ALL_KEY_FIELDS, TABS_AND_LINES, Capabilities
from matese.formats.corpora import score_files
from matese.formats.format import STRICT, ReadOptions, WriteOptions, rating_of
from matese.formats.row_issues import located
from matese.text.whole_numbers import parse_whole_number

CAPABILITIES = Capabilities(
    lacks=("rater", "no_spans", "category", "confidence", "source_errors", "omissions", "empty_texts"),
    key=ALL_KEY_FIELDS,
    references=1,
    severities=severities.MINOR_MAJOR,
    scales=(),
    needs=("index",),
    extra=True,
    replaced=TABS_AND_LINES,
)
COLUMNS = (
    *("doc_id", "segment_id", "source_lang", "target_lang", "set_id", "system_id"),
    *("source_segment", "hypothesis_segment", "reference_segment", "domain_name", "method"),
    *("start_indices", "end_indices", "error_types"),
)
_METHOD = "method"
_NEEDED = ("doc_id", "segment_id", "system_id", "hypothesis_segment", *COLUMNS[-3:])
NO_ERROR = "no-error"
_MISSING = "missing"


def adapt(rating: Rating, losses: Counter[str]) -> Rating:
    """Returns a rating whose only other column is `method`."""
    extra = rating.segment.extra or {}
    if lost := extra.keys() - {_METHOD}:
        losses["other columns"] += len(lost)
    kept = {_METHOD: extra[_METHOD]} if extra.get(_METHOD) else None
    return replace(rating, segment=replace(rating.segment, extra=kept))


def write(ratings: Iterable[Rating], options: WriteOptions) -> Iterator[str]:
    """Yields the lines."""
    yield "\t".join(COLUMNS) + "\n"
    for rating in ratings:
        segment = rating.segment
        key = segment.key or SegmentKey()
        # Split at the first hyphen; `read` joins both parts again.
        source_lang, _, target_lang = (key.lang_pair or "").partition("-")
        place = (key.document, str(key.index), source_lang, target_lang, key.test_set, key.system)
        method = str((segment.extra or {}).get(_METHOD, ""))
        fields = (*place, segment.source, segment.hypothesis, *(segment.references or ("",)), key.domain, method)
        yield "\t".join((*(field or "" for field in fields), *span_lists(rating))) + "\n"


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the rating of each row."""
    rows = enumerate((line.split("\t") for line in read_lines(path)), start=1)
    _, names = next(rows, (0, None))
    if names is None:
        raise FormatError(name_of(path), None, "file is empty: must begin with a header")
    if not set(_NEEDED) <= set(names):
        allowed = f"must have {' '.join(_NEEDED)}, separated by tabs"
        raise FormatError(name_of(path), 1, f"not the header of a submission of 2025: {allowed}")
    for number, fields in rows:
        with located(path, number):
            if len(fields) != len(names):
                raise InputError(f"{len(fields)} fields: must be {len(names)}, as in the header")
            yield _row(dict(zip(names, fields, strict=True)))


def _row(row: Mapping[str, str]) -> Rating:
    source_lang = row.get("source_lang", "")
    target_lang = row.get("target_lang", "")
    key = SegmentKey(
        row.get("set_id") or None,
        f"{source_lang}-{target_lang}" if target_lang else source_lang or None,
        row["system_id"] or None,
        row["doc_id"] or None,
        score_files.to_segment(row["segment_id"]),
        row.get("domain_name") or None,
    )
    reference = row.get("reference_segment")
    references = (reference,) if reference else ()
    extra = {_METHOD: row[_METHOD]} if row.get(_METHOD) else None
    segment = Segment(row["hypothesis_segment"], row.get("source_segment") or None, references, key, extra)
    return rating_of(segment, None, _errors(*(row[name] for name in COLUMNS[-3:])))


def span_lists(rating: Rating) -> tuple[str, str, str]:
    """Returns the starts, ends and severities of all errors, each separated by spaces."""
    errors: list[ErrorSpan | UnplacedError] = [*(rating.errors or ()), *rating.unplaced]
    if not errors:
        return "-1", "-1", NO_ERROR
    starts, ends = (" ".join(str(getattr(error, side, _MISSING)) for error in errors) for side in ("start", "end"))
    names = (NO_ERROR if error.severity is None else error.severity.value for error in errors)
    return starts, ends, " ".join(names)


def _errors(starts: str, ends: str, types: str) -> Iterator[ErrorSpan | UnplacedError]:
    lists = starts.split(), ends.split(), types.split()
    if not len(lists[0]) == len(lists[1]) == len(lists[2]) > 0:
        counts = f"{len(lists[0])} starts, {len(lists[1])} ends and {len(lists[2])} types"
        raise InputError(f"{counts}: must be one for each error, or -1 -1 {NO_ERROR}")
    if types.casefold().split() == [NO_ERROR]:
        if (starts.strip(), ends.strip()) != ("-1", "-1"):
            raise InputError(f"offsets {starts!r} and {ends!r} of {NO_ERROR}: must be -1 and -1")
        return
    for start, end, name in zip(*lists, strict=True):
        severity = severities.parse(name)
        if start == end == _MISSING:
            yield UnplacedError(severity)
            continue
        first = parse_whole_number(start)
        last = parse_whole_number(end)
        if first is None or last is None:
            raise InputError(f"offsets {start!r} and {end!r}: must be whole numbers, or both {_MISSING}")
        yield ErrorSpan(first, last, severity)
