"""A page to print for a customer: a verdict in a sentence, counts, the worst segments, and what was checked by what.

An error counts once, under its own severity; unlike in tables for experts, a Critical error is no Major one here.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from matese import mqm
from matese.annotation import AnyError, ErrorSpan, Rating, Segment, Severity, severities
from matese.annotation.severity_looks import LOOKS
from matese.errors import InputError, one_of
from matese.evaluation.statistics import bootstrap
from matese.evaluation.statistics.arrays import FloatArray, divide
from matese.evaluation.statistics.bootstrap import Figure
from matese.evaluation.systems import differences, quality
from matese.evaluation.systems.differences import ResamplingOptions
from matese.render import catalogue, html_page
from matese.render.catalogue import Catalogue
from matese.text import languages
from matese.text.words import count_words

LANGUAGES = catalogue.LANGUAGES
_N_WORST = 5
_SERIOUS = tuple(severity for severity, counts_as in severities.COUNTED.items() if counts_as > Severity.MINOR)
SERIOUS_ERRORS = tuple(
    f"{{n}} {{of_all}} {verb} a serious error ({one_of([severities.label(severity) for severity in _SERIOUS])})."
    for verb in ("has", "have")
)
"""The verdict, in the singular and plural."""
LABELS: Mapping[Severity | None, str] = {
    severity: "Remark" if severity is Severity.NEUTRAL else severities.label(severity) for severity in severities.EVERY
}
"""What people read for each severity."""
WORST: Mapping[Severity, str] = {
    severity: f"worst error is {label}" if severity in _SERIOUS else f"only {label} errors"
    for severity in severities.COUNTED
    for label in [severities.label(severity)]
}
"""What people read of segments by the severity of their worst error."""
SCALE = " ".join(f"{severities.label(severity)}: {LOOKS[severity].meaning}." for severity in severities.COUNTED)
"""What the severities mean."""
_STYLE = Path(__file__).parent / "pages" / "summary.css"


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a translation; `kind` is the name of its severest error, "" without one."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class _WorstSegment:
    """A segment as the page shows it: names and texts, the pieces of the translation, and a line for each error."""

    place: str
    texts: Sequence[tuple[str, str]]
    pieces: Sequence[_Piece]
    errors: Sequence[tuple[str, str]]
    remarks: Sequence[tuple[str, str]]


def render(
    ratings: Sequence[Rating],
    *,
    title: str,
    language: str = "en",
    weights: mqm.Weights = mqm.MATESE,
    day: datetime.date | None = None,
) -> str:
    """Returns the page as HTML.

    Args:
        ratings: one for each segment; those without spans count as not checked.
        title: what was checked, such as the name of a file or a system.
        language: of the page, one of `LANGUAGES`.
        weights: what scores are computed with, which choose the worst segments.
        day: of the page; None for today.

    Raises:
        InputError: if nothing is marked or judged free of errors, or a segment has several ratings.
    """
    words = catalogue.load(language)
    checked = [rating for rating in ratings if rating.errors is not None]
    if not checked:
        raise InputError(f"{title} holds no marks: mark the translations first with matese tag")
    _check_single(checked, title)
    n_words = _n_words(checked)
    worst = [rating for rating in mqm.worst_first(checked, weights) if _counted(rating)]
    worst.sort(key=lambda rating: mqm.score(rating, weights))
    return html_page.render_plain(
        "summary.html",
        _STYLE.read_text(encoding="utf-8"),
        language=language,
        title=title,
        heading=words.text("Translation quality"),
        verdict=_verdict(checked, words),
        errors_heading=words.text("Errors"),
        errors_header=[words.text("Severity"), words.text("Errors"), words.text("per 1,000 words")],
        errors=_error_rows(checked, n_words, words),
        segments_heading=words.text("Segments"),
        segments=_segment_rows(checked, len(ratings), words),
        worst_heading=words.text("The worst segments") if worst else "",
        worst=[_shown(rating, words) for rating in worst[:_N_WORST]],
        facts=_facts(checked, n_words, weights, words, day or datetime.date.today()),
        signatures=_programs(checked),
        about_heading=words.text("What was checked, and by what"),
        scale=words.text(SCALE),
    )


def render_several(
    systems: Mapping[str, Sequence[Rating]],
    *,
    title: str,
    language: str = "en",
    weights: mqm.Weights = mqm.MATESE,
    notes: Sequence[str] = (),
) -> str:
    """Returns a page with a table of several systems and languages as HTML.

    Args:
        systems: ratings by system, one for each segment; those without spans count as not checked.
        title: what was checked.
        language: of the page, one of `LANGUAGES`.
        weights: what scores are computed with.
        notes: what cannot be told.

    Raises:
        InputError: if nothing is marked or judged free of errors, or a segment has several ratings.
    """
    words = catalogue.load(language)
    groups: dict[tuple[str, str], list[Rating]] = {}
    for name, ratings in systems.items():
        for rating in ratings:
            key = rating.segment.key
            groups.setdefault((name, (key and key.lang_pair) or ""), []).append(rating)
    checked = [rating for ratings in groups.values() for rating in ratings if rating.errors is not None]
    if not checked:
        raise InputError(f"{title} holds no marks: mark the translations first with matese tag")
    return html_page.render_plain(
        "summary_table.html",
        _STYLE.read_text(encoding="utf-8"),
        language=language,
        title=title,
        heading=words.text("Translation quality"),
        verdict=_verdict(checked, words),
        header=[
            words.text("System"),
            words.text("Languages"),
            words.text("Segments"),
            words.text("Errors"),
            words.text("Major"),
            words.text("MQM score"),
            words.text("undecided"),
            words.text("not checked"),
        ],
        rows=[_system_row(name, pair, ratings, weights, words) for (name, pair), ratings in groups.items()],
        caption=words.text("Errors and Major errors per 1,000 words of the source, with 95 % intervals."),
        scale=words.text(SCALE),
        about_heading=words.text("What was checked, and by what"),
        facts=_facts(checked, _n_words(checked), weights, words, datetime.date.today()),
        notes=notes,
        signatures=_programs(checked),
    )


def _system_row(name: str, pair: str, ratings: Sequence[Rating], weights: mqm.Weights, words: Catalogue) -> list[str]:
    """Returns the cells of a system in a language pair; rates and scores with their intervals."""
    checked = [rating for rating in ratings if rating.errors is not None]
    _check_single(checked, name)
    figures = _figures(checked, weights) if checked else {}

    def shown(key: str, digits: int) -> str:
        figure = figures.get(key)
        if figure is None or not math.isfinite(figure.value):
            return ""
        ends = [words.number(end, digits) for end in (figure.low, figure.high) if math.isfinite(end)]
        return f"{words.number(figure.value, digits)}{f' [{ends[0]}, {ends[1]}]' if len(ends) == 2 else ''}"

    n_undecided = mqm.n_undecided(checked)
    return [
        name,
        languages.names_in(pair, words.language) if pair else "",
        words.number(len(checked)),
        shown("errors", 1),
        shown("major", 1),
        shown("score", 2),
        words.number(n_undecided),
        words.number(len(ratings) - len(checked)),
    ]


def _figures(checked: Sequence[Rating], weights: mqm.Weights) -> Mapping[str, Figure]:
    """Returns errors and Major ones per 1,000 words of the source, and the mean score, with their intervals."""
    columns: list[list[float]] = [
        [quality.n_errors(rating) for rating in checked],
        [quality.n_major(rating) for rating in checked],
        [count_words(rating.segment.source or rating.segment.hypothesis) for rating in checked],
        [mqm.score(rating, weights) for rating in checked],
        [1.0] * len(checked),
    ]

    def of_totals(totals: FloatArray) -> Mapping[str, FloatArray]:
        errors, major, n_words, score, n = totals.T
        rates = {"errors": divide(1000 * errors, n_words), "major": divide(1000 * major, n_words)}
        return {**rates, "score": divide(score, n)}

    statistic = bootstrap.AdditiveStatistic(np.column_stack(columns).astype(np.float64), of_totals)
    drawn = differences.resample(checked, ResamplingOptions()) if len(checked) > 1 else ()
    return bootstrap.measure(statistic, bootstrap.whole_sample(len(checked)), drawn)


def _n_words(checked: Sequence[Rating]) -> int:
    return sum(count_words(rating.segment.hypothesis) for rating in checked)


def _check_single(ratings: Sequence[Rating], title: str) -> None:
    """Raises InputError for several ratings of one segment: their errors would count several times."""
    counts = Counter(
        rating.segment for rating in ratings if rating.segment.key is not None and rating.segment.key.index is not None
    )
    repeated = next((segment for segment, n in counts.items() if n > 1), None)
    if repeated is not None:
        raise InputError(f"{title} has several ratings of {repeated.label}: must be one; merge the raters first")


def _counted(rating: Rating) -> list[AnyError]:
    """Returns the errors that count: neutral and undecided ones do not."""
    return [error for error in rating.all_errors if error.severity in severities.COUNTED]


def _verdict(checked: Sequence[Rating], words: Catalogue) -> str:
    n_wrong = sum(bool(_counted(rating)) for rating in checked)
    n_serious = sum(any(error.severity in _SERIOUS for error in _counted(rating)) for rating in checked)
    n_undecided = mqm.n_undecided(checked)
    of_all = words.counted("of {n} segment", "of {n} segments", len(checked))
    if n_serious:
        one, many = SERIOUS_ERRORS
        found = words.counted(one, many, n_serious)
    elif n_wrong:
        found = words.counted(
            "No serious error is marked; {n} {of_all} has minor errors.",
            "No serious error is marked; {n} {of_all} have minor errors.",
            n_wrong,
        )
    else:
        found = "" if n_undecided else words.text("No error is marked in any segment.")
    undecided = words.counted(
        "{n} mark is undecided and not in the score.", "{n} marks are undecided and not in the score.", n_undecided
    )
    return " ".join(filter(None, (found.replace("{of_all}", of_all), undecided if n_undecided else "")))


def _error_rows(checked: Sequence[Rating], n_words: int, words: Catalogue) -> list[tuple[str, str, str, str]]:
    """Returns the class, the label, the number and the rate of each severity, and those of all that count."""
    counts = Counter(error.severity for rating in checked for error in rating.all_errors)
    rows = []
    for severity in reversed(severities.EVERY):
        if counts[severity] or severity in severities.COUNTED:
            kind = severities.name(severity)
            rows.append((kind, words.text(LABELS[severity]), *_number_and_rate(counts[severity], n_words, words)))
    n_all = sum(counts[severity] for severity in severities.COUNTED)
    total = words.text("Total")
    return [*rows, ("total", total, *_number_and_rate(n_all, n_words, words))]


def _number_and_rate(n: int, n_words: int, words: Catalogue) -> tuple[str, str]:
    return words.number(n), words.number(1000 * n / n_words, 1) if n_words else ""


def _segment_rows(checked: Sequence[Rating], n_all: int, words: Catalogue) -> list[tuple[str, str]]:
    """Returns how many segments there are of each kind; each counts once."""
    counted = [rating for rating in checked if _counted(rating)]
    counts = Counter(max((error.severity for error in _counted(rating)), key=severities.rank) for rating in counted)
    worst = [(words.text(label), counts[severity]) for severity, label in WORST.items()]
    n_undecided = sum(not _counted(rating) and bool(mqm.n_undecided([rating])) for rating in checked)
    labels = [(words.text("no error"), len(checked) - len(counted) - n_undecided), *worst]
    others = [(words.text("undecided"), n_undecided), (words.text("not checked"), n_all - len(checked))]
    return [(label, words.number(n)) for label, n in (*labels, *(other for other in others if other[1]))]


def _programs(checked: Sequence[Rating]) -> list[str]:
    """Returns the signatures of the models and checks that rated."""
    return [name for name in Counter(rating.rater for rating in checked) if name is not None and mqm.is_signature(name)]


def _program(signature: str) -> str:
    """Returns what readers call a program: its model, and the rules beside it.

    >>> _program("matese|model:mini@41118186|input:source|checks:all|version:1.0"), _program("matese|checks:numbers")
    ('matese (model: mini@41118186, checks: all)', 'matese (checks: numbers)')
    """
    name, *fields = signature.split("|")
    shown = [field.replace(":", ": ", 1) for field in fields if field.startswith(("model:", "checks:"))]
    return f"{name} ({', '.join(shown)})" if shown else name


def _facts(
    checked: Sequence[Rating], n_words: int, weights: mqm.Weights, words: Catalogue, day: datetime.date
) -> list[tuple[str, str]]:
    raters = Counter(rating.rater for rating in checked)
    programs = _programs(checked)
    people = [name for name in raters if name is not None and not mqm.is_signature(name)]
    pairs = sorted({key.lang_pair for rating in checked if (key := rating.segment.key) and key.lang_pair})
    score = words.number(mqm.corpus_score(mqm.score(rating, weights) for rating in checked), 2)
    size = [words.counted("{n} segment", "{n} segments", len(checked)), words.counted("{n} word", "{n} words", n_words)]
    facts = [
        (words.text("Checked"), ", ".join(size)),
        (words.text("Date"), words.date(day)),
        (words.text("Languages"), ", ".join(languages.names_in(pair, words.language) for pair in pairs)),
        (words.text("People"), ", ".join(people)),
        (words.text("Program"), "; ".join(dict.fromkeys(map(_program, programs)))),
        (
            words.text("Note"),
            words.text(
                "A program marked these errors, and no person confirmed them: some are wrong, and others are missing."
            )
            if programs
            else "",
        ),
        (
            words.text("MQM score"),
            f"{score} ({words.text('mean of the segments; 0 is best')}; {words.text('penalties')}: {weights.name})",
        ),
    ]
    return [(name, value) for name, value in facts if value]


def _shown(rating: Rating, words: Catalogue) -> _WorstSegment:
    segment = rating.segment
    extra = segment.extra or {}
    remarks = [(words.text("Corrected"), extra.get("corrected")), (words.text("Comment"), extra.get("comment"))]
    contexts = [(words.text("Source"), segment.source)] if segment.source else []
    contexts += [] if contexts else [(words.text("Reference"), one) for one in segment.references]
    return _WorstSegment(
        _place(segment, words),
        [(name, text) for name, text in contexts if text],
        list(_pieces(segment.hypothesis, rating.errors or ()))
        if segment.hypothesis.strip()
        else [_Piece(words.text("(empty)"), "")],
        list(_errors(rating, words)),
        [(name, str(text)) for name, text in remarks if text],
    )


def _place(segment: Segment, words: Catalogue) -> str:
    index = None if segment.key is None else segment.key.index
    if index is not None and segment.name in (None, f"line {index + 1}"):
        return f"{words.text('Segment')} {index + 1}"
    return segment.label


def _pieces(text: str, errors: Sequence[ErrorSpan]) -> Iterator[_Piece]:
    """Yields the parts of a text between the borders of its errors, each with the worst error there."""
    borders = sorted({0, len(text), *(error.start for error in errors), *(error.end for error in errors)})
    for start, end in itertools.pairwise(borders):
        here = [error.severity for error in errors if error.start <= start and end <= error.end]
        worst = max(here, key=severities.rank) if here else None
        yield _Piece(text[start:end], severities.name(worst) if here else "")


def _errors(rating: Rating, words: Catalogue) -> Iterator[tuple[str, str]]:
    """Yields the class and the line of each error."""
    segment = rating.segment
    placed: list[tuple[AnyError, str]] = [
        *((error, _quoted(segment.hypothesis[error.start : error.end], words)) for error in rating.errors or ()),
        *((error, _quoted((segment.source or "")[error.start : error.end], words)) for error in rating.source_errors),
        *(
            (one, f"{words.text('missing in the translation')}: {_quoted(one.words(segment), words)}")
            for one in rating.omissions
        ),
        *((error, _quoted(error.words, words) if error.words else "") for error in rating.unplaced),
    ]
    for error, where in placed:
        label = ", ".join(filter(None, (words.text(LABELS[error.severity]), _category(error.category, words))))
        yield severities.name(error.severity), ": ".join(filter(None, (label, where)))


def _quoted(text: str, words: Catalogue) -> str:
    return words.text("\u201c{quote}\u201d").replace("{quote}", text)


def _category(category: str | None, words: Catalogue) -> str | None:
    """Returns a category with the names of MQM's main ones, and of those of accuracy, in the language of the page."""
    names = {
        "accuracy": words.text("Accuracy"),
        "mistranslation": words.text("Mistranslation"),
        "addition": words.text("Addition"),
        "omission": words.text("Omission"),
        "untranslated text": words.text("Untranslated text"),
        "fluency": words.text("Fluency"),
        "terminology": words.text("Terminology"),
        "style": words.text("Style"),
        "locale convention": words.text("Locale convention"),
        "non-translation": words.text("Non-translation"),
        "other": words.text("Other"),
    }
    parts = [] if category is None else category.split("/")
    return "/".join(names.get(part.lower().replace("_", " "), part) for part in parts) or None
