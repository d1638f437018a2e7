"""The keys of a line of our JSONL, as types that msgspec reads; see `matese.formats.tables.jsonl`.

They follow from the fields of the types of `matese.annotation`. An object of such a type has a key for each field, and
beside a place in a text also the characters there. A line has the fields of a rating, of its segment and of its key.
What may be None may be absent where it is read. Our lines have it as null if it is one of `_ORDER` or
`_NULLS_OF_ERRORS`, which readers of our files rely on; other fields are only written where they have a value.
"""

from __future__ import annotations

import functools
import operator
import types
from dataclasses import fields, is_dataclass
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from matese.annotation import ErrorFree, ErrorSpan, Estimate, Omission, Overall, Rating, Segment, SegmentKey, Votes
from matese.annotation.rating import First, Probability

CHARACTERS = {ErrorSpan: "text", Omission: "words"}
"""The key with the characters at `start` and `end`, which it follows."""
_LIMIT = "end"
_ORDER = (
    *("index", "system", "hypothesis", "source", "references", "score", "expected_score", "errors", "source_errors"),
    *("omissions", "unplaced", "overall", "estimate", "rater", "test_set", "lang_pair", "document", "domain"),
    *("error_free", "correction"),
)
"""The first keys of a line; those of fields that are not named here follow."""
_NULLS_OF_ERRORS = {"severity", "category", "confidence", "reference"}
_WITH_ALL_FIELDS = (Votes, Overall, Estimate, ErrorFree)
"""Types whose objects have all keys."""


class Token(msgspec.Struct, forbid_unknown_fields=True):
    """The model's scores of a token.

    Attributes:
        start: first character.
        end: one past the last character; a token of white space may be empty.
        p: probabilities of the tags O, B-Minor, I-Minor, B-Major, I-Major.
    """

    start: First
    end: First
    p: Annotated[tuple[Probability, ...], Meta(min_length=5, max_length=5)]


# `read` ignores the values of these keys, so that any is allowed; the schema describes what is written.
_Score = Annotated[Any, Meta(extra_json_schema={"type": ["number", "null"], "maximum": 0})]
_ExpectedScore = Annotated[Any, Meta(extra_json_schema={"type": ["number", "null"]})]
_Tokens = Annotated[Any, Meta(extra_json_schema={"type": "array", "items": {"$ref": "#/$defs/Token"}})]

Key = tuple[str, Any] | tuple[str, Any, Any]
"""A name, a type and, if it may be absent, a default."""


def stored(kind: type, *, but: str = "") -> tuple[str, ...]:
    """Returns the names of the fields that files hold: those that tell two values apart."""
    return tuple(field.name for field in fields(kind) if field.compare and field.name != but)


OF_KEY = stored(SegmentKey)
OF_SEGMENT = stored(Segment, but="key")
OF_RATING = stored(Rating, but="segment")
_GET_KEY = operator.attrgetter(*OF_KEY)
_NO_KEY = _GET_KEY(SegmentKey())


@functools.cache
def struct(kind: type) -> Any:  # noqa: ANN401  (a type that is made here)
    """Returns the type of the objects that stand for an annotation."""
    keys: list[Key] = []
    for name in stored(kind):
        keys.append(_key(kind, name))
        if name == _LIMIT:
            keys.append((CHARACTERS[kind], str | None, _written(None)))
    return _made(kind.__name__, keys)


def _made(name: str, keys: list[Key], attributes: dict[str, object] | None = None) -> Any:  # noqa: ANN401
    may_be_absent = [len(key) > len(("name", "type")) for key in keys]
    return msgspec.defstruct(
        name,
        keys,
        module=__name__,
        namespace=attributes,
        dict=attributes is not None,
        kw_only=may_be_absent != sorted(may_be_absent),  # positional arguments are quicker
        omit_defaults=True,
        forbid_unknown_fields=True,
        gc=attributes is not None,
    )


def _key(kind: type, name: str) -> Key:
    hint = get_type_hints(kind, include_extras=True)[name]
    type_ = _with_structs(hint)
    nulls = _ORDER if kind in (Rating, Segment, SegmentKey) else _NULLS_OF_ERRORS
    wrapped = _written if name in nulls or kind in _WITH_ALL_FIELDS else lambda default: default
    if get_origin(hint) is tuple:
        return name, type_ | None, wrapped(())
    return (name, type_, wrapped(None)) if type(None) in get_args(hint) else (name, type_)


def _written(default: object) -> Any:  # noqa: ANN401
    """Returns a default that msgspec writes, as it does with what a factory makes."""
    return msgspec.field(default_factory=lambda: default)


def _with_structs(hint: Any) -> Any:  # noqa: ANN401  (any annotation)
    """Returns a type with the structs of all annotations in it."""
    if isinstance(hint, type) and is_dataclass(hint):
        return struct(hint)
    if get_origin(hint) is tuple:
        return tuple[tuple(map(_with_structs, get_args(hint)))]  # type: ignore[misc]
    if get_origin(hint) in (Union, types.UnionType):
        return functools.reduce(operator.or_, map(_with_structs, get_args(hint)))
    return hint


def _line() -> Any:  # noqa: ANN401
    parts = ((SegmentKey, OF_KEY), (Segment, OF_SEGMENT), (Rating, OF_RATING))
    keys = {name: _key(kind, name) for kind, names in parts for name in names}
    keys["score"] = ("score", _Score, _written(None))
    keys["expected_score"] = ("expected_score", _ExpectedScore, _written(None))
    first = [keys.pop(key) for key in _ORDER]
    last = [("segment_name", str | None, None), ("tokens", _Tokens, None)]
    # A line has the attributes of its segment and of the segment's key, too, so that msgspec makes a rating of it.
    attributes: dict[str, object] = {field.name: field.default for field in fields(Segment) if not field.compare}
    attributes["segment"] = property(lambda line: line)
    attributes["key"] = property(lambda line: None if _GET_KEY(line) == _NO_KEY else line)
    return _made("Line", [*first, *keys.values(), *last], attributes)


Line = _line()
TEXTS = tuple(field.name for field in msgspec.structs.fields(Line) if field.type in (str, str | None))
"""Keys whose values are texts."""
LATER = tuple(name for name in OF_RATING if name not in _ORDER)
"""Keys of a rating that lines have only where they have a value."""
