"""Tables of translations from other tools, whose columns are recognised by many names, and the ratings of the rows.

A column is recognised by its usual names (`headings.NAMES`; references: `ref`, `reference`, `refA`, `ref1`, ...)
without regard to case, spaces, "_" and "-". All other columns are kept in `Segment.extra`; where one says that a
translation is not finished (`unit_states`), its row is left out as its unit of XLIFF or PO is. A table that has the
columns of our JSONL, among them `errors`, holds ratings, and is read as `jsonl.from_json` does. Tags of translate5 in
texts are errors (`mqm_tags`).

A column `translation` of Hugging Face data sets holds texts by language. With a language pair, its text in the target
language is the hypothesis, or the reference if another column holds the hypothesis.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import InputError, UsageError, near_miss, one_of, unknown
from matese.files import name_of
from matese.formats import quotes, unit_states
from matese.formats.format import Columns, ReadOptions
from matese.formats.row_issues import RowIssues, located
from matese.formats.tables import jsonl
from matese.formats.tables.headings import COMMENT, NAMES, REFERENCE, TRANSLATED_NAMES, plain, role_of
from matese.formats.tables.jsonl_keys import OF_RATING
from matese.text import languages
from matese.text.whole_numbers import parse_whole_number

_LANGUAGES = tuple(
    tuple(f"{side}_{word}" for side in sides for word in ("lang", "language", "locale"))
    for sides in (("source", "src"), ("target", "tgt", "trg"))
)
"""Names of two columns that state the language pair together, where no column states it alone."""
_BY_LANGUAGE = "translation"
_OPTION = "--columns {}={}"
_ZERO_FRACTION = re.compile(r"(?<=[0-9])\.0+$")
"""Ends the numbers of a column of which pandas has read a part as missing."""
_MARKED = re.compile("<v>.*?</v>", re.DOTALL)
_OF_ERRORS = ("start", "severity", "span", "error")
"""Parts of the names of keys that lists of errors have in files of other tools."""
_OF_RATERS = ("severity", "start", "end", "rater")
"""Names of columns that tables with a row for each error have."""
_WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[A-Z]+")
"""Of a name: "mtA" and "model1_Translation" have two."""
_NO_TEXT = frozenset(
    {"by", "comment", "date", "engine", "id", "lang", "language", "length", "locale", "method", "model", "name"}
    | {"quality", "score", "status", "system", "time", "type"}
)
"""Last words of the names of columns that say something about a text."""
_KEYS_OF_TEXTS = {
    "hypothesis": "hypothesis",
    "source": "source",
    "reference": "references",
    "lang_pair": "lang_pair",
}
_OURS = {*_KEYS_OF_TEXTS.values()}
ROLES = (*NAMES, "reference", COMMENT)
"""What a column can hold."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which columns hold what.

    Attributes:
        columns: the columns of each role.
        user_roles: roles whose column the user has named.
        extra: all other columns.
        languages: those of the extra ones that hold the languages of source and translation; none if not both do.
    """

    columns: Columns
    user_roles: tuple[str, ...]
    extra: tuple[str, ...]
    languages: tuple[str, ...] = ()

    def ratings(self, row: Mapping[str, Any], line: int, unit: str) -> Iterator[Rating]:
        """Yields a rating without spans for each hypothesis of a row. Raises InputError if a value is not allowed."""
        values = {role: plain_value(row[names[0]]) for role, names in self.columns.items()}
        extra = {name: plain_value(row[name]) for name in self.extra}
        if COMMENT in self.columns:
            extra[COMMENT] = values[COMMENT]
        index = _whole_number(values.get("index"))
        if index is None and values.get("index") is not None:
            if "index" in self.user_roles:
                raise InputError(f"index is {values['index']!r}: must be a whole number")
            extra[self.columns["index"][0]] = values["index"]
        stated_id = values.get("index")
        name = f"{unit} {line}" if stated_id in (None, "") else f"{self.columns['index'][0]} {stated_id}"
        test_set, pair, system, document, domain = (
            _name(values.get(role)) for role in ("test_set", "lang_pair", "system", "document", "domain")
        )
        # The columns of two languages are kept anyway, so that these may be unknown.
        of_languages = "-".join(str(extra[name] or "?") for name in self.languages)
        lang_pair = languages.parse(pair) if pair else languages.parse_or_none(of_languages)
        key = SegmentKey(test_set, lang_pair, system, document, index, domain)
        source = next(iter(self._texts(row, "source")), None)
        references = self._texts(row, "reference")
        for column in self.columns["hypothesis"]:
            text = plain_value(row[column])
            if not isinstance(text, str):
                raise InputError(f"{column} is {'missing' if text is None else repr(text)}: must be a translation")
            names_system = "hypothesis" in self.user_roles and key.system is None
            of_column = replace(key, system=column) if names_system else key
            stated = None if of_column == SegmentKey() else of_column
            yield Rating(Segment(text, source, references, stated, extra or None, line, name), None, None)

    def _texts(self, row: Mapping[str, Any], role: str) -> tuple[str, ...]:
        return tuple(text for name in self.columns.get(role, ()) for text in _texts(name, row[name]))


def ratings(
    rows: Iterable[tuple[int, object]],
    path: str | Path,
    user_columns: Columns,
    lang_pair: str | None = None,
    *,
    naming: str = _OPTION,
    unit: str = "row",
    options: ReadOptions | None = None,
) -> Iterator[Rating]:
    """Yields the ratings of rows.

    Args:
        rows: each with its line number.
        path: in messages.
        user_columns: columns that the user has named, by role.
        lang_pair: of texts by language ("en-de").
        naming: how the user names a column, for messages: a template of the role and the column; "" if in no way.
        unit: what the numbers of rows count.
        options: how the file is read; with it, columns that may hold errors in the form of another tool are reported,
            unless only texts are wanted.

    Raises:
        FormatError: at the first row that is not a translation or rating.
    """
    for number, row in rows:
        with located(path, number):
            if not isinstance(row, Mapping):
                raise InputError("row is not an object with a name for each value")
            row = _without_languages(row, lang_pair)
            if not user_columns and holds_ratings(row):
                yield _rated(_with_our_names(row, naming), path, number, options)
            else:
                for rating in _layout_of(row, user_columns, naming).ratings(row, number, unit):
                    if not user_columns:
                        _check_plain(rating.segment, naming)
                    if options is None:
                        yield from _marked(rating)
                        continue
                    issues = RowIssues(name_of(path), options.report, number)
                    if why := unit_states.why_left_out(rating.segment.hypothesis, rating.segment.extra or {}):
                        if not options.untranslated:
                            issues.skip(why, None)
                            continue
                        rating = replace(rating, segment=replace(rating.segment, hypothesis=""))
                    if not options.only_texts:
                        _report_unread(rating.segment, issues)
                    yield from _marked(rating)


def _marked(rating: Rating) -> Iterable[Rating]:
    """Returns the ratings of a row in whose texts translate5 has put tags; without tags, that of the row."""
    if "<mqm:" not in rating.segment.hypothesis + (rating.segment.source or ""):
        return (rating,)
    from matese.formats import mqm_tags  # which few tables need

    return mqm_tags.ratings(rating)


def _rated(row: Mapping[str, Any], path: str | Path, number: int, options: ReadOptions | None) -> Rating:
    """Returns the rating of a row with our names, whose errors may be quotes."""
    if not quotes.has_quotes(row.get("errors")):
        return jsonl.from_json(row, number)
    rating = jsonl.from_json({**row, "errors": None}, number)
    issues = RowIssues(name_of(path), options.report if options else None, number)
    quoted = quotes.rating(row["errors"], rating.segment, rating.rater, issues.ignore)
    return replace(rating, errors=quoted.errors, source_errors=quoted.source_errors, unplaced=quoted.unplaced)


def _report_unread(segment: Segment, issues: RowIssues) -> None:
    """Reports other columns that hold errors in a form that is not ours: the rating lacks them."""
    allowed = "must be errors as in our JSONL (docs/formats.md), or be left out"
    for name, value in (segment.extra or {}).items():
        if plain(name) in _OF_RATERS and value not in (None, ""):  # subtitles have a start and an end, too
            issues.ignore(f"{name} not read as errors", allowed if plain(name) == "severity" else None)
        elif _may_be_errors(value):
            issues.ignore(f"{name} not read as errors", allowed)


def _may_be_errors(value: object) -> bool:
    """Whether a value is a list of objects with places or severities.

    >>> [_may_be_errors(value) for value in ('[{"start": 4, "end": 8}]', [{"severity": "x"}], "[{a}]", [{"id": 1}])]
    [True, True, False, False]
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError:
            return False
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, Mapping) and any(part in str(name).casefold() for name in first for part in _OF_ERRORS)


