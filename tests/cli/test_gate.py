from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

import matese
from docs import rating_schema
from matese import mqm
from matese.annotation import ErrorFree, Estimate, Rating, Segment, SegmentKey
from matese.errors import UsageError
from matese.formats.tables import jsonl
from matese.tasks import gate
from tests.cli.conftest import Run, write
from tests.evaluation.material import major, minor

# 10 segments of 4 words; one Minor error in two of them, two Major ones in one.
BAD = [
    ((minor(0, 3),) if index in (2, 5) else (major(0, 3), major(8, 11)) if index == 7 else ()) for index in range(10)
]


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    for system, errors in (("good", [()] * 10), ("bad", BAD), ("worse", [(major(0, 3),)] * 10)):
        lines = [
            Rating(Segment("Das Haus ist alt.", key=SegmentKey(system=system, index=index)), "m", own)
            for index, own in enumerate(errors)
        ]
        write(folder / f"{system}.jsonl", *map(jsonl.dumps, lines))


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (("--max-major-per-1k", "50"), 0),  # just met
        (("--max-major-per-1k", "49.9"), 1),
        (("--max-errors-per-1k", "100"), 0),
        (("--max-errors-per-1k", "99"), 1),
        (("--min-score", "-1.2"), 0),
        (("--min-score", "-12e-1"), 0),
        (("--min-score", "-1.1"), 1),
        (("--min-score", "-2", "--max-major-per-1k", "1"), 1),
        (("--baseline", "good.jsonl"), 0),  # three of ten segments are no evidence
        (("--baseline", "worse.jsonl"), 0),
    ],
)
def test_exit_code(run: Run, limits: tuple[str, ...], code: int) -> None:
    ran = run("gate", "bad.jsonl", *limits)
    few = "matese: the scores of 3 segments differ: too few for any loss to be significant at alpha 0.05\n"
    assert (ran.code, ran.err) == (code, few if "good.jsonl" in limits else "")
    assert ran.out.startswith("FAIL") or "\nFAIL" in ran.out or not code


