"""XLIFF 1.2 and 2 (also SDLXLIFF and MQXLIFF), PO, subtitles (`subtitles`), and files with keys (`key_files`).

They hold translations, and all but SRT and files with keys also errors as notes.

`read` yields the units that have a translation: source and target as texts, the number of the unit as index. Inline
markup is left out as far as it is code and not text (`<x/>`, `<ph>`, `<bpt>`, ...), as is text that a tracked change
has deleted: they are never marked, and offsets count the text without them. Units with `translate="no"` are left out,
as are those without a translation, which are counted; with `ReadOptions.untranslated` they are blank translations. A
target of white space is no translation, nor is one that the file calls unfinished: fuzzy in PO; in XLIFF, with the
state new, initial, needs-translation, needs-l10n or needs-adaptation.

Each plural form of PO is a unit. The source is `msgid` for the form that `Plural-Forms` selects for the number 1, which
is form 0 if the header does not say it, and `msgid_plural` for the others, or for the only one. As for GNU gettext, a
form may leave out the number if it is for fewer than five numbers, or if the header does not say what it is for.

Errors are written into a copy of the file that the texts came from, which `--template` names. Every other byte is as it
was, but the notes of a model or check replace those of an earlier one, whose comments they take over. What a person has
noted in the file is not noted again; another rating of the same text by the same person is an error. Each rating
becomes a note at its unit (`notes`). If one rater has rated all units, the header names the rater, and error-free units
get no note. Notes are read again as ratings; what is not understood of them, or an unknown state, is reported, and its
unit is never free of errors. A unit that has no rating is a segment without spans, and gets no note. In XLIFF, the
errors that translate5 has marked in the texts (`mqm_tags`) are ratings, too; corrections leave its tags in the file.
Placeholders that stand in the text itself (`%s`, `{0}`, `<b>`, `&amp;`) are not marked: spans of nothing else are left
out, and counted. Confidences are rounded to a percent.

The language pair is what the file says of its languages: in PO, `Language:` and `X-Source-Language:`, without which the
source is that of `--lang-pair`, or English. Texts are not written, but must be those of the template.

A document type declaration, which could define entities, is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from matese import mqm
from matese.annotation import AnnotationError, Placed, Rating, Segment, SegmentKey
from matese.errors import FormatError, InputError, counted
from matese.files import UTF16_MARKS, name_of, open_binary, whole
from matese.formats import corrections, mqm_tags, signs, unit_states
from matese.formats.capabilities import Capabilities
from matese.formats.format import STRICT, ReadOptions, WriteOptions
from matese.formats.localisation import key_files, notes, po, subtitles, xliff
from matese.formats.localisation.units import LocalisationFile, Unit
from matese.formats.row_issues import RowIssues, located
from matese.formats.signs import FileHead
from matese.formats.tables.headings import COMMENT, CORRECTED
from matese.text import languages
from matese.text.placeholders import number_placeholders, placeholders

CONTEXT = "context"
"""The other column that holds what the file says to translators."""
CAPABILITIES = Capabilities(
    lacks=("no_spans", "empty_texts"),
    key=("lang_pair", "index"),
    references=0,
    scales=(),
    needs=("source",),
    columns=(COMMENT, CONTEXT, CORRECTED),
    details=("rule", "words", "reason", "correction"),
    texts=True,
)
CAPABILITIES_vtt = replace(
    CAPABILITIES,
    lacks=("no_spans", "empty_texts", "source", "source_errors", "omissions"),
    key=("index",),
    needs=(),
    columns=(COMMENT, CORRECTED),
)
CAPABILITIES_srt = CAPABILITIES_vtt
CAPABILITIES_android = replace(CAPABILITIES, columns=(CONTEXT, CORRECTED))
CAPABILITIES_xcstrings = CAPABILITIES_android
CAPABILITIES_i18n_json = CAPABILITIES_android

_HEAD_BYTES = 1 << 12


def adapt(rating: Rating, losses: Counter[str]) -> Rating:
    """Returns the rating without a model's spans of placeholders alone, and with rounded confidences."""
    codes = placeholders(rating.segment.hypothesis)
    errors = rating.errors  # None stays None: no answer is not "no errors"
    if errors is not None:
        kept = [e for e in errors if e.rule or not any(start <= e.start and e.end <= end for start, end in codes)]
        if len(kept) < len(errors):
            losses["spans of placeholders alone"] += len(errors) - len(kept)
        errors = tuple(map(_rounded, kept))
    return replace(
        rating,
        errors=errors,
        source_errors=tuple(map(_rounded, rating.source_errors)),
        omissions=tuple(map(_rounded, rating.omissions)),
    )