def _check_plain(segment: Segment, naming: str) -> None:
    """Raises InputError if a text has the marks of MQM TSV, whose errors a table of translations would lose."""
    for role, text in (("hypothesis", segment.hypothesis), ("source", segment.source)):
        if text is not None and _MARKED.search(text):
            problem = f"{role} has an error marked with <v> and </v>: must be a plain text, or a row of an MQM TSV"
            raise InputError(f"{problem}; if these tags belong to it, name its column ({naming.format(role, 'NAME')})")


def check_header(names: Sequence[str], user_columns: Columns, naming: str = _OPTION) -> None:
    """Raises InputError if the columns of a table whose cells are texts cannot be recognised."""
    if names and (user_columns or not holds_ratings(dict.fromkeys(names, ""))):
        _layout_of(names, user_columns, naming)


def _without_languages(row: Mapping[str, Any], lang_pair: str | None) -> Mapping[str, Any]:
    """Returns a row with the texts of `translation` in columns of their own; it may state the language pair itself."""
    by_language = row.get(_BY_LANGUAGE)
    if not isinstance(by_language, Mapping):
        return row
    texts = {name: text for name, text in by_language.items() if text is not None}
    languages_held = " and ".join(texts) or "no language"
    pair = lang_pair or next((row[name] for name in _named(row, NAMES["lang_pair"])), None)
    if pair is None:
        allowed = "must be one text, or the language pair must be given, or stated by a column lp"
        raise InputError(f"{_BY_LANGUAGE} holds texts in {languages_held}: {allowed}")
    pair = languages.parse(pair)
    source, target = (
        next((texts[name] for name in texts if languages.is_same(name, lang)), None) for lang in pair.split("-")
    )
    if source is None or target is None:
        problem = f"{_BY_LANGUAGE} holds texts in {languages_held}"
        raise InputError(f"{problem}: the language pair must be of these, not {pair}")
    cells = {name: value for name, value in row.items() if name != _BY_LANGUAGE}
    has_hypothesis = any(plain(name) in map(plain, NAMES["hypothesis"]) for name in cells)
    return {**cells, "source": source, "reference" if has_hypothesis else "hypothesis": target}


