from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

import matese
from docs import rating_schema
from matese import mqm
from matese.annotation import Estimate, Rating, Segment
from matese.errors import UsageError
from matese.formats.tables import jsonl
from matese.tasks import compare, gate, report, tag
from tests.evaluation.material import major
from tests.tasks.conftest import do, refusal, write
from tests.tasks.material.gate import write_files


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


def test_segments_to_blame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_TOP", 2)
    ran = do(gate, max_major_per_1k=5, min_score=-1, ratings=["bad.jsonl"])
    assert ran.out.splitlines()[0].startswith("10 segments: score -1.20 [-")
    assert ran.out.splitlines()[1:] == [
        "FAIL  Major errors per 1,000 words 50.00 (at most 5)",
        '      segment 8: Major "Das", Major " is"',
        "FAIL  score -1.20 (at least -1)",
        '      segment 8: -10.00; Major "Das", Major " is"',
        '      segment 3: -1.00; Minor "Das"',
        "      and 1 more segment",
    ]


def test_significantly_worse(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_TOP", 1)
    ran = do(gate, baseline="good.jsonl", json="g.json", ratings=["worse.jsonl"])
    assert not ran.result.passed
    _, first, *rest = ran.out.splitlines()
    assert first.startswith("FAIL  score minus that of good -5.00 (significantly below 0, p = .0")
    assert rest == ['      segment 1: -5.00; Major "Das"', "      and 9 more segments"]
    report = json.loads((folder / "g.json").read_text(encoding="utf-8"))
    (check,) = report["checks"]
    assert (report["passed"], check["check"], check["n_blamed"]) == (False, "baseline", 10)
    assert check["p"] < 0.05


def test_not_significant_at_this_level(folder: Path) -> None:
    # All of 10 signs are alike by chance in 2 of 1024 cases.
    result = matese.gate("worse.jsonl", baseline="good.jsonl", limits=matese.GateLimits(alpha=0.001))
    notice = "the scores of 10 segments differ: too few for any loss to be significant at alpha 0.001"
    assert (result.passed, [check.notice for check in result.checks][-1]) == (True, notice)
    with pytest.raises(UsageError, match="alpha 1e-07 needs 19,999,999 permutations; it must be 2e-06 or more"):
        matese.gate("good.jsonl", baseline="bad.jsonl", limits=matese.GateLimits(alpha=1e-7))


def test_blank_translations_fail_with_every_limit(folder: Path) -> None:
    for name, hypothesis, source in (("blank", " ", "Der Tag"), ("nothing", "", "")):
        lines = [Rating(Segment(hypothesis, source), "m", ()), Rating(Segment("The night", "Die Nacht"), "m", ())]
        write(folder / f"{name}.jsonl", *map(jsonl.dumps, lines))
    for limit in ({"min_score": -3}, {"max_major_per_1k": 500}):
        ran = do(gate, ratings=["blank.jsonl"], **limit)
        assert not ran.result.passed
        assert ran.out.splitlines()[-2:] == ["FAIL  blank translations 1 (at most 0)", "      line 1: -"]
        assert do(gate, max_blank=1, ratings=["blank.jsonl"], **limit).result.passed
        assert do(gate, ratings=["nothing.jsonl"], **limit).result.passed


def test_an_empty_file_breaks_every_limit(folder: Path) -> None:
    segment = Segment("", "Der Tag")
    write(folder / "blank.jsonl", jsonl.dumps(Rating(segment, "m", (), unplaced=(mqm.NON_TRANSLATION,))))
    for limit in ({"min_score": -24}, {"max_major_per_1k": 999}, {"max_errors_per_1k": 9}):
        ran = do(gate, max_blank=1, json="g.json", ratings=["blank.jsonl"], **limit)
        assert (ran.result.passed, ran.out.count("FAIL")) == (False, 1)


def test_expected_scores_decide_if_there_are_any(folder: Path) -> None:
    lines = [Rating(Segment("Das"), "m", (major(0, 3),), estimate=Estimate(-1.0, "mqm"))] * 8
    write(folder / "expected.jsonl", *map(jsonl.dumps, lines))
    ran = do(gate, min_score=-2, ratings=["expected.jsonl"])
    assert (ran.result.passed, ran.out.splitlines()) == (
        True,
        [
            "8 segments: score -5.00 [-5.00, -5.00], expected score -1.00 [-1.00, -1.00]",
            "PASS  expected score -1.00 (at least -2)",
        ],
    )
    assert not do(gate, min_score=-2, by="spans", ratings=["expected.jsonl"]).result.passed
    assert refusal(gate, min_score=-2, by="expected", ratings=["good.jsonl"]).startswith("rating of segment 1")


@pytest.mark.parametrize(
    ("system", "baseline", "words"),
    [
        ("good", "worse", "significantly above"),
        ("worse", "good", "significantly below"),
        ("bad", "good", "not "),
        ("bad", "same", "not significantly below 0, p = 1.000"),
    ],
)
def test_words_and_names_of_a_comparison(folder: Path, system: str, baseline: str, words: str) -> None:
    write(folder / "same.jsonl", *(folder / "bad.jsonl").read_text().splitlines())
    ran = do(gate, baseline=f"{baseline}.jsonl", json="g.json", ratings=[f"{system}.jsonl"])
    assert f"({words}" in ran.out
    report = json.loads((folder / "g.json").read_text())
    assert (report["ratings"], report["baseline"]) == (system, baseline)


def test_json_follows_the_schema(folder: Path) -> None:
    """The published schema is that of the types, and what is written follows it."""
    path = Path(matese.__file__).parent / "formats" / "results.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    assert schema == rating_schema.schema_of_results(), "run docs/rating_schema.py"
    validator = jsonschema.Draft202012Validator(schema)
    do(gate, baseline="good.jsonl", min_score=-1, json="g.json", ratings=["worse.jsonl"])
    do(compare, bootstrap=20, json="c.json", ratings=["worse.jsonl", "good.jsonl"])
    for name in ("g.json", "c.json"):
        report = json.loads((folder / name).read_text(encoding="utf-8"))
        validator.validate(report)
        assert list(report)[:3] == ["version", "signature", "model"]
        assert (report["signature"], report["model"]) == ("m", None)
        with pytest.raises(jsonschema.ValidationError):
            validator.validate({key: value for key, value in report.items() if key != "version"})


def test_junit_has_a_case_for_each_limit(folder: Path) -> None:
    ran = do(gate, max_errors_per_1k=100, min_score=-1, junit="g.xml", ratings=["bad.jsonl"])
    assert (ran.result.passed, ran.out.count("FAIL")) == (False, 1)
    (suite,) = ElementTree.parse(folder / "g.xml").getroot()
    cases = {case.get("name"): [failure.get("message") for failure in case] for case in suite.iter("testcase")}
    assert cases == {"max-errors-per-1k": [], "min-score": ["score -1.20 (at least -1)"]}
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("bad", "2", "1")
    printed = do(gate, min_score=-1, junit="-", ratings=["good.jsonl"]).out
    assert ElementTree.fromstring(printed.encode()).get("failures") == "0"


def test_inconsistent_translations_of_a_file_are_told(folder: Path) -> None:
    header = 'msgid ""\nmsgstr "Language: de\\nContent-Type: text/plain; charset=UTF-8\\n"\n'
    units = [
        f'msgctxt "{place}"\nmsgid "Save"\nmsgstr "{text}"\n' for place, text in (("a", "Sichern"), ("b", "Speichern"))
    ]
    write(folder / "de.po", header, *units, 'msgid "Save"\nmsgstr "Sichern"\n')
    told = "source has several translations"
    assert told not in do(gate, input=["de.po"], max_findings=0, checks="only").told
    write(folder / "de.po", header, *units, 'msgctxt "a"\nmsgid "Save "\nmsgstr "Sicher"\n')
    ran = do(gate, input=["de.po"], max_findings=0, checks="only")
    assert f"""1 {told}, such as "Save" (unit 'Save' (line 4)): "Sichern", "Sicher"\n""" in ran.told
    assert ran.result.passed
    do(tag, input=["de.po"], checks="only", format="jsonl", output="de.jsonl")
    assert told in do(report, ratings=["de.jsonl"], summary=True, output="-").out


def test_a_unit_without_an_answer_does_not_pass(folder: Path) -> None:
    """What a language model failed on has no spans: unknown is not free of errors."""
    write(folder / "asked.jsonl", '{"hypothesis": "Tag", "errors": []}', '{"hypothesis": "Nacht", "errors": null}')
    for limit in ({"max": ["critical=0"]}, {"max_blank": 0}, {"max_findings": 0}):
        assert "rating of line 2 ('Nacht') has no spans" in refusal(gate, ratings=["asked.jsonl"], **limit)
