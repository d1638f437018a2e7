"""The application that corrects a file, asked without a process of its own."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from matese import mqm
from matese.annotation import Rating, Segment
from matese.serving import review


def test_health(tmp_path: Path) -> None:
    reviewed = review.Review({"mt": [Rating(Segment("Gut."), "m", ())]}, tmp_path / "a.jsonl", mqm.MATESE)
    client = TestClient(review.make_app(reviewed), base_url="http://localhost")
    answer = client.get("/health")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
