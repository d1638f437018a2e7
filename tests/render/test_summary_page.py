"""The summary for a customer: its counts, its words in each language, and its worst segments."""

from __future__ import annotations

import ast
import datetime
import gettext
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import matese
from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey, Severity, UnplacedError
from matese.checks import checker
from matese.errors import InputError, UsageError
from matese.formats.localisation import translation_files
from matese.render import catalogue, summary_page

MODULE = Path(summary_page.__file__)
CATALOGUES = sorted((MODULE.parent / "languages").glob("*.po"))
NEUTRAL, MINOR, MAJOR, CRITICAL = Severity


def rating(index: int, hypothesis: str, *errors: ErrorSpan, rater: str | None = "anna") -> Rating:
    return Rating(Segment(hypothesis, "Source <b>", key=SegmentKey(index=index)), rater, errors)


RATINGS = [
    rating(0, "Eins <b> zwei drei", ErrorSpan(0, 4, MINOR), ErrorSpan(2, 8, MAJOR, "Accuracy")),
    rating(1, "Gut gut"),
    replace(rating(2, "Vier", ErrorSpan(0, 4, CRITICAL)), omissions=(Omission("source", None, 0, 6, MINOR),)),
    replace(rating(3, "Acht", ErrorSpan(0, 4, NEUTRAL)), unplaced=(UnplacedError(MINOR, "Omission"),)),
    replace(rating(4, "Neun"), errors=None),
]