def holds_ratings(row: Mapping[str, object]) -> bool:
    """Whether a row has columns of ratings, and not of translations alone."""
    if "errors" in row or (row.keys() <= set(jsonl.KEYS) and not row.keys().isdisjoint(OF_RATING)):
        return True
    # "erors": [...]
    lists = [name for name, value in row.items() if isinstance(value, list) or str(value).startswith("[")]
    return any(map(jsonl.is_almost_errors, lists))


def headings(names: Sequence[str], user_columns: Columns, *, is_read_by_name: bool = True) -> dict[str, str]:
    """Returns the headings of the texts of a table by our keys, where one column holds a text under another name.

    If the table is read again by its names alone, only usual names are kept.

    >>> headings(["src", "mt", "ref", "id"], {})
    {'hypothesis': 'mt', 'source': 'src', 'references': 'ref'}
    >>> headings(["a", "hypothesis", "ref1", "ref2"], {})
    {}
    """
    columns = _columns_of(names, user_columns)
    single = [(role, key, columns[role][0]) for role, key in _KEYS_OF_TEXTS.items() if len(columns.get(role, ())) == 1]
    return {key: name for role, key, name in single if key != name and (role_of(name) == role or not is_read_by_name)}


def with_roles(names: Sequence[str], user_columns: Columns) -> list[tuple[str, str]]:
    """Returns the names of columns, each with its role; "" if it has none.

    >>> with_roles(["id", "mt", "note"], {})
    [('id', 'index'), ('mt', 'hypothesis'), ('note', '')]
    """
    roles = {name: role for role, names_of_role in _columns_of(names, user_columns).items() for name in names_of_role}
    return [(name, roles.get(name, "")) for name in names]


def _columns_of(names: Sequence[str], user_columns: Columns) -> Columns:
    """Returns the columns of each role; none if they cannot be recognised, which is reported where they are read."""
    try:
        return _layout_of(names, user_columns, _OPTION).columns
    except InputError:
        return {}