def _rounded(error: Placed) -> Placed:
    return replace(error, confidence=None if error.confidence is None else round(error.confidence, 2))


def save(ratings: Iterable[Rating], path: Path, writing: WriteOptions, *, as_srt: bool = False) -> None:
    """Writes a copy of the template with a note of each rating, or with the corrected translations alone."""
    if writing.template is None:
        raise InputError("the output is a copy of the file that the texts come from: name that with --template FILE")
    template = _open(writing.template, as_srt=as_srt)
    by_unit: dict[int, list[Rating]] = {}
    rated: dict[int, list[Rating]] = {}
    n_comments = 0
    for rating in ratings:
        key = rating.segment.key or SegmentKey()
        index = -1 if key.index is None else key.index
        unit = template.units.get(index)
        stated = None if unit is None else unit.lang_pair
        if key.lang_pair and stated and not languages.agree(key.lang_pair, stated):
            problem = f"{rating.segment.label} is {key.lang_pair} and {writing.template} {stated}"
            raise InputError(f"{problem}: must be of one language pair")
        # What a person has corrected may be in the file already.
        written = (rating.segment.hypothesis, corrections.corrected(rating.segment))
        if unit is None or not unit.is_translated or unit.target not in written:
            line = rating.segment.line
            place = rating.segment.label + ("" if line is None else f" (row {line} of the ratings)")
            allowed = f"must be as it was read, numbered by its unit; a corrected text goes into a column {CORRECTED!r}"
            raise InputError(f"{place} is not the target of a unit of {writing.template}: {allowed}")
        by_unit.setdefault(index, []).append(rating)
        if rating.errors is not None:
            rated.setdefault(index, []).append(rating)
        elif corrections.comment_of(rating.segment):
            n_comments += 1
    translations = _translations(by_unit)
    if not template.holds_notes:
        path.write_bytes(template.correct(_new(template, translations, writing)))
        return
    template = _corrected(template, translations, writing)
    if writing.corrections_only:  # notes of a model would be of the old words
        path.write_bytes(_without_ours(template, writing)[0].add({}))
    else:
        if n_comments:
            writing.report(f"{counted(n_comments, 'comment')} on translations that nobody has rated, left out")
        path.write_bytes(_with_notes(template, rated, translations, writing))


def _with_notes(
    template: LocalisationFile,
    by_unit: Mapping[int, Sequence[Rating]],
    translations: Mapping[int, str],
    writing: WriteOptions,
) -> bytes:
    """Returns the corrected template with a note of each rating."""
    by_unit = {
        # Codes that a correction names are none of its text.
        index: [
            corrections.applied(rating, template.units[index].target if index in translations else None)
            for rating in of_unit
        ]
        for index, of_unit in by_unit.items()
    }
    raters = {rating.rater for of_unit in by_unit.values() for rating in of_unit}
    comments: Mapping[int, Sequence[str]] = {}
    if any(map(mqm.is_signature, raters)):
        template, comments = _without_ours(template, writing)
    rated = _without_those_of(template, by_unit, writing)
    is_single = len(raters) == 1 and all(len(of_unit) == 1 for of_unit in rated.values())
    is_whole = is_single and rated.keys() == {index for index, unit in template.units.items() if unit.is_translated}
    in_header = is_whole and template.has_header and not any(notes.split(template.header))
    texts = {
        index: [
            notes.write(rating, template.units[index].form, names_rater=not in_header)
            for rating in of_unit
            if rating.all_errors or corrections.comment_of(rating.segment) or comments.get(index) or not in_header
        ]
        for index, of_unit in rated.items()
    }
    for index, lines in comments.items():
        if index in texts and not any(corrections.comment_of(rating.segment) for rating in rated[index]):
            texts[index][-1] = "\n".join([texts[index][-1], *lines])
    if in_header:
        texts[-1] = [notes.of_file(*raters)]
    return template.add({index: unit_notes for index, unit_notes in texts.items() if unit_notes})


def _translations(by_unit: Mapping[int, Sequence[Rating]]) -> dict[int, str]:
    """Returns the corrected translations by the number of their unit.

    Raises:
        InputError: if two raters have corrected a translation differently.
    """
    translations: dict[int, str] = {}
    for index, of_unit in by_unit.items():
        corrected = {text for rating in of_unit if (text := corrections.corrected(rating.segment)) is not None}
        if len(corrected) > 1:
            problem = f"{of_unit[0].segment.label} has {len(corrected)} corrected translations"
            raise InputError(f"{problem}: must be one; keep the ratings of one rater")
        if corrected:
            translations[index] = corrected.pop()
    return translations


