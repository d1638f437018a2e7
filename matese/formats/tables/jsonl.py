"""Our JSONL: one Rating per line, as `matese tag --format jsonl` writes it; `rating.schema.json` describes it.

A line is an object in UTF-8 and ends at a line feed. Our lines have all keys of `Line`, except for `tokens` and the
`votes` and `rule` of errors, in its order. Missing values are null; lists without items are empty. Offsets are
half-open and count Unicode code points.

A line from another program may omit every key except `hypothesis`. `read` ignores `tokens`, a `score` that can be
that of the errors, and an `expected_score` beside an `estimate`, because they follow from the rest; other scores are
kept as other keys are. A `text` (of an omission: `words`)
that differs from the text at its offsets is an error, because offsets in other units would cause it. Other keys are
kept in `Segment.extra` and written again; one that is almost a key that the line lacks is an error, because a misspelt
`errors` would otherwise read as a segment whose spans were not annotated. Later versions may add keys but change none.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from matese import mqm
from matese.annotation import (
    AnnotationError,
    ErrorFree,
    ErrorSpan,
    Estimate,
    Omission,
    Rating,
    Segment,
    SegmentKey,
    TokenScores,
    UnplacedError,
    Votes,
    quick,
)
from matese.errors import InputError, one_of, unknown
from matese.formats.row_issues import parse_lines
from matese.formats.tables.jsonl_keys import (
    ErrorFreeKeys,
    EstimateKeys,
    Line,
    OmissionKeys,
    OverallKeys,
    SpanKeys,
    Token,
    UnplacedKeys,
    VotesKeys,
)
from matese.validation import plain_values

# Legal in JSON unescaped. But DEL and the C1 controls steer terminals, and many programs end a line at U+0085, U+2028
# and U+2029. (JSON itself escapes the controls below U+0020.)
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029]")


_ERRORS = ("errors", "error_spans", "errorspans")
"""Names of a list of errors, in any case."""


class _TokensOfLine(msgspec.Struct):
    hypothesis: str = ""
    tokens: tuple[Token, ...] | None = None


KEYS = Line.__struct_fields__
_LISTS = ("references", "errors", "source_errors", "omissions", "unplaced")


def read(path: str | Path) -> Iterator[Rating]:
    """Yields the Rating of each line.

    Raises:
        FormatError: at the first line that is not a Rating.
    """
    return parse_lines(path, loads)


def read_tokens(path: str | Path) -> Iterator[TokenScores | None]:
    """Yields the `tokens` of each line, as `matese tag --tokens` writes them; None for a line without them.

    Raises:
        FormatError: at the first line whose tokens are not as the module describes them.
    """
    return parse_lines(path, token_scores)


def loads(line: str) -> Rating:
    """Returns the Rating of a line; the reverse of `dumps`.

    Raises:
        InputError, AnnotationError: if the line is not as the module describes.
    """
    return complete(line.encode("utf-8", "surrogatepass")) or from_json(parse(line))


def complete(line: bytes, number: int | None = None) -> Rating | None:
    """Returns the Rating of a line as we write it, with all our keys once and no others; None for any other.

    `line` is in UTF-8, or any other bytes. `number` is that of the line, for `Segment.line`.

    Raises:
        InputError, AnnotationError: if its values contradict each other.
    """
    try:
        row = _DECODER.decode(line)
        # Encoding a row that has all keys once returns its line. msgspec takes the last value of a key that is given
        # twice, and `check_unique_keys` takes longer than all other work.
        is_written = msgspec.json.encode(row) == msgspec.json.format(line, indent=-1)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return _rating(row, number=number) if is_written else None


def parse(line: str) -> object:
    """Returns the JSON value of a line. Raises InputError if it is none, or an object has a key twice."""
    try:
        return plain_values.from_json(line, object)
    except plain_values.InvalidValueError:
        plain_values.from_json(line, Line)  # which names the place of a number that is too large
        raise


def from_json(line: object, number: int | None = None) -> Rating:
    """Returns the Rating that an object describes; the reverse of `to_json`.

    A key without any value, `SegmentKey()`, is read as None. `number` is that of the line, for `Segment.line`.

    Raises:
        InputError, AnnotationError: if the object is not as the module describes.
    """
    extra = None
    if isinstance(line, Mapping) and (names := [name for name in line if name not in KEYS]):
        _check_spelling(names, [key for key in KEYS if key not in line])
        extra = {name: line[name] for name in names}
        line = {name: value for name, value in line.items() if name not in extra}
    if isinstance(line, Mapping) and isinstance(index := line.get("index"), float) and index.is_integer():
        line = {**line, "index": int(index)}  # as pandas writes a column of which a part is missing
    return _rating(plain_values.convert(line, Line), extra, number=number)


def dumps(rating: Rating, *, weights: mqm.AnyWeights = "matese", tokens: TokenScores | None = None) -> str:
    """Returns the line of a Rating, without its line end; see `to_json`."""
    if tokens is not None or rating.segment.extra:  # may have infinite numbers, which msgspec writes as null
        line = to_json(rating, weights=weights, tokens=tokens, with_name=True)
        return _safe(json.dumps(line, ensure_ascii=False, allow_nan=False, default=plain))
    row = _row(rating, weights, with_name=True)
    raw = msgspec.json.format(msgspec.json.encode(row, enc_hook=plain), indent=0)
    # Bytes are found quicker than characters, and most lines have none with which an unsafe character begins.
    may_be_unsafe = (
        b"\x7f" in raw or b"\xc2" in raw or (b"\xe2" in raw and (b"\xe2\x80\xa8" in raw or b"\xe2\x80\xa9" in raw))
    )
    return _safe(raw.decode()) if may_be_unsafe else raw.decode()


def _safe(line: str) -> str:
    return _UNSAFE.sub(_escaped, line)


def _escaped(character: re.Match[str]) -> str:
    return f"\\u{ord(character.group()):04x}"


def plain(value: Any) -> object:  # noqa: ANN401
    """Returns a value that JSON does not have as one that it has: numbers of numpy as Python's, all others as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def to_json(
    rating: Rating,
    *,
    weights: mqm.AnyWeights = "matese",
    tokens: TokenScores | None = None,
    with_name: bool = False,
) -> dict[str, object]:
    """Returns a Rating as the object that the module describes.

    Args:
        rating: any Rating.
        weights: for `score`.
        tokens: for `tokens`; without it the object has no such key.
        with_name: add `segment_name`, if the file calls the segment by more than its number.

    Other columns follow; one with the name of a key is called `input_NAME`.
    """
    line: dict[str, object] = msgspec.to_builtins(_row(rating, weights, with_name=with_name), enc_hook=plain)
    line |= {name: list(value) for name in _LISTS if isinstance(value := line[name], tuple)}
    if tokens is not None:
        scores = zip(tokens.ranges, tokens.probabilities, strict=True)
        line["tokens"] = [{"start": start, "end": end, "p": list(row)} for (start, end), row in scores]
    if extra := rating.segment.extra:
        line |= {f"input_{name}" if name in KEYS else name: value for name, value in extra.items()}
    return line


