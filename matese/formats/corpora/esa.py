"""Error span annotation (ESA) of WMT 2024 and 2025, as JSON lines or a list: `esa`.

2024 (`wmt24_esa.jsonl`), an object for each annotation::

    {"langs": "en-de", "line_id": 7, "src": "...", "tgt": "...", "doc_id": "...", "domain": "news", "system": "...",
     "esa_spans": [{"start_i": 4, "end_i": 7, "severity": "minor"}], "esa_score": 80, "annotator": "..."}

2025 (`wmt25-genmt-humeval.jsonl`), an object for each source, with the annotations of all systems::

    {"doc_id": "en-de_DE_#_news_#_DOCUMENT_#_0", "src_text": "...", "tgt_text": {"SYSTEM": "...", "refA": "..."},
     "scores": {"SYSTEM": [{"score": 50, "annotator": "...", "errors": [...], "times": [1, 2]}]}}

Instead of its list, a system may have one object, with the score as `human`, and the translations may be a list of
objects with `system` and `text`, as a data set of Hugging Face has them. `refA` and its like are references, and no
reference of themselves. A translation that nobody has annotated yields no rating.

Offsets count UTF-16 code units, with inclusive ends; `missing` is the offset of an omission.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import InputError
from matese.files import name_of
from matese.formats import item_ids, json_stream
from matese.formats.capabilities import ALL_KEY_FIELDS, Capabilities
from matese.formats.corpora import omission_marks
from matese.formats.format import STRICT, ReadOptions
from matese.formats.row_issues import RowIssues, located
from matese.formats.utf16_offsets import EsaSpan, from_esa, report_unknown
from matese.text import languages
from matese.validation import plain_values

CAPABILITIES = Capabilities(
    lacks=("category", "confidence", "source_errors", "omissions", "estimate"),
    key=ALL_KEY_FIELDS[1:],
    scales=("esa",),
)
_REFERENCE = re.compile(r"ref[A-Z]?")
_TOKENS = (omission_marks.CATEGORY,)


class _Judgement(msgspec.Struct):
    """A person's annotation of a translation."""

    score: float | None = None
    human: float | None = None
    annotator: str | None = None
    errors: list[dict[str, object]] | None = None


class _Translation(msgspec.Struct):
    system: str
    text: str


class _Source(msgspec.Struct):
    """An object of 2025."""

    src_text: str
    doc_id: str
    tgt_text: dict[str, str] | list[_Translation]
    scores: dict[str, list[_Judgement] | _Judgement]


class _Annotation(msgspec.Struct):
    """An object of 2024."""

    langs: str
    line_id: int
    src: str
    tgt: str
    system: str
    doc_id: str | None = None
    domain: str | None = None
    annotator: str | None = None
    esa_spans: list[dict[str, object]] | None = None
    esa_score: float | str | None = None


def read(path: str | Path, options: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the rating of each annotation, in the order of the file."""
    for element in json_stream.read(path, record=("esa_spans", "tgt_text")):
        issues = RowIssues(name_of(path), options.report, element.line)
        with located(path, element.line):
            is_older = isinstance(element.value, dict) and "esa_spans" in element.value
            ratings = _of_annotation(element.value, issues) if is_older else _of_source(element.value, issues)
            for rating in ratings:
                lang_pair = (rating.segment.key or SegmentKey()).lang_pair or ""
                if options.lang_pair is None or languages.agree(lang_pair, options.lang_pair):
                    yield rating


def _of_annotation(value: object, issues: RowIssues) -> Iterator[Rating]:
    row = plain_values.convert(value, _Annotation)
    key = SegmentKey(None, languages.parse(row.langs), row.system, row.doc_id, row.line_id, row.domain)
    score = row.esa_score
    judgement = _Judgement(None if score is None else _number(score), None, row.annotator, row.esa_spans)
    yield _rating(Segment(row.tgt, row.src, key=key), judgement, issues)


def _of_source(value: object, issues: RowIssues) -> Iterator[Rating]:
    row = plain_values.convert(value, _Source)
    texts = row.tgt_text
    if not isinstance(texts, dict):
        texts = {translation.system: translation.text for translation in texts}
    references = {name: text for name, text in texts.items() if _REFERENCE.fullmatch(name)}
    key = item_ids.key_of(row.doc_id)
    for system, judged in row.scores.items():
        if system not in texts:
            issues.skip("annotation of a translation that is not there", f"{system!r} must be in tgt_text")
            continue
        references_of_system = tuple(text for name, text in references.items() if name != system)
        segment = Segment(texts[system], row.src_text, references_of_system, replace(key, system=system))
        for judgement in judged if isinstance(judged, list) else [judged]:
            yield _rating(segment, judgement, issues)


def _rating(segment: Segment, judgement: _Judgement, issues: RowIssues) -> Rating:
    errors: Sequence[dict[str, object]] | None = judgement.errors
    report_unknown(errors, issues)
    spans = None if errors is None else plain_values.convert(errors, list[EsaSpan])
    score = judgement.human if judgement.score is None else judgement.score
    if score is not None and not 0 <= score <= 100:
        issues.ignore("score out of range", f"{score:g} must be from 0 to 100")
        score = None
    return from_esa(segment, spans, issues, rater=judgement.annotator, score=score, tokens=_TOKENS)


def _number(score: float | str) -> float:
    try:
        return float(score)
    except ValueError:
        raise InputError(f"esa_score {score!r}: must be a number from 0 to 100") from None