def _with_our_names(row: Mapping[str, Any], naming: str) -> Mapping[str, Any]:
    """Returns a row of ratings whose texts and language pair are in columns with our names."""
    if row.keys() >= _OURS:
        return row
    of_texts = [name for name in row if name not in jsonl.KEYS or name in ("hypothesis", "source")]
    columns = _layout_of(of_texts, {}, naming).columns
    renamed = dict(row)
    for role, key in _KEYS_OF_TEXTS.items():
        values = [renamed.pop(name) for name in columns.get(role, ())] if key not in row else []
        if key == "references" and values:
            renamed[key] = [text for text in values if text]
        elif key == "lang_pair" and values and values[0]:
            renamed[key] = languages.parse(values[0])
        elif values:
            renamed[key] = values[0] if role == "hypothesis" else values[0] or None
    return renamed


def _layout_of(names: Iterable[str], user_columns: Columns, naming: str) -> _Layout:
    hashable = tuple((role, tuple(columns)) for role, columns in user_columns.items())
    return _layout(tuple(map(str, names)), hashable, naming)


@lru_cache
def _layout(names: tuple[str, ...], user_columns: tuple[tuple[str, tuple[str, ...]], ...], naming: str) -> _Layout:
    """Returns the roles of the columns. Raises InputError if they cannot be recognised."""
    columns = {role: joined(parts, names) for role, parts in user_columns}
    check_columns(columns)
    for name in (name for names_of_role in columns.values() for name in names_of_role):
        if name not in names:
            raise InputError(f"no column {name!r}{near_miss(name, names)} must be {one_of(names)}")
    free = [name for name in names if not any(name in names_of_role for names_of_role in columns.values())]
    for role, usual in NAMES.items():
        candidates = _named(free, usual) or _named(free, TRANSLATED_NAMES.get(role, ()))
        if role in columns or not candidates or (role == "system" and len(columns.get("hypothesis", ())) > 1):
            continue
        if len(candidates) > 1 and role in ("hypothesis", "source") and candidates[0] != role:
            problem = f"columns {' and '.join(candidates)} can both be the {role}"
            choice = f"choose one with {naming.format(role, candidates[0])}" if naming else "give one"
            raise InputError(f"{problem}; {choice}")
        columns[role] = (candidates[0],)
        free.remove(candidates[0])
    if "hypothesis" not in columns:
        raise _no_translations(names, free, naming, has_source="source" in columns)
    if COMMENT in columns and COMMENT in free:
        raise InputError(f"columns {COMMENT} and {columns[COMMENT][0]} can both be the comment; rename one")
    references = tuple(name for name in free if REFERENCE.fullmatch(plain(name)))
    if "reference" not in columns and references:
        columns["reference"] = references
        free = [name for name in free if name not in references]
    of_sides = [_named(free, usual) for usual in _LANGUAGES] if "lang_pair" not in columns else []
    language_columns = tuple(candidates[0] for candidates in of_sides) if all(of_sides) else ()
    return _Layout(columns, tuple(role for role, _ in user_columns), tuple(free), language_columns)


def _no_translations(names: Sequence[str], free: Sequence[str], naming: str, *, has_source: bool) -> InputError:
    """Returns the error of a table without a column of translations; it names the columns that are meant, if any are.

    Args:
        names: of all columns.
        free: of the columns without a role.
        naming: how the user names a column; "" if that is not possible.
        has_source: whether a column holds the source.
    """
    usual = NAMES["hypothesis"]
    similar: dict[str, str] = {}
    for name in free:
        if matches := difflib.get_close_matches(name.casefold(), usual, n=1, cutoff=0.8):
            similar[name] = matches[0]
    meant = list(similar)[:1] or _resembling(free, "hypothesis")
    hint = f"; {meant[0]!r} is almost {similar[meant[0]]!r}" if similar else ""
    allowed = f"must be {one_of(usual)}"
    if naming:
        shown = ",".join(map(_quoted, meant if naming == _OPTION else meant[:1])) or "NAME"
        allowed += f", or named, such as by {naming.format('hypothesis', shown)}"
        sources = [] if has_source or not meant else _resembling(free, "source")
        allowed += f" source={_quoted(sources[0])}" if sources and naming == _OPTION else ""
    return InputError(f"no column of translations among {', '.join(names) or 'none'}{hint}: {allowed}")


