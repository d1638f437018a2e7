"""Ratings as notes for translators, in XLIFF and PO files.

A note has a line with the rater, and a line for each error, in the language of the file's other notes where it is
English, French, German or Spanish, otherwise in English::

    [matese] "anna"
    Major error (Fluency/Grammar): »löschen« (confidence 44 %) [10..17]
    Minor error in the source: »the the« [4..11]
    Major error, missing in the translation (Accuracy/Omission): »not« (confidence 61 %) [12..15]
    Major error without a place (Accuracy/Omission)

The numbers at the end are offsets in code points, from which the errors are read again.

If one rater has rated every text of a file, the rater is named once, in the header of the file::

    [matese] "anna" (translations without a note have no errors)

The first line of other notes is then "[matese]" alone, and error-free texts have no note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from matese.annotation import AnyError, ErrorSpan, Omission, Rating, Segment, UnplacedError
from matese.errors import InputError
from matese.formats import severities, validation
from matese.formats.format import rating_of

ORIGIN = "matese"
HEADER = re.compile(rf"\[{ORIGIN}(?: (\d{{1,9}}))?\](?: (.*))?")
_OF_FILE = re.compile(rf"\[{ORIGIN}\] (.*) \((?:translations|texts) without a note have no errors\)")
_WORDS = {
    lang: words.split(", ")
    for lang, words in {
        "en": "Error, Remark, Minor error, Major error, Critical error, in the source, without a place, confidence, "
        "missing in the translation",
        "de": "Fehler, Hinweis, Leichter Fehler, Schwerer Fehler, Kritischer Fehler, im Ausgangstext, ohne Stelle, "
        "Konfidenz, fehlt in der Übersetzung",
        "es": "Error, Observación, Error leve, Error grave, Error crítico, en el original, sin lugar, confianza, "
        "falta en la traducción",
        "fr": "Erreur, Remarque, Erreur mineure, Erreur majeure, Erreur critique, dans le texte source, sans "
        "emplacement, confiance, absent de la traduction",
    }.items()
}
_ORDER = tuple(severities.LABELS.values())
_SEVERITIES = {word: severity for words in _WORDS.values() for word, severity in zip(words, _ORDER, strict=False)}
_PLAIN = re.compile(r"[\w/ .&-]+", re.ASCII)


def _any(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


def _any_language(number: int) -> str:
    return _any(words[number] for words in _WORDS.values())


_LINE = re.compile(
    rf"(?P<label>{_any(_SEVERITIES)})"
    rf"(?P<source> (?:{_any_language(5)}))?"
    rf"(?P<missing>, (?:{_any_language(8)}))?"
    rf"(?P<unplaced> (?:{_any_language(6)}))?"
    r'(?: \((?P<category>"(?:[^"\\]|\\.)*"|[\w/ .&-]+)\))?'
    rf"(?:: »(?P<text>.*)«(?: \((?:{_any_language(7)}) (?P<percent>\d{{1,3}}) %\))?"
    r" \[(?P<start>\d{1,18})\.\.(?P<end>\d{1,18})\])?"
)


def of_file(rater: str | None) -> str:
    """Returns the note in the header of a file whose texts one rater has rated."""
    return f"[{ORIGIN}] {_name(rater)} (translations without a note have no errors)"


def raters_of_file(lines: Sequence[str]) -> list[str | None]:
    """Returns the rater of each such note in the lines of a header."""
    return [_rater(match[1]) for line in lines if (match := _OF_FILE.fullmatch(line))]


def write(rating: Rating, lang: str | None = None, form: int | None = None, *, names_rater: bool = True) -> str:
    """Returns the note of a rating.

    Args:
        rating: confidences are rounded to a percent.
        lang: the language of the note, if it is known.
        form: the number of the plural form that is rated.
        names_rater: whether the rater is named, as it must be unless the header of the file does so.
    """
    words = _WORDS.get((lang or "en").casefold()[:2], _WORDS["en"])
    number = "" if form is None else f" {form}"
    lines = [f"[{ORIGIN}{number}]{f' {_name(rating.rater)}' if names_rater else ''}"]
    texts = rating.segment.hypothesis, rating.segment.source or ""
    placed: list[tuple[str, ErrorSpan | Omission, str]]
    placed = [("", span, texts[0]) for span in rating.errors or ()]
    placed += [(f" {words[5]}", span, texts[1]) for span in rating.source_errors]
    placed += [(f", {words[8]}", omission, texts[1]) for omission in rating.omissions]
    for side, error, text in placed:
        sure = "" if error.confidence is None else f" ({words[7]} {round(100 * error.confidence)} %)"
        lines.append(f"{_label(error, words, side)}: »{_shown(text, error)}«{sure} [{error.start}..{error.end}]")
    lines += [_label(error, words, f" {words[6]}") for error in rating.unplaced]
    return "\n".join(lines)


def split(lines: Sequence[str]) -> Iterator[tuple[int | None, list[str]]]:
    """Yields each note in some lines: the number of its plural form, if it has one, and its lines."""
    note: list[str] = []
    form = None
    for line in (*lines, ""):
        if note and _LINE.fullmatch(line):
            note.append(line)
            continue
        if note:
            yield form, note
        header = HEADER.fullmatch(line)
        note = [header[2] or ""] if header else []
        form = int(header[1]) if header and header[1] else None


def read(note: Sequence[str], segment: Segment, of_file: str | None = None) -> Rating:
    """Returns the rating of a note that `split` has found; `of_file` is the rater of a note that names none.

    Raises:
        InputError: if it does not fit the texts.
    """
    rater = _rater(note[0]) if note[0] else of_file
    errors: list[AnyError] = []
    source_errors: list[ErrorSpan] = []
    for line in note[1:]:
        match = _LINE.fullmatch(line)
        assert match is not None
        severity, category = _SEVERITIES[match["label"]], match["category"]
        if category and category.startswith('"'):
            category = validation.from_json(category, str)
        if match["start"] is None:
            errors.append(UnplacedError(severity, category))
            continue
        confidence = int(match["percent"]) / 100 if match["percent"] else None
        span = ErrorSpan(int(match["start"]), int(match["end"]), severity, category, confidence)
        is_of_hypothesis = not (match["source"] or match["missing"])
        if match["text"] != _shown(segment.hypothesis if is_of_hypothesis else segment.source or "", span):
            raise InputError(f"note {line!r}: must be of the text as it stands, which has changed")
        if match["missing"]:
            errors.append(Omission("source", None, span.start, span.end, severity, category, confidence))
        elif match["source"]:
            source_errors.append(span)
        else:
            errors.append(span)
    return rating_of(segment, rater, errors, source_errors)


def _name(rater: str | None) -> str:
    # What XML cannot hold is never printable.
    return json.dumps(rater, ensure_ascii=not (rater is None or rater.isprintable()))


def _rater(name: str) -> str | None:
    rater = validation.from_json(name, object)
    if rater is not None and not isinstance(rater, str):
        raise InputError(f"note {name!r}: must begin with the name of a rater")
    return rater


def _label(error: AnyError, words: Sequence[str], side: str) -> str:
    label = words[_ORDER.index(error.severity)]
    if error.category is None:
        return f"{label}{side}"
    is_plain = _PLAIN.fullmatch(error.category) is not None
    return f"{label}{side} ({error.category if is_plain else json.dumps(error.category)})"


def _shown(text: str, span: ErrorSpan | Omission) -> str:
    """Returns the marked text in one line."""
    return re.sub(r"[^\S ]|[\x00-\x1f\x7f-\x9f]", " ", text[span.start : span.end])