def _row(rating: Rating, weights: mqm.AnyWeights, *, with_name: bool) -> Line:
    """Returns a line without its tokens and other columns."""
    segment = rating.segment
    key = segment.key or _NO_KEY
    errors = rating.errors
    overall = rating.overall
    free = rating.error_free
    name = own_name(segment) if with_name else None
    # Most ratings have few of these, and a call takes as long as a condition and the object together.
    return Line(
        index=key.index,
        system=key.system,
        hypothesis=segment.hypothesis,
        source=segment.source,
        references=segment.references,
        score=None if errors is None else mqm.score(rating, weights),
        expected_score=mqm.expected_score(rating),
        errors=None if errors is None else _span_keys(errors, segment.hypothesis),
        source_errors=_span_keys(rating.source_errors, segment.source or "") if rating.source_errors else (),
        omissions=tuple([_omission_keys(one, one.words(segment)) for one in rating.omissions]),
        unplaced=tuple([_unplaced_keys(one) for one in rating.unplaced]),
        overall=None if overall is None else OverallKeys(overall.value, overall.scale),
        estimate=None if rating.estimate is None else _estimate_keys(rating.estimate),
        rater=rating.rater,
        test_set=key.test_set,
        lang_pair=key.lang_pair,
        document=key.document,
        domain=key.domain,
        error_free=None if free is None else ErrorFreeKeys(free.label, free.probability),
        segment_name=UNSET if name is None else name,
    )