def _new(template: LocalisationFile, translations: Mapping[int, str], writing: WriteOptions) -> dict[int, str]:
    """Returns the corrected translations that the template lacks."""
    new = {index: text for index, text in translations.items() if template.units[index].target != text}
    if new or writing.corrections_only:
        writing.report(f"{counted(len(new), 'translation')} corrected")
    return new


def _corrected(template: LocalisationFile, translations: Mapping[int, str], writing: WriteOptions) -> LocalisationFile:
    """Returns the template with the corrected translations, as far as it lacks them.

    Raises:
        InputError: if one of them has a tag of an inline code without its end, or across others.
    """
    new = _new(template, translations, writing)
    if not new:
        return template
    assert writing.template is not None
    try:
        return _parsed(template.correct(new), writing.template)
    except FormatError as error:
        allowed = "a correction must have both tags of an inline code, around whole others"
        raise InputError(f"the corrected {writing.template} would not be XML ({error.problem}): {allowed}") from None


def _without_those_of(
    template: LocalisationFile, rated: Mapping[int, Sequence[Rating]], writing: WriteOptions
) -> dict[int, Sequence[Rating]]:
    """Returns the ratings that the template does not hold yet.

    Raises:
        InputError: if it holds another rating of the same text by the same rater: none could be told to be the last.
    """
    assert writing.template is not None
    raters = notes.raters_of_file(template.header, RowIssues(name_of(writing.template), _ignore, 1))
    new: dict[int, Sequence[Rating]] = {}
    n_held = 0
    for index, of_unit in rated.items():
        unit = template.units[index]
        issues = RowIssues(name_of(writing.template), _ignore, unit.line)
        of_template = _ratings(unit, of_unit[0].segment, raters, issues, only_texts=True)
        noted = {rating.rater: rating for rating in of_template if raters or unit.notes or unit.with_issues}
        for rating in of_unit:
            if rating.rater in noted and _written(noted[rating.rater], unit) != _written(rating, unit):
                problem = (
                    f"{unit.kind} {unit.name} of {writing.template} has another note by {rating.rater or 'nobody'}"
                )
                raise InputError(f"{problem}: remove it there, or write the file that has no notes yet")
        left = [rating for rating in of_unit if rating.rater not in noted]
        n_held += len(of_unit) - len(left)
        if left:
            new[index] = left
    if n_held:
        writing.report(f"{counted(n_held, 'rating')} that the file has already, not written again")
    return new


def _written(rating: Rating, unit: Unit) -> str:
    """Returns the note of a rating, whose errors may stand in any order."""
    return "\n".join(sorted(notes.write(rating, unit.form).split("\n")))


def _ignore(_: object) -> None:
    """Reports nothing: whoever reads the file is told."""


def _without_ours(
    template: LocalisationFile, writing: WriteOptions
) -> tuple[LocalisationFile, dict[int, Sequence[str]]]:
    """Returns the template without the notes of earlier models and checks, and their comments by the unit's number."""
    of_file = notes.name_in(template.header)
    ours = {
        index: [note for note in unit.notes if notes.is_ours(note, of_file)] for index, unit in template.units.items()
    }
    if n := sum(map(len, ours.values())):
        writing.report(f"{counted(n, 'note')} of an earlier model or check replaced")
    comments = {
        index: [line for note in of_unit for line in notes.comment_lines(note)] for index, of_unit in ours.items()
    }
    assert writing.template is not None
    return _parsed(template.without_ours(), writing.template), {
        index: lines for index, lines in comments.items() if lines
    }


