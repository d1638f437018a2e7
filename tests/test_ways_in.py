"""Equal texts with an equal language pair have equal ratings, whichever way they come in."""

from __future__ import annotations

import json
from pathlib import Path

import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

import matese
from matese import Rating, Segment, SegmentKey
from matese.cli import main
from matese.formats.tables import jsonl
from matese.serving import app
from matese.serving.limits import Limits

TEXTS = st.lists(st.sampled_from(["der", "Text", "gut", "das", "Haus", "12", "😀", "ist"]), min_size=1, max_size=6)
ROWS = st.lists(st.tuples(TEXTS.map(" ".join), TEXTS.map(" ".join)), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def annotator(tiny_model_dir: Path) -> matese.Annotator:
    return matese.load(tiny_model_dir, precision="float32")


def judged(rating: Rating) -> tuple[object, ...]:
    """Returns what was said, by which model and settings."""
    return rating.segment.hypothesis, rating.errors, rating.all_errors, rating.estimate, rating.rater


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, lang_pair=st.sampled_from([None, "en-de"]))
def test_all_ways_lead_to_the_same_ratings(
    annotator: matese.Annotator,
    tiny_model_dir: Path,
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str]],
    lang_pair: str | None,
) -> None:
    folder = tmp_path_factory.mktemp("ways")
    hypotheses, references = ([row[side] for row in rows] for side in (0, 1))
    key = SegmentKey(lang_pair=lang_pair)
    wanted = annotator.annotate(hypotheses, references=references, lang_pair=lang_pair)

    segments = [Segment(hypothesis, None, (reference,), key) for hypothesis, reference in rows]
    frame = pandas.DataFrame({"hypothesis": hypotheses, "reference": references})
    for name, lines in (("mt", hypotheses), ("ref", references)):
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    files = matese.TextFiles([str(folder / "mt.txt")], ref=[str(folder / "ref.txt")], lang_pair=lang_pair)
    marking = matese.Marking(str(tiny_model_dir), computing=matese.Computing(precision="float32"))
    options = ["--model", str(tiny_model_dir), "--precision", "float32", "--output", str(folder / "out.jsonl")]
    pair = [] if lang_pair is None else ["--lang-pair", lang_pair]
    texts = ["tag", "--hyp", str(folder / "mt.txt"), "--ref", str(folder / "ref.txt")]
    assert main([*texts, *pair, *options]) == 0
    asked = [
        {"hypothesis": hypothesis, "references": [reference], **({"lang_pair": lang_pair} if lang_pair else {})}
        for hypothesis, reference in rows
    ]
    with TestClient(app.make_app(annotator, Limits()), base_url="http://localhost:8000") as client:
        answer = client.post("/annotate", json={"segments": asked}).json()
    (folder / "served.jsonl").write_text(
        "".join(f"{json.dumps(rating)}\n" for rating in answer["ratings"]), encoding="utf-8"
    )

    ways = {
        "segments": list(annotator.annotate_segments(segments)),
        "frame": matese.Ratings.from_frame(annotator.annotate(frame, lang_pair=lang_pair)),
        "task": matese.tag(files, marking=marking).ratings,
        "command": matese.read(folder / "out.jsonl"),
        "server": list(jsonl.read(folder / "served.jsonl")),
    }
    for way, ratings in ways.items():
        assert list(map(judged, ratings)) == list(map(judged, wanted)), way