def test_segments_to_blame(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_TOP", 2)
    ran = run("gate", "bad.jsonl", "--max-major-per-1k", "5", "--min-score", "-1")
    assert ran.out.splitlines()[0].startswith("10 segments: score -1.20 [-")
    assert ran.out.splitlines()[1:] == [
        "FAIL  Major errors per 1,000 words 50.00 (at most 5)",
        '      segment 8: Major "Das", Major " is"',
        "FAIL  score -1.20 (at least -1)",
        '      segment 8: -10.00; Major "Das", Major " is"',
        '      segment 3: -1.00; Minor "Das"',
        "      and 1 more segment",
    ]


def test_significantly_worse(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_TOP", 1)
    ran = run("gate", "worse.jsonl", "--baseline", "good.jsonl", "--json", "g.json")
    assert ran.code == 1
    _, first, *others = ran.out.splitlines()
    assert first.startswith("FAIL  score minus that of good -5.00 (significantly below 0, p 0.00")
    assert others == ['      segment 1: -5.00; Major "Das"', "      and 9 more segments"]
    found = json.loads((folder / "g.json").read_text(encoding="utf-8"))
    (check,) = found["checks"]
    assert (found["passed"], check["check"], check["n_blamed"]) == (False, "baseline", 10)
    assert check["p"] < 0.05


def test_not_significant_at_this_level(folder: Path) -> None:
    # All of 10 signs are alike by chance in 2 of 1024 cases.
    result = matese.gate("worse.jsonl", baseline="good.jsonl", alpha=0.001)
    notice = "the scores of 10 segments differ: too few for any loss to be significant at alpha 0.001"
    assert (result.passed, [check.notice for check in result.checks][-1]) == (True, notice)
    with pytest.raises(UsageError, match="alpha 1e-07 needs 19,999,999 permutations; it must be 2e-06 or more"):
        matese.gate("good.jsonl", baseline="bad.jsonl", alpha=1e-7)


def test_blank_translations_fail_with_every_limit(run: Run, folder: Path) -> None:
    for name, hypothesis, source in (("blank", " ", "Der Tag"), ("nothing", "", "")):
        lines = [Rating(Segment(hypothesis, source), "m", ()), Rating(Segment("The night", "Die Nacht"), "m", ())]
        write(folder / f"{name}.jsonl", *map(jsonl.dumps, lines))
    for limit in (("--min-score", "-3"), ("--max-major-per-1k", "500")):
        ran = run("gate", "blank.jsonl", *limit)
        assert ran.code == 1
        assert ran.out.splitlines()[-2:] == ["FAIL  blank translations 1 (at most 0)", "      line 1: -"]
        assert run("gate", "blank.jsonl", *limit, "--max-blank", "1").code == 0
        assert run("gate", "nothing.jsonl", *limit).code == 0


def test_an_empty_file_breaks_every_limit(run: Run, folder: Path) -> None:
    segment = Segment("", "Der Tag")
    write(folder / "blank.jsonl", jsonl.dumps(Rating(segment, "m", (), unplaced=(mqm.NON_TRANSLATION,))))
    for limit in (("--min-score", "-24"), ("--max-major-per-1k", "999"), ("--max-errors-per-1k", "9")):
        ran = run("gate", "blank.jsonl", *limit, "--max-blank", "1", "--json", "g.json")
        assert (ran.code, ran.out.count("FAIL")) == (1, 1)


def test_expected_scores_decide_if_there_are_any(run: Run, folder: Path) -> None:
    lines = [Rating(Segment("Das"), "m", (major(0, 3),), estimate=Estimate(-1.0, "mqm"))] * 8
    write(folder / "expected.jsonl", *map(jsonl.dumps, lines))
    ran = run("gate", "expected.jsonl", "--min-score", "-2")
    assert (ran.code, ran.out.splitlines()) == (
        0,
        [
            "8 segments: score -5.00 [-5.00, -5.00], expected score -1.00 [-1.00, -1.00]",
            "PASS  expected score -1.00 (at least -2)",
        ],
    )
    assert run("gate", "expected.jsonl", "--min-score", "-2", "--by", "spans").code == 1
    assert (
        run("gate", "good.jsonl", "--min-score", "-2", "--by", "expected").refused().startswith("rating of segment 1")
    )


def test_another_signature_is_said_and_refused(run: Run, folder: Path) -> None:
    for precision in ("bf16", "float32"):
        rating = Rating(Segment("Das", key=SegmentKey(index=0)), f"matese|model:a@1|precision:{precision}", ())
        write(folder / f"{precision}.jsonl", jsonl.dumps(rating))
    ran = run("gate", "bf16.jsonl", "--baseline", "float32.jsonl")
    differ = "signatures differ in precision (bf16: bf16; float32: float32)"
    assert (ran.code, ran.err) == (0, f"matese: {differ}: the scores may not be comparable\n")
    ran = run("gate", "bf16.jsonl", "--baseline", "float32.jsonl", "--require-same-signature")
    assert ran.refused() == f"{differ}: must be the same"


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("good.jsonl",), "--min-score"),
        (("good.jsonl", "--min-score", "1"), "min-score 1: "),
        (("good.jsonl", "--max-major-per-1k", "x"), "--max-major-per-1k: 'x'"),
        (("good.jsonl", "--max-major-per-1k", "inf"), "--max-major-per-1k: 'inf'"),
        (("good.jsonl", "--min-error-free", "120%"), "--min-error-free: "),
        (("good.jsonl", "--min-error-free", "half"), "--min-error-free: 'half'"),
        (("good.jsonl", "--min-error-free", "50%"), "has no error_free"),
        (("two.jsonl", "--min-score", "-1"), "good, bad"),
        (("good.jsonl", "--baseline", "empty.jsonl"), "empty has 1 rating and good 10"),
        (("rain.jsonl", "--baseline", "snow.jsonl"), "source is 'snow' in snow and"),
        (("good.jsonl", "--baseline", "no.jsonl"), "--baseline no.jsonl: "),
        (("good.jsonl", "--baseline", "good.jsonl"), "only the baseline, good"),
        (("good.jsonl", "--baseline", "da.jsonl"), "da.jsonl "),
        (("--input", "new.csv", "--baseline", "good.jsonl"), "--baseline good.jsonl is a file"),
    ],
)
def test_bad_input(run: Run, folder: Path, arguments: tuple[str, ...], place: str) -> None:
    both = [line for name in ("good", "bad") for line in (folder / f"{name}.jsonl").read_text().splitlines()]
    write(folder / "two.jsonl", *both)
    write(folder / "empty.jsonl", jsonl.dumps(Rating(Segment(""), "m", ())))
    keys = [SegmentKey(system="da", index=index) for index in range(10)]
    write(folder / "da.jsonl", *(jsonl.dumps(Rating(Segment("Das Haus", key=key), "da", None)) for key in keys))
    for source in ("rain", "snow"):
        write(folder / f"{source}.jsonl", jsonl.dumps(Rating(Segment("Es regnet", source), "m", ())))
    write(folder / "new.csv", "hypothesis,reference", "Ein Haus,Das Haus", "Ein Baum,Der Baum")
    assert place in run("gate", *arguments, "--json", "g.json").refused()
    assert not (folder / "g.json").exists()


