from __future__ import annotations

import pytest

import matese
from matese.annotation import ErrorSpan, Rating
from matese.evaluation.spans import span_sentinels
from tests.evaluation.material import major, minor, rating

TEXT = "abcdefghijklmnopqrst"


def changed(name: span_sentinels.SpanSentinel, *spans: ErrorSpan, text: str = TEXT) -> tuple[ErrorSpan, ...]:
    (made,) = span_sentinels.predictions([rating(*spans, text=text)])[name]
    assert made.errors is not None
    return made.errors


@pytest.mark.parametrize(
    ("name", "spans", "expected"),
    [
        ("all", [], [major(0, 20)]),
        ("none", [minor(0, 3)], []),
        ("extended", [], []),
        ("extended", [minor(8, 12)], [minor(6, 14)]),
        ("extended", [minor(8, 9)], [minor(8, 10)]),
        ("extended", [minor(0, 3), major(18, 20)], [minor(0, 5), major(17, 20)]),
        ("random", [minor(0, 20)], [minor(0, 20)]),
    ],
)
def test_spans_of_sentinels(
    name: span_sentinels.SpanSentinel, spans: list[ErrorSpan], expected: list[ErrorSpan]
) -> None:
    assert changed(name, *spans) == tuple(expected)


def test_an_empty_text_has_no_spans() -> None:
    assert {name: changed(name, text="") for name in ("all", "none", "random")} == {"all": (), "none": (), "random": ()}


def _kind(span: ErrorSpan) -> tuple[int, str]:
    return span.end - span.start, str(span.severity)


def test_random_spans_keep_number_length_and_severity() -> None:
    spans = [minor(0, 3), major(4, 5), minor(6, 12)]
    moved = changed("random", *spans)
    assert sorted(map(_kind, moved)) == sorted(map(_kind, spans))
    assert moved != tuple(spans)


def test_half_of_the_spans_are_dropped() -> None:
    ratings = [rating(minor(0, 3), major(4, 5), text=TEXT) for _ in range(200)]
    kept = sum(len(one.errors or ()) for one in span_sentinels.predictions(ratings)["dropped"])
    assert 160 < kept < 240


def test_a_perfect_prediction_is_better_than_its_sentinels() -> None:
    golds = [rating(minor(n, n + 3), text=TEXT, index=n) if n % 2 else rating(text=TEXT, index=n) for n in range(16)]
    found = matese.evaluate(golds, [Rating(one.segment, "m", one.errors) for one in golds], sentinels=True)
    assert list(found.sentinels) == ["all", "none", "random", "extended", "dropped"]
    for name, figures in found.sentinels.items():
        assert found.figures["mpp.micro.f1"].value == 1, name
        assert figures["mpp.micro.f1"].value < 1, name
        assert figures["soft.f1"].value < 1, name
