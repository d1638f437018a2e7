"""Sources of files in what a model directory says that it has learned from."""

from __future__ import annotations

import json
from pathlib import Path

from data_prep import training_sources
from matese.model.storage import checkpoint
from tests.training.material import RATINGS, write_ratings


def test_sources_are_added_and_the_rest_stays(tmp_path: Path) -> None:
    content = {"test_sets": [{"names": ["ours"]}]}
    (tmp_path / checkpoint.TRAINING_DATA).write_text(json.dumps(content))
    sources = list(dict.fromkeys(rating.segment.source or "" for rating in RATINGS))
    for number in (0, 1):
        ratings = [rating for rating in RATINGS if rating.segment.source == sources[number]]
        training_sources.main([str(tmp_path), str(write_ratings(tmp_path / "ratings.jsonl", tuple(ratings)))])
    data = checkpoint.read_training_data(tmp_path)
    assert data.test_sets[0].names == ("ours",)
    assert data.learned(sources) == sources[:2]