def read(path: str | Path, reading: ReadOptions = STRICT) -> Iterator[Rating]:
    """Yields the ratings of each unit, in its notes or the file's header; without one, its texts, without spans."""
    source_lang = reading.lang_pair.partition("-")[0] if reading.lang_pair else "en"
    file = _open(path, source_lang)
    for remark in file.remarks:
        RowIssues(name_of(path), reading.report, 1).assume(remark)
    if file.lacks_source_lang and not reading.lang_pair:
        target = next((unit.lang_pair.partition("-")[2] for unit in file.units.values() if unit.lang_pair), "it")
        example, name = ("fr", "French") if target.partition("_")[0] == "de" else ("de", "German")
        ways = f"--lang-pair {example}-{target}, or X-Source-Language: {example} in its header, if it is {name}"
        RowIssues(name_of(path), reading.report, 1).assume(
            f"the source language is not named: English is assumed ({ways})"
        )
    with located(path, None):
        of_file = notes.raters_of_file(file.header, RowIssues(name_of(path), reading.report, 1))
    for line in file.obsolete:
        RowIssues(name_of(path), reading.report, line).skip("note of a text that is no longer used", None)
    is_rated = bool(of_file) or any(unit.notes for unit in file.units.values())
    for index, unit in file.units.items():
        issues = RowIssues(name_of(path), reading.report, unit.line)
        segment = Segment(
            unit.target if unit.is_translated else "",
            unit.source,
            key=SegmentKey(lang_pair=unit.lang_pair, index=index),
            line=unit.line or None,
            name=f"{unit.kind} {unit.name}",
            may_lack=number_placeholders(unit.source or "") if unit.is_for_one else (),
            extra={CONTEXT: unit.context} if unit.context else None,
            codes=unit.codes if unit.is_translated else None,
            ignored_rules=unit.ignored_rules,
            placeholder_kinds=unit.placeholder_kinds,
        )
        if unit.is_translated:
            yield from _ratings(unit, segment, of_file, issues, only_texts=reading.only_texts)
        elif not reading.untranslated:
            missing = unit_states.NOT_TRANSLATED if unit.line else unit_states.NOT_THERE
            reason = missing if unit.is_finished else unit_states.NOT_FINISHED
            issues.skip(reason, None)
        elif is_rated:
            rater = of_file[0] if of_file else None
            yield Rating(segment, rater, (), unplaced=(mqm.NON_TRANSLATION,))
        else:
            yield Rating(segment, None, None)


def _ratings(
    unit: Unit, segment: Segment, of_file: Sequence[str | None], issues: RowIssues, *, only_texts: bool
) -> Iterator[Rating]:
    """Yields the ratings of a translated unit, or its texts; `of_file` is the rater of all units, if there is one."""
    for reason, allowed in unit.not_understood:
        issues.ignore(reason, allowed)
    try:
        rater = of_file[0] if of_file else None
        ratings = []
        for note in unit.notes:
            try:
                ratings.append(notes.read(note, segment, issues, of_file=rater))
            except notes.OutdatedNoteError:
                if not only_texts:
                    raise
                issues.ignore("note of an older text", None)
        if of_file and all(note.rater for note in unit.notes):
            is_understood = not unit.not_understood and all(rating.errors is not None for rating in ratings)
            ratings.insert(0, Rating(segment, rater, () if is_understood else None))
        if unit.not_understood:  # no note makes it free of errors
            ratings = [rating if rating.all_errors else replace(rating, errors=None) for rating in ratings]
        if unit.with_issues is not None:
            source, target = unit.with_issues
            ratings += mqm_tags.ratings(Rating(replace(segment, hypothesis=target, source=source), None, None))
        yield from ratings or [Rating(segment, None, None)]
    except FormatError:
        raise
    except (InputError, AnnotationError) as error:
        name = unit.name.removesuffix(f" (line {unit.line})")  # which the error has as its place
        raise FormatError(issues.path, unit.line, f"{unit.kind} {name}: {error}") from None


save_srt = partial(save, as_srt=True)


def _open(path: str | Path, source_lang: str | None = None, *, as_srt: bool = False) -> LocalisationFile:
    with open_binary(path, keeps_utf16=True) as stream:
        return _parsed(whole(stream, name_of(path)), path, source_lang, as_srt=as_srt)


def _parsed(raw: bytes, path: str | Path, source_lang: str | None = None, *, as_srt: bool = False) -> LocalisationFile:
    is_utf16 = raw.startswith(UTF16_MARKS)
    head = FileHead(Path(path).name, raw[:_HEAD_BYTES].decode("utf-16" if is_utf16 else "utf-8-sig", "replace"))
    is_xml = head.text.lstrip().startswith("<")
    if is_utf16 and not is_xml:
        raw = raw.decode("utf-16").encode()
    if signs.is_srt(head) or signs.is_vtt(head):
        return subtitles.parse(raw, path, as_srt=as_srt)
    with located(path, None):
        if signs.is_keyed(head):
            return key_files.parse(raw, path, source_lang)
        return xliff.parse(raw, path) if is_xml else po.parse(raw, path, source_lang)