def _resembling(names: Iterable[str], role: str) -> list[str]:
    """Returns the names that say that a column holds texts of a role; of others, nothing is known.

    >>> _resembling(["translation_method", "model1_translation", "mtA", "system_id"], "hypothesis")
    ['model1_translation', 'mtA']
    """
    usual = {*NAMES[role], *TRANSLATED_NAMES[role]}
    words = {name: [word.casefold() for word in _WORD.findall(name)] for name in names}
    return [name for name, parts in words.items() if usual.intersection(parts) and parts[-1] not in _NO_TEXT]


def _named(names: Iterable[str], aliases: Iterable[str]) -> list[str]:
    """Returns the names that are one of the aliases, in the order of these."""
    return [name for alias in map(plain, aliases) for name in names if plain(name) == alias]


def _quoted(name: str) -> str:
    """Returns a name as it is typed on a command line."""
    return name if re.fullmatch(r"[\w.-]+", name) else f'"{name}"'


def joined(parts: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Returns the named columns; parts that make a heading with commas are one column.

    >>> joined(["sys", "one", "mt"], ["sys,one", "mt"])
    ('sys,one', 'mt')
    """
    joined: list[str] = []
    start = 0
    while start < len(parts):
        ends = range(len(parts), start, -1)
        end = next((end for end in ends if ",".join(parts[start:end]) in names), start + 1)
        joined.append(",".join(parts[start:end]))
        start = end
    return tuple(joined)


def parse(texts: Iterable[str]) -> Columns:
    """Returns the columns that texts such as "hypothesis=mtA,mtB" name, by role. Raises UsageError if they name none.

    Commas that belong to a heading are found once the headings are known.

    >>> parse(["mt=mtA,mtB,ref=gold", "index=no"])
    {'hypothesis': ['mtA', 'mtB'], 'reference': ['gold'], 'index': ['no']}
    """
    columns: dict[str, list[str]] = {}
    named: list[str] | None = None
    for text in ",".join(texts).split(",") if texts else ():
        role, is_new, name = text.partition("=")
        if is_new:
            named = columns.setdefault(known_role(role, f"--columns {text}"), [])
        if named is None or not (name or (not is_new and text)):
            raise UsageError(f"--columns {text!r} must be NAME=COLUMN, such as hypothesis=mt")
        named.append(name if is_new else text)
    _check_distinct(columns)
    return columns


def known_role(name: str, where: str) -> str:
    """Returns what a column holds that a user names; raises a UsageError, which says where, if that is unknown."""
    role = role_of(name) or name
    if role not in ROLES:
        raise UsageError(f"{where}: {unknown('name', role, ROLES)}")
    return role


def check_columns(columns: Columns) -> None:
    """Raises a UsageError if a column is named twice, or several are named for what a row has once."""
    _check_distinct(columns)
    for role, names in columns.items():
        if len(names) > 1 and role not in ("hypothesis", "reference"):
            raise UsageError(f"{role} is {' and '.join(names)}; give one column")
    if "system" in columns and len(columns.get("hypothesis", ())) > 1:
        raise UsageError("several columns of hypotheses and a column of systems; give one or the other")


def _check_distinct(columns: Columns) -> None:
    named = [name for names in columns.values() for name in names]
    for name in named:
        if named.count(name) > 1:
            raise UsageError(f"column {name} is named twice; it can hold one thing")


def plain_value(value: Any) -> Any:  # noqa: ANN401  (as the table has it)
    """Returns a cell as plain Python: a missing one, such as NaN, as None."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): plain_value(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(inner) for inner in value]
    is_missing = type(value).__name__ == "NAType" or value != value  # NA of pandas; NaN and NaT
    return None if is_missing else value


def _texts(name: str, cell: object) -> list[str]:
    """Returns the texts of a cell: one, several in a list, or none. Raises InputError if it holds anything else."""
    value = plain_value(cell)
    texts = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(text, str) for text in texts):
        raise InputError(f"{name} is {value!r}: must be a text")
    return texts


def _name(value: object) -> str | None:
    return None if value is None or value == "" else str(value)


def _whole_number(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        return parse_whole_number(_ZERO_FRACTION.sub("", value))
    return value if isinstance(value, int) and not isinstance(value, bool) else None
