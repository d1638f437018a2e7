import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from matese.annotation import Rating, Segment
from matese.formats.tables import jsonl
from matese.model.annotator import Annotator
from tests.cli.conftest import HYPOTHESES, REFERENCES, Run

TAG = ("tag", "--model", "{tiny}", "--precision", "float32")
FILES = ("--hyp", "mt.txt", "--ref", "ref.txt")
JSONL = (*TAG, "--format", "jsonl")
BLANK = "matese: 1 of 3 hypotheses is blank: each is one Non-translation error\n"


def objects(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.split("\n")[:-1]]


def test_jsonl(run: Run) -> None:
    ran = run(*JSONL, *FILES)
    assert (ran.code, ran.err) == (0, BLANK)
    lines = objects(ran.out)
    assert [(line["index"], line["system"], line["hypothesis"]) for line in lines] == [
        (index, "mt", text) for index, text in enumerate(HYPOTHESES)
    ]
    assert [line["references"] for line in lines] == [[text] for text in REFERENCES]
    assert [line["source"] for line in lines] == [None] * 3
    assert all(tuple(line) == jsonl.KEYS[:-2] for line in lines)
    assert (lines[1]["errors"], lines[1]["score"], lines[1]["expected_score"]) == ([], -25, -25)
    assert lines[1]["unplaced"] == [{"severity": "major", "category": "Non-translation"}]
    assert str(lines[0]["rater"]).startswith("matese|model:tiny@")


def test_quiet_prints_the_score_of_each_segment(run: Run) -> None:
    scores = [float(line) for line in run(*TAG, *FILES, "--quiet").out.splitlines()]
    assert scores == pytest.approx([row["expected_score"] for row in objects(run(*JSONL, *FILES).out)])
    assert "calibration" not in run("score", *FILES, "--min-confidence", "0.33", "--quiet").err


def test_the_help_says_that_the_language_pair_wins_over_that_of_a_file(run: Run) -> None:
    assert "in place of what files state" in " ".join(run("tag", "--help").out.split())


def test_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    ran = run(*TAG, *FILES)
    assert (ran.code, ran.err) == (0, BLANK)
    assert "\x1b" not in ran.out
    legend, missing, empty, heading, *_ = ran.out.split("\n")
    assert legend == "[[Major]]₈₀  [Minor]₄₀  with the confidence in %; dim below 25"
    assert (missing, empty) == ("[[-Words-]]  missing in the translation", "")
    assert re.fullmatch(r"mt, line 1   score -\d+   expected score -\d+\.\d\d", heading)
    blank = "mt, line 2   score -25   expected score -25.00\n  hyp  (empty)\n  ref  etwas\n  err  Major Non-translation"
    assert blank in ran.out
    assert "␛" in ran.out
    *_, header, row, score, expected, signature, _ = ran.out.split("\n")
    columns = ["system", "segments", "blank", "with errors", "Minor", "Major", "score", "expected score"]
    assert re.split(r"  +", header) == columns
    assert (score[:6], expected[:15]) == ("score:", "expected score:")
    assert row.split()[:3] == ["mt", "3", "1"]
    assert signature.startswith("matese|model:tiny@")


def test_a_limit_ends_the_work(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    annotated: list[Segment] = []
    annotate = Annotator.annotate_kept

    def observed(self: Annotator, segments: Iterable[Segment], **how: Any) -> Iterator[tuple[Rating, Any]]:
        def counted() -> Iterator[Segment]:
            for segment in segments:
                annotated.append(segment)
                yield segment

        return annotate(self, counted(), **how)

    monkeypatch.setattr(Annotator, "annotate_kept", observed)
    ran = run(*TAG, *FILES, "--limit", "1")
    assert len(annotated) == 1
    assert ran.out.count("mt, line") == 1
    assert re.search(r"\nmt +1 ", ran.out)
    assert "\n1 of 3 segments are shown\n" in ran.out
    assert "--limit: '0': must be a whole number, at least 1" in run(*TAG, *FILES, "--limit", "0").err