def with_all_columns(ratings: Iterable[Rating]) -> list[Rating]:
    """Returns ratings that all have the other columns that any of them has, as the rows of a table must."""
    listed = list(ratings)
    names = dict.fromkeys(name for rating in listed for name in rating.segment.extra or ())
    return [
        rating
        if len(rating.segment.extra or ()) == len(names)
        else replace(
            rating, segment=replace(rating.segment, extra={**dict.fromkeys(names), **(rating.segment.extra or {})})
        )
        for rating in listed
    ]


def own_name(segment: Segment) -> str | None:
    """Returns the name of a segment, if it says more than its number."""
    if segment.name is None:
        return None
    index = segment.key.index if segment.key else None
    of_number = () if index is None else (f"segment {index + 1}", f"line {index + 1}")
    return None if segment.name in ("", *of_number) else segment.name


def is_almost_errors(name: str) -> bool:
    """Whether a key that is not `errors` is meant to be: misspelt, or as COMET's models call it in Python.

    >>> tuple(is_almost_errors(name) for name in ("erors", "error_spans", "error_rate"))
    (True, True, False)
    """
    return name.casefold() in _ERRORS or bool(difflib.get_close_matches(name, ["errors"], cutoff=0.8))


def _check_spelling(names: Sequence[str], missing: Sequence[str]) -> None:
    for name in names:
        if "errors" in missing and name.casefold() in _ERRORS:
            raise InputError(f"unknown key {name!r}, did you mean 'errors'? must be {one_of(KEYS)}")
        if difflib.get_close_matches(name.casefold(), missing, n=1, cutoff=0.8):
            raise InputError(unknown("key", name, missing, allowed=one_of(KEYS)))


def _rating(row: Line, extra: Mapping[str, object] | None = None, *, number: int | None) -> Rating:
    domain = None if row.domain is UNSET else row.domain
    key = quick.segment_key(row.test_set, row.lang_pair, row.system, row.document, row.index, domain)
    overall = row.overall
    estimate = row.estimate
    known_key = None if row.index is None and key == _NO_KEY else key
    if foreign := _foreign_scores(row):
        extra = {**(extra or {}), **foreign}
    name = None if row.segment_name is UNSET else row.segment_name
    segment = quick.segment(row.hypothesis, row.source, row.references or (), known_key, extra, number, name)
    # Most ratings have few of these, and a call takes as long as a condition and the object together.
    return quick.rating(
        segment,
        row.rater,
        None if row.errors is None else _spans(row.errors, row.hypothesis, "errors"),
        _spans(row.source_errors, row.source or "", "source_errors") if row.source_errors else (),
        tuple([_omission(one, number, segment) for number, one in enumerate(row.omissions)]) if row.omissions else (),
        tuple([_unplaced(error) for error in row.unplaced]) if row.unplaced else (),
        None if overall is None else quick.overall(overall.value, overall.scale),
        None if estimate is None else _estimate(estimate),
        _error_free(row.error_free) if row.error_free else None,
    )


def _foreign_scores(row: Line) -> dict[str, object] | None:
    """Returns the scores of a line that do not follow from its errors and its estimate, by their names, if any."""
    score = row.score
    follows = score is None or (isinstance(score, _NUMBER) and score <= 0 and row.errors is not None)
    expected_follows = row.expected_score is None or row.estimate
    if follows and expected_follows:
        return None
    given = {} if follows else {"score": score}
    return given if expected_follows else {**given, "expected_score": row.expected_score}


def _estimate(row: EstimateKeys) -> Estimate:
    deviation = None if row.deviation is UNSET else row.deviation
    return quick.estimate(row.value, row.scale, row.low, row.high, deviation)


def _error_free(row: ErrorFreeKeys | UnsetType | None) -> ErrorFree | None:
    return ErrorFree(row.label, row.probability) if isinstance(row, ErrorFreeKeys) else None


