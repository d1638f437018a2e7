"""The same component as PO, XLIFF and CSV says the same of each unit: translated, not finished, or not translated."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from matese.formats import detection
from matese.formats.format import ReadOptions
from matese.formats.row_issues import RowIssue

# Source, translation, whether it is finished.
UNITS = (("Open", "Öffnen", True), ("Close", "Schliessen", False), ("Save", "", True), ("Help", " ", True))
PO = 'msgid ""\nmsgstr "Language: de\\nX-Source-Language: en\\nContent-Type: text/plain; charset=UTF-8\\n"\n'
XLIFF_1 = (
    '<xliff version="1.2"><file source-language="en" target-language="de" original="x" datatype="x"><body>{}</body>'
    "</file></xliff>"
)
UNIT_1 = '<trans-unit id="{0}"><source>{2}</source><target state="{1}">{3}</target></trans-unit>'
XLIFF_2 = '<xliff version="2.0" srcLang="en" trgLang="de"><file id="f">{}</file></xliff>'
UNIT_2 = '<unit id="{0}"><segment state="{1}"><source>{2}</source><target>{3}</target></segment></unit>'


def po() -> str:
    flags = {True: "", False: "#, fuzzy\n"}
    return PO + "".join(f'\n{flags[done]}msgid "{source}"\nmsgstr "{target}"\n' for source, target, done in UNITS)


def xliff(file: str, unit: str, states: tuple[str, str]) -> str:
    units = (unit.format(n, states[done], source, target) for n, (source, target, done) in enumerate(UNITS))
    return file.format("".join(units))


def table(column: str, yes: str, no: str, delimiter: str = ",") -> str:
    file = io.StringIO()
    rows = csv.writer(file, delimiter=delimiter)
    rows.writerow(["location", "source", "target", "id", column, "context"])
    rows.writerows(["", source, target, "", yes if done else no, ""] for source, target, done in UNITS)
    return file.getvalue()


FILES = {
    "x.po": po(),
    "one.xlf": xliff(XLIFF_1, UNIT_1, ("needs-translation", "translated")),
    "two.xlf": xliff(XLIFF_2, UNIT_2, ("initial", "translated")),
    "weblate.csv": table("fuzzy", "", "True"),  # as Weblate exports it
    "state.csv": table("State", "translated", "needs-translation", ";"),
    "state.tsv": table("state", "final", "initial", "\t"),
}


@pytest.mark.parametrize("untranslated", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_a_component_says_the_same_in_every_format(tmp_path: Path, name: str, untranslated: bool) -> None:
    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8")
    issues: list[RowIssue] = []
    options = ReadOptions(issues.append, lang_pair="en-de", untranslated=untranslated)
    ratings = list(detection.read(path, options))
    texts = [(rating.segment.source, rating.segment.hypothesis, rating.errors) for rating in ratings]
    left_out = ["unit whose translation is not finished", *["unit without a translation"] * 2]
    if untranslated:  # as `gate` and `compare` read them
        assert texts == [("Open", "Öffnen", None), ("Close", "", None), ("Save", "", None), ("Help", "", None)]
        assert issues == []
    else:
        assert texts == [("Open", "Öffnen", None)]
        assert [issue.reason for issue in issues if issue.kind == "skipped"] == left_out


@pytest.mark.parametrize("value", ["California", "0", "translated", ""])
def test_other_states_say_nothing(tmp_path: Path, value: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"source,target,state\nOpen,Öffnen,{value}\n", encoding="utf-8")
    assert len(list(detection.read(path, ReadOptions()))) == 1


def test_without_a_column_of_states_an_empty_translation_is_a_blank_one(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("source,target,note\nOpen,,x\n", encoding="utf-8")
    assert [rating.segment.hypothesis for rating in detection.read(path, ReadOptions())] == [""]
