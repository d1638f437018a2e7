"""Our JSONL: one Rating per line, as `matese tag --format jsonl` writes it; `rating.schema.json` describes it.

A line is an object in UTF-8 and ends at a line feed. Our lines have the keys of `jsonl_keys.Line`, in its
order; those without a value are null or left out, as that module says; lists without items are empty. Offsets are
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
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from matese import mqm
from matese.annotation import (
    ErrorSpan,
    Omission,
    Rating,
    Segment,
    SegmentKey,
    TokenScores,
    UnplacedError,
)
from matese.errors import InputError, one_of, unknown
from matese.formats.row_issues import parse_lines
from matese.formats.tables.jsonl_keys import (
    LATER,
    OF_KEY,
    OF_RATING,
    OF_SEGMENT,
    Line,
    Token,
    stored,
    struct,
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


KEYS: tuple[str, ...] = Line.__struct_fields__
ROW_KEYS = tuple(key for key in KEYS if key not in ("segment_name", "tokens"))
_NO_KEY = SegmentKey()
_NUMBER = (int, float)
_DECODER = msgspec.json.Decoder(Line)
_SPAN = struct(ErrorSpan)
_OMISSION = struct(Omission)
_UNPLACED = struct(UnplacedError)
# One call for all fields is quicker than one each.
_GET_KEY = attrgetter(*OF_KEY)
_GET_SEGMENT = attrgetter(*OF_SEGMENT)
_GET_RATING = attrgetter(*OF_RATING)
_NAMES = (*OF_RATING, *OF_SEGMENT, *OF_KEY)
_GET_REST = attrgetter(*_SPAN.__struct_fields__[3:])  # after start, end and text
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
        InputError: if its values contradict each other.
    """
    try:
        row = _DECODER.decode(line)
        # Encoding a row that has all keys once returns its line. msgspec takes the last value of a key that is given
        # twice, and `check_unique_keys` takes longer than all other work.
        is_written = msgspec.json.encode(row) == msgspec.json.format(line, indent=-1)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return _rating(row, None, number) if is_written else None


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
    return _rating(plain_values.convert(line, Line), extra, number)


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
    return _UNSAFE.sub(lambda character: f"\\u{ord(character[0]):04x}", line)


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


def to_row(rating: Rating, *, weights: mqm.AnyWeights = "matese") -> dict[str, object]:
    """Returns a Rating as `to_json` does, with all keys that a table has."""
    line = to_json(rating, weights=weights)
    for key in LATER:
        line.setdefault(key, None)
    return line


def _row(rating: Rating, weights: mqm.AnyWeights, *, with_name: bool) -> Any:  # noqa: ANN401  (a `Line`)
    """Returns a line without its tokens and other columns."""
    segment = rating.segment
    field_values = *_GET_RATING(rating), *_GET_SEGMENT(segment), *_GET_KEY(segment.key or _NO_KEY)
    values = dict(zip(_NAMES, field_values, strict=True))
    if rating.errors:
        values["errors"] = _spans(rating.errors, segment.hypothesis)
    if rating.source_errors:
        values["source_errors"] = _spans(rating.source_errors, segment.source or "")
    if rating.omissions:
        values["omissions"] = tuple(
            _OMISSION(**{name: getattr(omission, name) for name in stored(Omission)}, words=omission.words(segment))
            for omission in rating.omissions
        )
    if rating.unplaced:
        values["unplaced"] = tuple(msgspec.convert(error, _UNPLACED, from_attributes=True) for error in rating.unplaced)
    return Line(
        **values,
        score=None if rating.errors is None else mqm.score(rating, weights),
        expected_score=mqm.expected_score(rating),
        segment_name=own_name(segment) if with_name else None,
    )


def _spans(spans: Iterable[ErrorSpan], text: str) -> tuple[Any, ...]:
    return tuple([_SPAN(span.start, span.end, text[span.start : span.end], *_GET_REST(span)) for span in spans])


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


def _rating(row: Any, extra: Mapping[str, object] | None, number: int | None) -> Rating:  # noqa: ANN401
    """Returns the Rating of a `Line`."""
    foreign = _foreign_scores(row)
    row.extra = {**(extra or {}), **foreign} if foreign else extra
    row.line = number
    row.name = row.segment_name
    for name in _LISTS:
        if name != "errors" and getattr(row, name) is None:
            setattr(row, name, ())
    rating = plain_values.convert(row, Rating, from_attributes=True)
    _check_characters(row)
    return rating


def _foreign_scores(row: Line) -> dict[str, object] | None:
    """Returns the scores of a line that do not follow from its errors and its estimate, by their names, if any."""
    score = row.score
    follows = score is None or (isinstance(score, _NUMBER) and score <= 0 and row.errors is not None)
    expected_follows = row.expected_score is None or row.estimate
    if follows and expected_follows:
        return None
    scores = {} if follows else {"score": score}
    return scores if expected_follows else {**scores, "expected_score": row.expected_score}


def _check_characters(row: Any) -> None:  # noqa: ANN401  (a `Line`)
    """Raises InputError if the characters of a mark are not those at its place: its offsets have another unit."""
    for name, spans, text in (("errors", row.errors, row.hypothesis), ("source_errors", row.source_errors, row.source)):
        for number, span in enumerate(spans or ()):
            if span.text is not None and span.text != text[span.start : span.end]:
                raise _other_characters(f"{name}[{number}].text", span.text, text, span)
    for number, omission in enumerate(row.omissions):
        text = row.source if omission.reference is None else row.references[omission.reference]
        if omission.words is not None and omission.words != text[omission.start : omission.end]:
            raise _other_characters(f"omissions[{number}].words", omission.words, text, omission)


def _other_characters(name: str, characters: str, text: str, mark: Any) -> InputError:  # noqa: ANN401
    right = f"must be {text[mark.start : mark.end]!r}, the text at {mark.start}..{mark.end} in Unicode code points"
    return InputError(f"{name} is {characters!r}: {right}")


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