_NO_KEY = SegmentKey()
_NUMBER = (int, float)
_DECODER = msgspec.json.Decoder(Line)


def _spans(rows: Sequence[SpanKeys], text: str, name: str) -> tuple[ErrorSpan, ...]:
    return tuple([_span(row, text, name, number) for number, row in enumerate(rows)])


def _span(row: SpanKeys, text: str, name: str, number: int) -> ErrorSpan:
    start = row.start
    end = row.end
    rule = None if row.rule is UNSET else row.rule
    try:
        votes = Votes(row.votes.share, row.votes.other_severity) if isinstance(row.votes, VotesKeys) else None
        span = quick.error_span(start, end, row.severity, row.category, row.confidence, votes, rule)
    except AnnotationError as error:
        raise InputError(f"{name}[{number}]: {error}") from None
    # Rating reports offsets beyond the text, with the text's length.
    if row.text is not None and row.text != text[start:end] and end <= len(text):
        raise _other_text(f"{name}[{number}].text", row.text, text[start:end], f"text at {start}..{end}")
    return span


def _omission(row: OmissionKeys, number: int, segment: Segment) -> Omission:
    name = f"omissions[{number}]"
    try:
        rule = None if row.rule is UNSET else row.rule
        place = row.text, row.reference, row.start, row.end
        omission = Omission(*place, row.severity, row.category, row.confidence, rule)
    except AnnotationError as error:
        raise InputError(f"{name}: {error}") from None
    # Rating reports a text that is not there, and offsets beyond it.
    if row.words is not None and row.words != (words := omission.words(segment)) and len(words) == row.end - row.start:
        raise _other_text(f"{name}.words", row.words, words, f"{omission.text_name} at {row.start}..{row.end}")
    return omission


def _unplaced(row: UnplacedKeys) -> UnplacedError:
    words = None if row.words is UNSET else row.words
    return UnplacedError(row.severity, row.category, words, None if row.rule is UNSET else row.rule)


def _other_text(name: str, marked: str, text: str, place: str) -> InputError:
    return InputError(f"{name} is {marked!r}: must be {text!r}, the {place} in Unicode code points")


def token_scores(line: str) -> TokenScores | None:
    """Returns the `tokens` of a line; None for a line without them. Raises InputError if they are no scores."""
    if '"tokens"' not in line:  # few files have them, and the search is faster than parsing
        return None
    row = plain_values.from_json(line, _TokensOfLine)
    if row.tokens is None:
        return None
    for number, token in enumerate(row.tokens):
        # A token of white space alone has an empty range.
        if not token.start <= token.end <= len(row.hypothesis):
            name = f"tokens[{number}]: start {token.start} and end {token.end}"
            raise InputError(f"{name}: must have 0 <= start <= end <= {len(row.hypothesis)}")
    return TokenScores(tuple((token.start, token.end) for token in row.tokens), tuple(token.p for token in row.tokens))


def _span_keys(spans: Iterable[ErrorSpan], text: str) -> tuple[SpanKeys, ...]:
    return tuple([_one_span_keys(span, text[span.start : span.end]) for span in spans])


def _one_span_keys(span: ErrorSpan, text: str) -> SpanKeys:
    votes = UNSET if span.votes is None else VotesKeys(span.votes.share, span.votes.other_severity)
    rule = UNSET if span.rule is None else span.rule
    return SpanKeys(span.start, span.end, text, span.severity, span.category, span.confidence, votes, rule)


def _omission_keys(omission: Omission, words: str) -> OmissionKeys:
    return OmissionKeys(
        text=omission.text,
        reference=omission.reference,
        start=omission.start,
        end=omission.end,
        words=words,
        severity=omission.severity,
        category=omission.category,
        confidence=omission.confidence,
        rule=UNSET if omission.rule is None else omission.rule,
    )


def _unplaced_keys(error: UnplacedError) -> UnplacedKeys:
    words = UNSET if error.words is None else error.words
    return UnplacedKeys(error.severity, error.category, words, UNSET if error.rule is None else error.rule)


def _estimate_keys(estimate: Estimate) -> EstimateKeys:
    return EstimateKeys(estimate.value, estimate.scale, estimate.low, estimate.high, estimate.deviation)
