"""A page to print for a customer: a verdict in a sentence, counts, the worst segments, and what was checked by what.

An error counts once, under its own severity; unlike in tables for experts, a Critical error is no Major one here.
"""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from matese import mqm
from matese.annotation import AnyError, ErrorSpan, Omission, Rating, Segment, Severity, severities
from matese.annotation.severity_looks import LOOKS
from matese.errors import InputError, one_of
from matese.evaluation.statistics.arrays import FloatArray, divide
from matese.evaluation.statistics.bootstrap import AdditiveStatistic, Figure
from matese.evaluation.systems import differences, quality
from matese.evaluation.systems.sampling import Sampling
from matese.render import catalogue, html_page
from matese.render.catalogue import Catalogue
from matese.text import languages
from matese.text.ranges import covered_pieces
from matese.text.words import count_words

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
CATEGORIES = {*"/".join((*mqm.CATEGORIES, *html_page.CATEGORIES, "Non-translation")).split("/")}
"""Categories of MQM that the page translates."""
NOTE = "A program marked these errors, and no person confirmed them: some are wrong, and others are missing."
TEMPLATE = "summary.html"
_STYLE = Path(__file__).parent / "pages" / "summary.css"


@dataclass(frozen=True, slots=True)
class _WorstSegment:
    """A segment as the page shows it.

    Attributes:
        place: what readers call it.
        texts: names and texts that it is a translation of.
        pieces: of the translation, each after the name of its severest error, "" without one.
        errors: the severity and the line of each.
        remarks: names and texts of what people said.
    """

    place: str
    texts: Sequence[tuple[str, str]]
    pieces: Sequence[tuple[str, str]]
    errors: Sequence[tuple[str, str]]
    remarks: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Counts:
    """A table of the page; each row has a class, "" for none, and cells."""

    heading: str
    header: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]


def render(
    ratings: Sequence[Rating],
    *,
    title: str,
    language: str = "en",
    weights: mqm.Weights = mqm.MATESE,
    notes: Sequence[str] = (),
    day: datetime.date | None = None,
) -> str:
    """Returns the page as HTML.

    Args:
        ratings: one for each segment; those without spans count as not checked.
        title: what was checked, such as the name of a file or a system.
        language: of the page, one of `catalogue.LANGUAGES`.
        weights: what scores are computed with, which choose the worst segments.
        notes: what cannot be told, and what is inconsistent.
        day: of the page; None for today.

    Raises:
        InputError: if nothing is marked or judged free of errors, or a segment has several ratings.
    """
    words = catalogue.load(language)
    checked = [rating for rating in ratings if rating.errors is not None]
    _check_single(checked, title)
    faulty = [rating for rating in mqm.worst_first(checked, weights) if _counted(rating)]
    faulty.sort(key=lambda rating: mqm.score(rating, weights))
    header = [words.text("Severity"), words.text("Errors"), words.text("per 1,000 words")]
    tables = [
        _Counts(words.text("Errors"), header, _error_rows(checked, words)),
        _Counts(words.text("Segments"), (), _segment_rows(checked, len(ratings), words)),
    ]
    worst = [_worst_segment(rating, words) for rating in faulty[:_N_WORST]]
    return _page(checked, tables, words, title=title, weights=weights, day=day, worst=worst, notes=notes)


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
        language: of the page, one of `catalogue.LANGUAGES`.
        weights: what scores are computed with.
        notes: what cannot be told, and what is inconsistent.

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
    header = [
        words.text("System"),
        words.text("Languages"),
        words.text("Segments"),
        words.text("Errors"),
        words.text("Major"),
        words.text("MQM score"),
        words.text("undecided"),
        words.text("not checked"),
    ]
    rows = [("", _system_row(name, pair, ratings, weights, words)) for (name, pair), ratings in groups.items()]
    caption = words.text("Errors and Major errors per 1,000 words of the source, with 95 % intervals.")
    tables = [_Counts("", header, rows)]
    return _page(checked, tables, words, title=title, weights=weights, caption=caption, notes=notes)