def calls() -> set[tuple[str, ...]]:
    """The texts of the module and its template that are translated, with their plural."""
    found: set[tuple[str, ...]] = {summary_page.SERIOUS_ERRORS}
    constants = (summary_page.SCALE, summary_page.NOTE, *summary_page.CATEGORIES)
    of_severities = (*summary_page.LABELS.values(), *summary_page.WORST.values())
    template = (MODULE.parent / "pages" / summary_page.TEMPLATE).read_text(encoding="utf-8")
    in_template = re.findall(r'words\.text\("(.*?)"\)', template)
    found |= {(text,) for text in (*constants, *of_severities, *in_template)}
    for node in ast.walk(ast.parse(MODULE.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("text", "counted")
            and (given := tuple(str(one.value) for one in node.args if isinstance(one, ast.Constant)))
        ):
            found.add(given)
    return found


def cells(page: str) -> list[list[str]]:
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", page)
    return [re.findall(r">([^<>]+)</t[hd]>", row) for row in rows]


def test_each_error_counts_once() -> None:
    page = summary_page.render(RATINGS, title="fr.po")
    assert '<p class="verdict">2 of 4 segments have a serious error (Major or Critical).</p>' in page
    assert cells(page) == [
        ["Severity", "Errors", "per 1,000 words"],
        ["Critical", "1", "125.0"],
        ["Major", "1", "125.0"],
        ["Minor", "3", "375.0"],
        ["Remark", "1", "125.0"],
        ["Total", "5", "625.0"],
        ["no error", "1"],
        ["only Minor errors", "1"],
        ["worst error is Major", "1"],
        ["worst error is Critical", "1"],
        ["not checked", "1"],
    ]


def test_the_worst_segments_come_first_and_texts_are_no_markup() -> None:
    page = summary_page.render(RATINGS, title="<i>")
    places = re.findall(r'<p class="place"[^>]*>(.*?)</p>', page)
    assert places[-1] == "Segment 4"
    assert sorted(places) == ["Segment 1", "Segment 3", "Segment 4"]
    marked = '<mark class="minor">Ei</mark><mark class="major">ns</mark><mark class="major"> &lt;b&gt;</mark> zwei drei'
    assert marked in page
    assert "missing in the translation: \u201cSource\u201d" in page
    assert "<i>" not in page
    assert "<b>" not in page


@pytest.mark.parametrize(
    ("ratings", "verdict"),
    [
        (RATINGS[1:2], "No error is marked in any segment."),
        (RATINGS[3:4], "No serious error is marked; 1 of 1 segment has minor errors."),
        ([rating(0, "Ein", ErrorSpan(0, 3, None))], "1 mark is undecided and not in the score."),
        (RATINGS[:1], "1 of 1 segment has a serious error (Major or Critical)."),
    ],
)
def test_verdicts(ratings: list[Rating], verdict: str) -> None:
    assert f'<p class="verdict">{verdict}</p>' in summary_page.render(ratings, title="a")


def test_an_undecided_segment_is_not_free_of_errors() -> None:
    page = summary_page.render([rating(0, "Ein", ErrorSpan(0, 3, None)), rating(1, "Gut")], title="a")
    assert ["no error", "1"] in cells(page)
    assert ["undecided", "1"] in cells(page)


def test_marks_of_a_program_are_said_to_be_unconfirmed() -> None:
    sentence = "no person confirmed them"
    assert sentence not in summary_page.render(RATINGS, title="a")
    by_program = [replace(one, rater="matese|model:mini") for one in RATINGS]
    assert sentence in summary_page.render(by_program, title="a")


@pytest.mark.parametrize(
    ("ratings", "problem"), [([RATINGS[4]], "holds no marks"), ([*RATINGS, RATINGS[0]], "several ratings of segment 1")]
)
def test_what_cannot_be_summed_up_is_refused(ratings: list[Rating], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        summary_page.render(ratings, title="a")


def test_one_system_in_one_language() -> None:
    assert "Übersetzungsqualität" in matese.report({"A": RATINGS}, summary=True, lang="de")
    with pytest.raises(UsageError, match="language"):
        matese.report({"A": RATINGS}, summary=True, lang="xx")


def test_several_systems_and_languages_are_a_table() -> None:
    def in_language(pair: str, *ratings: Rating) -> list[Rating]:
        return [
            replace(one, segment=replace(one.segment, key=replace(one.segment.key or SegmentKey(), lang_pair=pair)))
            for one in ratings
        ]

    undecided = rating(1, "Gut gut", ErrorSpan(0, 3, None))
    systems = {
        "A": [*in_language("en-de", *RATINGS), *in_language("en-ja", RATINGS[1])],
        "B": in_language("en-de", RATINGS[0], undecided),
    }
    page = str(matese.report(systems, summary=True))
    header, *rows = cells(page)
    assert header == ["System", "Languages", "Segments", "Errors", "Major", "MQM score", "undecided", "not checked"]
    # Rates are per 1,000 words of the source, which is "Source <b>".
    assert [[*row[:3], row[3].partition(" ")[0], row[4].partition(" ")[0], *row[6:]] for row in rows] == [
        ["A", "English → German", "4", "625.0", "250.0", "0", "1"],
        ["A", "English → Japanese", "1", "0.0", "0.0", "0", "0"],
        ["B", "English → German", "2", "500.0", "250.0", "1", "0"],
    ]
    assert re.fullmatch(r"[\d.]+ \[[\d.]+,\xa0[\d.,]+\]", rows[0][3])
    assert "1 mark is undecided and not in the score." in page


def test_names_quotes_and_categories_are_in_the_language_of_the_page() -> None:
    named = replace(RATINGS[0], segment=replace(RATINGS[0].segment, name="line 1"))
    wrong = replace(
        named, errors=(ErrorSpan(0, 4, MAJOR, "Accuracy/Untranslated_text"), ErrorSpan(5, 6, MINOR, "Ours"))
    )
    page = summary_page.render([wrong], title="a", language="de")
    assert "Segment 1" in page
    assert "line 1" not in page
    assert "Schwer, Genauigkeit/Unübersetzter Text: „Eins“" in page
    assert "Leicht, Ours: „&lt;“" in page


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("en", ("English \u2192 German (Austria)", "March 1, 2026", "(empty)", "Non-translation")),
        ("de", ("Englisch \u2192 Deutsch (Österreich)", "1. März 2026", "(leer)", "Keine Übersetzung")),
        ("es", ("inglés \u2192 alemán (Austria)", "1 de marzo de 2026", "(vacío)", "No es una traducción")),
        ("fr", ("anglais \u2192 allemand (Autriche)", "1 mars 2026", "(vide)", "Absence de traduction")),
        ("zh", ("英语 \u2192 德语（奥地利）", "2026年3月1日", "（空）", "非译文")),
    ],
)
def test_languages_dates_and_empty_translations(language: str, shown: tuple[str, ...]) -> None:
    signature = "matese|model:mini|input:source"
    segment = Segment(" ", "Source", key=SegmentKey(lang_pair="en-de_AT", index=0))
    blank = Rating(segment, signature, (), unplaced=(UnplacedError(MAJOR, "Non-translation"),))
    page = summary_page.render([blank], title="a", language=language, day=datetime.date(2026, 3, 1))
    assert [text for text in shown if text not in page] == []
    assert "en-de" not in page
    assert signature not in page.partition("<footer>")[0]
    assert signature in page.partition("<footer>")[2]


def test_there_is_a_catalogue_for_each_language() -> None:
    assert {"en", *(path.stem for path in CATALOGUES)} == set(catalogue.LANGUAGES)


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_our_reader_finds_every_text_translated_and_no_faulty_placeholder(path: Path) -> None:
    ratings = list(translation_files.read(path))
    sources = {one.segment.source for one in ratings}
    texts = calls()
    assert sources <= {text for call in texts for text in call}
    assert all(sources & set(call) for call in texts)
    assert [one.segment.source for one in ratings if checker.check(one.segment).all_errors] == []
    assert {one.segment.key and one.segment.key.lang_pair for one in ratings} == {f"en-{path.stem}"}


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="gettext is not installed")
def test_gettext_finds_the_same(path: Path, tmp_path: Path) -> None:
    compiled = tmp_path / "a.mo"
    subprocess.run(["msgfmt", "--check", "--output-file", str(compiled), str(path)], check=True)
    with compiled.open("rb") as stream:
        oracle = gettext.GNUTranslations(stream)
    words = catalogue.load(path.stem)
    for one, *plural in calls():
        if not plural:
            assert words.text(one) == oracle.gettext(one)
            continue
        for n in (0, 1, 2, 5, 21):
            found = words.counted(one, plural[0], n)
            assert found == oracle.ngettext(one, plural[0], n).replace(catalogue.NUMBER, words.number(n))
