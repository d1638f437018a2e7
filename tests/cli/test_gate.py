from __future__ import annotations

import json
from pathlib import Path

import pytest

from matese import mqm
from matese.annotation import ErrorFree, Rating, Segment, SegmentKey
from matese.formats.tables import jsonl
from tests.cli.conftest import Run, write
from tests.evaluation.material import major, minor
from tests.tasks.material.gate import write_files

UNPLACED = (mqm.NON_TRANSLATION,)


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    write_files(folder)


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


def test_the_worst_of_equals_is_blank_or_scores_less(run: Run, folder: Path) -> None:
    texts = [("Das Haus ist alt.", (major(0, 3), minor(4, 8))), ("Das", (major(0, 3), major(0, 2))), ("", ())]
    lines = [
        Rating(Segment(text, "a b c", key=SegmentKey(index=index)), "m", spans, unplaced=() if text else UNPLACED)
        for index, (text, spans) in enumerate([texts[0], texts[2], texts[1]])
    ]
    write(folder / "ties.jsonl", *map(jsonl.dumps, lines))
    ran = run("gate", "ties.jsonl", "--max-major-per-1k", "1", "--max-blank", "9", "--json", "-")
    (check,) = json.loads(ran.out)["checks"]
    assert [one["number"] for one in check["segments"]] == [2, 1, 0]


def test_several_files_of_one_system_and_their_lines(run: Run, folder: Path) -> None:
    write(folder / "one.txt", "The museum is closed.", "The shop is closed.")
    write(folder / "two.txt", "The door is not open.")
    write(folder / "src.txt", "Das Museum ist zu.", "The shop is closed.")
    write(folder / "two.src.txt", "Die Tür ist zu.")
    texts = ("--input", "one.txt", "two.txt", "--src", "src.txt", "--src", "two.src.txt")
    command = ("gate", *texts, "--max-errors-per-1k", "1", "--checks", "only,untranslated", "--github")
    assert "--system NAME joins" in run(*command).refused()
    out = run(*command, "--system", "s").out
    assert out.startswith("::error file=one.txt,line=2,title=matese gate%3A max-errors-per-1k of s::")
