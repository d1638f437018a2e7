"""The application that corrects a file, asked without a process of its own."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from matese import mqm
from matese.annotation import Rating, Segment, SegmentKey
from matese.formats.tables import jsonl
from matese.serving import review


def test_health(tmp_path: Path) -> None:
    reviewed = review.Review({"mt": [Rating(Segment("Gut."), "m", ())]}, tmp_path / "a.jsonl", mqm.MATESE)
    client = TestClient(review.make_app(reviewed), base_url="http://localhost")
    answer = client.get("/health")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


def test_a_review_goes_on_where_a_table_has_a_blank_reference(tmp_path: Path) -> None:
    shown = {"mt": [Rating(Segment("Gut.", "Good.", (" ",)), "m", ())]}
    reviewed = review.Review(shown, tmp_path / "a.jsonl", mqm.MATESE)
    segment = Segment("Gut.", "Good.", key=SegmentKey(system="mt"))
    reviewed.save(jsonl.dumps(Rating(segment, "anna", ())), None)
    review.Review(shown, tmp_path / "a.jsonl", mqm.MATESE)
