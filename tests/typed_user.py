"""A script of a user with types, which is checked by `tests/test_types.py` and never run."""

from __future__ import annotations

import pandas

import matese
from matese import ErrorSpan, Rating, Ratings, Segment, Severity


def mark(hypotheses: list[str], sources: list[str]) -> Ratings:
    """Marks texts."""
    annotator: matese.Annotator = matese.load("mini", choice=matese.DecodingChoice(use="interface"), weights="google")
    points: list[float] = [point.min_confidence for point in matese.operating_points("mini")]
    annotator = matese.load(min_confidence=points[0])
    ratings: Ratings = annotator.annotate(hypotheses, sources=sources)
    ratings = matese.annotate(hypotheses, sources=sources, lang_pair="en-de", checks="also")
    frame: pandas.DataFrame = matese.annotate(pandas.DataFrame({"mt": hypotheses, "src": sources}))
    assert len(frame) == len(ratings)
    tagged = matese.tag(
        matese.TextFiles("mt.txt", src=["src.txt"]),
        marking=matese.Marking("mini", checks="numbers"),
        selection=matese.TagSelection(only_errors=True, limit=3),
    )
    rewards: list[float] = matese.reward(hypotheses, sources=sources)
    assert rewards
    return tagged.ratings


def score(ratings: Ratings) -> float:
    """Scores ratings."""
    scores: list[float] = matese.score(ratings, weights=matese.Weights(minor=1, major=10))
    one: float = matese.score(ratings[0])
    expected: list[float | None] = matese.expected_score(ratings)
    worst: Rating = matese.worst_first(ratings)[0]
    assert (one, expected, worst) is not None
    return matese.corpus_score(scores)


def convert(path: str) -> Ratings:
    """Reads and writes files."""
    ratings: Ratings = matese.read(path, lang_pair="en-de")
    matese.write(ratings, "out.csv", weights="google")
    matese.convert("a.jsonl", "b.tsv", to="mqm-tsv", raters=matese.Raters(merge="union"))
    text: str = matese.info("mini")
    quoted: Ratings = matese.ratings_from_quotes([[{"span": "Haus", "severity": "Minor"}]], [text])
    assert Ratings.from_frame(quoted.to_pandas()) == quoted
    return ratings


def compare(old: Ratings, new: Ratings) -> str:
    """Compares systems."""
    comparison = matese.compare({"old": old, "new": new}, sampling=matese.Sampling(bootstrap=100), filter=["unique"])
    frame: pandas.DataFrame = comparison.to_pandas()
    gated = matese.gate(new, baseline=old, limits=matese.GateLimits(min_score=-3))
    passed: bool = gated.passed
    page: str = matese.report({"new": new}, title="Release candidate")
    assert (frame, passed, page) is not None
    return matese.tables(comparison, look="latex")


def research(gold: Ratings, predicted: Ratings) -> float:
    """Measures."""
    evaluation = matese.evaluate(gold, predicted, by=["severity"], figures=matese.SpanFigures(bootstrap=100))
    agreement = matese.agreement(gold)
    correlation = matese.correlate(gold=gold, metric={"mine": predicted}, baseline=["chrf"])
    assert (agreement.pooled, correlation.figures) is not None
    explanations = matese.explain(["Das Haus"], references=["Das Hause"])
    assert explanations
    hits = matese.SpanHit()
    assert hits is not None
    return evaluation.figures["mpp.micro.f1"].value


def choose(candidates: list[list[str]], sources: list[str]) -> list[str]:
    """Chooses translations."""
    best = matese.rerank(candidates, sources)
    weights = matese.tune_reranking(candidates, sources, [[0.0, -1.0]])
    assert weights
    return [choice.text for choice in [*best, *matese.mbr(candidates)]]


def train(ratings: Ratings) -> None:
    """Trains."""
    matese.prepare(ratings, output="data")
    result = matese.train(ratings, from_="mini", output="run", set=["training.max_steps=10"])
    assert result is not None


def by_hand() -> Rating:
    """Makes a rating."""
    key = matese.SegmentKey(lang_pair="en-de", index=0)
    return Rating(Segment("Das Haus", "The house", key=key), "anna", (ErrorSpan(0, 3, Severity.MINOR),))