@pytest.mark.parametrize(("share", "code"), [("60%", 0), ("0.6", 0), ("60.1%", 1), ("0", 0)])
def test_a_share_of_segments_must_be_free_of_errors(run: Run, folder: Path, share: str, code: int) -> None:
    ratings = [
        Rating(Segment("Das Haus", key=SegmentKey(index=index)), "m", (), error_free=ErrorFree(index < 6, index / 10))
        for index in range(10)
    ]
    write(folder / "decided.jsonl", *map(jsonl.dumps, ratings))
    ran = run("gate", "decided.jsonl", "--min-error-free", share, "--json", "gate.json")
    assert ran.code == code
    (check,) = json.loads((folder / "gate.json").read_text("utf-8"))["checks"]
    assert (check["check"], check["value"], check["n_blamed"]) == ("min-error-free", 0.6, 4 * code)


@pytest.mark.parametrize(
    ("system", "baseline", "words"),
    [
        ("good", "worse", "significantly above"),
        ("worse", "good", "significantly below"),
        ("bad", "good", "not "),
        ("bad", "same", "not significantly below 0, p 1.0000"),
    ],
)
def test_words_and_names_of_a_comparison(run: Run, folder: Path, system: str, baseline: str, words: str) -> None:
    write(folder / "same.jsonl", *(folder / "bad.jsonl").read_text().splitlines())
    ran = run("gate", f"{system}.jsonl", "--baseline", f"{baseline}.jsonl", "--json", "g.json")
    assert f"({words}" in ran.out
    found = json.loads((folder / "g.json").read_text())
    assert (found["ratings"], found["baseline"]) == (system, baseline)


def test_json_follows_the_schema(run: Run, folder: Path) -> None:
    """The published schema is that of the types, and what is written follows it."""
    path = Path(matese.__file__).parent / "formats" / "results.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    assert schema == rating_schema.schema_of_results(), "run docs/rating_schema.py"
    validator = jsonschema.Draft202012Validator(schema)
    run("gate", "worse.jsonl", "--baseline", "good.jsonl", "--min-score", "-1", "--json", "g.json")
    run("compare", "worse.jsonl", "good.jsonl", "--bootstrap", "20", "--json", "c.json")
    for name in ("g.json", "c.json"):
        found = json.loads((folder / name).read_text(encoding="utf-8"))
        validator.validate(found)
        assert list(found)[:3] == ["version", "signature", "model"]
        assert (found["signature"], found["model"]) == ("m", None)
        with pytest.raises(jsonschema.ValidationError):
            validator.validate({key: value for key, value in found.items() if key != "version"})


def test_junit_has_a_case_for_each_limit(run: Run, folder: Path) -> None:
    ran = run("gate", "bad.jsonl", "--max-errors-per-1k", "100", "--min-score", "-1", "--junit", "g.xml")
    assert (ran.code, ran.out.count("FAIL")) == (1, 1)
    (suite,) = ElementTree.parse(folder / "g.xml").getroot()
    cases = {case.get("name"): [failure.get("message") for failure in case] for case in suite.iter("testcase")}
    assert cases == {"max-errors-per-1k": [], "min-score": ["score -1.20 (at least -1)"]}
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("bad", "2", "1")
    printed = run("gate", "good.jsonl", "--min-score", "-1", "--junit", "-").out
    assert ElementTree.fromstring(printed.encode()).get("failures") == "0"


def test_annotations_of_github(run: Run, folder: Path) -> None:
    rating = Rating(Segment("9% Haus", key=SegmentKey(index=0)), "m", (major(0, 2),))
    write(folder / "a,b.jsonl", jsonl.dumps(rating))
    ran = run("gate", "a,b.jsonl", "--min-score", "-1", "--max-errors-per-1k", "999", "--github")
    assert (ran.code, ran.out.splitlines()) == (
        1,
        [
            "::notice title=matese gate%3A max-errors-per-1k of a%2Cb::errors per 1,000 words 500.00 (at most 999)",
            "::error title=matese gate%3A min-score of a%2Cb::"
            'score -5.00 (at least -1)%0Asegment 1: -5.00; Major "9%25"',
        ],
    )
    assert run("gate", "good.jsonl", "--min-score", "-1", "--github", "--json", "-").refused().startswith("--json and")