def _page(
    checked: Sequence[Rating],
    tables: Sequence[_Counts],
    words: Catalogue,
    *,
    title: str,
    weights: mqm.Weights,
    day: datetime.date | None = None,
    caption: str = "",
    worst: Sequence[_WorstSegment] = (),
    notes: Sequence[str] = (),
) -> str:
    if not checked:
        raise InputError(f"{title} holds no marks: mark the translations first with matese tag")
    return html_page.render_plain(
        TEMPLATE,
        _STYLE.read_text(encoding="utf-8"),
        words=words,
        title=title,
        verdict=_verdict(checked, words),
        tables=tables,
        scale=f"{caption} {words.text(SCALE)}".strip(),
        worst=worst,
        facts=_facts(checked, weights, words, day or datetime.date.today()),
        notes=notes,
        signatures=_programs(checked),
    )


def _system_row(name: str, pair: str, ratings: Sequence[Rating], weights: mqm.Weights, words: Catalogue) -> list[str]:
    """Returns the cells of a system in a language pair; rates and scores with their intervals."""
    checked = [rating for rating in ratings if rating.errors is not None]
    _check_single(checked, name)
    figures = _figures(checked, weights) if checked else {}

    def with_interval(key: str, digits: int) -> str:
        """Returns the cell of a figure; empty if it is undefined."""
        figure = figures.get(key)
        if figure is None or not math.isfinite(figure.value):
            return ""
        ends = [words.number(end, digits) for end in (figure.low, figure.high) if math.isfinite(end)]
        interval = f" [{ends[0]},\u00a0{ends[1]}]" if len(ends) == 2 else ""
        return f"{words.number(figure.value, digits)}{interval}"

    n_undecided = mqm.n_undecided(checked)
    return [
        name,
        languages.names_in(pair, words.language) if pair else "",
        words.number(len(checked)),
        with_interval("errors", 1),
        with_interval("major", 1),
        with_interval("score", 2),
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

    statistic = AdditiveStatistic(np.column_stack(columns).astype(np.float64), of_totals)
    return statistic.measure(differences.resample(checked, Sampling()) if len(checked) > 1 else ())


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
        singular, plural = SERIOUS_ERRORS
        verdict = words.counted(singular, plural, n_serious)
    elif n_wrong:
        verdict = words.counted(
            "No serious error is marked; {n} {of_all} has minor errors.",
            "No serious error is marked; {n} {of_all} have minor errors.",
            n_wrong,
        )
    else:
        verdict = "" if n_undecided else words.text("No error is marked in any segment.")
    undecided = words.counted(
        "{n} mark is undecided and not in the score.", "{n} marks are undecided and not in the score.", n_undecided
    )
    return " ".join(filter(None, (verdict.replace("{of_all}", of_all), undecided if n_undecided else "")))


def _error_rows(checked: Sequence[Rating], words: Catalogue) -> list[tuple[str, list[str]]]:
    """Returns the label, the number and the rate of each severity, and those of all that count, after their class."""
    counts = Counter(error.severity for rating in checked for error in rating.all_errors)
    n_words = _n_words(checked)
    rows = [
        (severities.name(severity), words.text(LABELS[severity]), counts[severity])
        for severity in reversed(severities.EVERY)
        if counts[severity] or severity in severities.COUNTED
    ]
    rows.append(("total", words.text("Total"), sum(counts[severity] for severity in severities.COUNTED)))
    return [
        (kind, [label, words.number(n), words.number(1000 * n / n_words, 1) if n_words else ""])
        for kind, label, n in rows
    ]


def _segment_rows(checked: Sequence[Rating], n_all: int, words: Catalogue) -> list[tuple[str, list[str]]]:
    """Returns how many segments there are of each kind; each counts once."""
    wrong = [errors for rating in checked if (errors := _counted(rating))]
    counts = Counter(max((error.severity for error in errors), key=severities.rank) for errors in wrong)
    n_undecided = sum(not _counted(rating) and bool(mqm.n_undecided([rating])) for rating in checked)
    numbers = {
        words.text("no error"): len(checked) - len(wrong) - n_undecided,
        **{words.text(label): counts[severity] for severity, label in WORST.items()},
    }
    rest = {words.text("undecided"): n_undecided, words.text("not checked"): n_all - len(checked)}
    numbers |= {label: n for label, n in rest.items() if n}
    return [("", [label, words.number(n)]) for label, n in numbers.items()]


def _n_words(checked: Sequence[Rating]) -> int:
    return sum(count_words(rating.segment.hypothesis) for rating in checked)


def _programs(checked: Sequence[Rating]) -> list[str]:
    """Returns the signatures of the models and checks that rated."""
    return [name for name in Counter(rating.rater for rating in checked) if name is not None and mqm.is_signature(name)]


def _program(signature: str) -> str:
    """Returns what readers call a program: its model, and the rules beside it.

    >>> _program("matese|model:mini@41118186|input:source|checks:all|version:1.0"), _program("matese|checks:numbers")
    ('matese (model: mini@41118186, checks: all)', 'matese (checks: numbers)')
    """
    name, *fields = signature.split("|")
    parts = [field.replace(":", ": ", 1) for field in fields if field.startswith(("model:", "checks:"))]
    return f"{name} ({', '.join(parts)})" if parts else name


def _facts(checked: Sequence[Rating], weights: mqm.Weights, words: Catalogue, day: datetime.date) -> dict[str, str]:
    raters = Counter(rating.rater for rating in checked)
    programs = _programs(checked)
    people = [name for name in raters if name is not None and not mqm.is_signature(name)]
    pairs = sorted({key.lang_pair for rating in checked if (key := rating.segment.key) and key.lang_pair})
    score = words.number(mqm.corpus_score(mqm.score(rating, weights) for rating in checked), 2)
    size = (
        words.counted("{n} segment", "{n} segments", len(checked)),
        words.counted("{n} word", "{n} words", _n_words(checked)),
    )
    scale = f"{words.text('mean of the segments; 0 is best')}; {words.text('penalties')}: {weights.name}"
    facts = {
        words.text("Checked"): ", ".join(size),
        words.text("Date"): words.date(day),
        words.text("Languages"): ", ".join(languages.names_in(pair, words.language) for pair in pairs),
        words.text("People"): ", ".join(people),
        words.text("Program"): "; ".join(dict.fromkeys(map(_program, programs))),
        words.text("Note"): words.text(NOTE) if programs else "",
        words.text("MQM score"): f"{score} ({scale})",
    }
    return {name: value for name, value in facts.items() if value}


def _worst_segment(rating: Rating, words: Catalogue) -> _WorstSegment:
    """Returns a segment as the page shows it."""
    segment = rating.segment
    extra = segment.extra or {}
    remarks = [(words.text("Corrected"), extra.get("corrected")), (words.text("Comment"), extra.get("comment"))]
    contexts = [(words.text("Source"), segment.source)] if segment.source else []
    contexts = contexts or [(words.text("Reference"), reference) for reference in segment.references if reference]
    is_empty = not segment.hypothesis.strip()
    return _WorstSegment(
        _place(segment, words),
        contexts,
        [("", words.text("(empty)"))] if is_empty else list(_pieces(segment.hypothesis, rating.errors or ())),
        list(_errors(rating, words)),
        [(name, str(text)) for name, text in remarks if text],
    )


def _place(segment: Segment, words: Catalogue) -> str:
    index = None if segment.key is None else segment.key.index
    if index is not None and segment.name in (None, f"line {index + 1}"):
        return f"{words.text('Segment')} {index + 1}"
    return segment.label


def _pieces(text: str, errors: Sequence[ErrorSpan]) -> Iterator[tuple[str, str]]:
    """Yields the severity of the worst error, "" without one, and the text of each part between the borders."""
    for (start, end), covering in covered_pieces(text, errors):
        worst = max(covering, key=lambda error: severities.rank(error.severity), default=None)
        yield severities.name(worst.severity) if worst else "", text[start:end]


def _errors(rating: Rating, words: Catalogue) -> Iterator[tuple[str, str]]:
    """Yields the class and the line of each error."""
    missing = f"{words.text('missing in the translation')}: "
    for error, text in rating.errors_with_words():
        label = ", ".join(filter(None, (words.text(LABELS[error.severity]), _category(error.category, words))))
        where = f"{missing * isinstance(error, Omission)}{_quoted(text, words)}" if text else ""
        yield severities.name(error.severity), ": ".join(filter(None, (label, where)))


def _quoted(text: str, words: Catalogue) -> str:
    return words.text("\u201c{quote}\u201d").replace("{quote}", text)


def _category(category: str | None, words: Catalogue) -> str | None:
    """Returns a category with the names of MQM's main ones, and of those of accuracy, in the language of the page."""
    names = {name.lower(): words.text(name) for name in CATEGORIES}
    parts = [] if category is None else category.split("/")
    return "/".join(names.get(part.lower().replace("_", " "), part) for part in parts) or None
