"""Injected errors: what is corrupted, and what is reported of a model that is known to notice it or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

import matese
from matese.annotation import ErrorSpan, Estimate, Rating, Segment, SegmentKey, Severity
from matese.errors import InputError
from matese.explanation import stress
from matese.text.words import word_ranges

TEXTS = [
    (
        "The report of 2019 is not yet in London, but the work goes on.",
        "Der Bericht von 2019 ist noch nicht in London.",
    ),
    ("More than 1,500 people came to the harbour with the old ship.", "Mehr als 1.500 Menschen kamen an den Hafen."),
    ("The first bridge across the river was opened in the morning.", "Die erste Brücke wurde am Morgen eröffnet."),
] * 4
SEGMENTS = [
    Segment(f"{hypothesis} Number {number} was right.", source, (f"{hypothesis} Number {number}, it was right.",))
    for number, (hypothesis, source) in enumerate(TEXTS)
]
SEGMENTS = [
    replace(one, key=SegmentKey(lang_pair="de-en", index=number, system="mt")) for number, one in enumerate(SEGMENTS)
]


class Known:
    """Marks what differs from the originals, everything or nothing, and takes a point for it."""

    def __init__(self, *, has_spans: bool = True, is_blind: bool = False, is_greedy: bool = False) -> None:
        self.has_spans = has_spans
        self.is_blind = is_blind
        self.is_greedy = is_greedy
        self.originals = {one.key and one.key.index: one for one in SEGMENTS}

    def annotate_segments(self, segments: Iterable[Segment]) -> Iterator[Rating]:
        for one in segments:
            known = set(self.originals[one.key and one.key.index].hypothesis.split())
            words = word_ranges(one.hypothesis)
            plain = {word.strip(".,") for word in known} | known
            new = [
                ErrorSpan(*word, Severity.MINOR)
                for word in words
                if self.is_greedy or one.hypothesis[slice(*word)] not in plain | {",", "."}
            ]
            found = () if self.is_blind else tuple(new)
            yield Rating(one, "known", found if self.has_spans else None, estimate=Estimate(-1.0 * len(found), "mqm"))


def test_every_kind_finds_a_place_and_changes_one_text() -> None:
    cases = stress.corrupt(SEGMENTS)
    assert {case.kind for case in cases} >= set(stress.KINDS) - {"entity", "form"}
    for case in cases:
        is_of_reference = case.kind in stress.REFERENCE
        assert (case.corrupted.hypothesis == case.original.hypothesis) == is_of_reference
        assert (case.corrupted.references == case.original.references) != is_of_reference
        assert case.corrupted.source == case.original.source
        assert case.corrupted.key is not None
        assert case.corrupted.key.system == case.kind
        if case.marked is not None:
            start, end = case.marked
            assert 0 <= start < end <= len(case.corrupted.hypothesis)


def test_the_draw_is_that_of_the_seed() -> None:
    one, again, other = (stress.corrupt(SEGMENTS, ["number"], seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one != other


def values(result: stress.KindResult) -> dict[str, float]:
    return {name: figure.value for name, figure in result.figures.items()}


def test_a_model_that_notices_everything_and_one_that_notices_nothing() -> None:
    cases = stress.corrupt(SEGMENTS, ["number", "word", "reference-word"])
    numbers, words, references = stress.measure(cases, Known().annotate_segments)[0]
    assert numbers.figures["recall"].value > 0.5
    assert words.figures["drop"].value > 0.5
    assert words.figures["lower"].value > 0.7
    assert "recall" not in references.figures
    assert (values(references)["drop"], values(references)["lower"]) == (0.0, 0.5)
    blind = stress.measure(cases, Known(is_blind=True).annotate_segments)[0]
    unmoved = {"elsewhere": 0.0, "drop": 0.0, "lower": 0.5}
    assert list(map(values, blind)) == [{"recall": 0.0, **unmoved}, {"recall": 0.0, **unmoved}, unmoved]
    greedy = stress.measure(cases, Known(is_greedy=True).annotate_segments)[0]
    assert [values(result).get("recall") for result in greedy] == [1.0, 1.0, None]
    assert [values(result)["elsewhere"] for result in greedy] == [1.0, 1.0, 1.0]


def test_a_model_without_spans_has_no_recall() -> None:
    (result,), ratings = stress.measure(stress.corrupt(SEGMENTS, ["typo"]), Known(has_spans=False).annotate_segments)
    assert set(result.figures) == {"drop", "lower"}
    assert len(ratings) == result.n


def test_the_embedded_model_notices_some_errors() -> None:
    results, _ = stress.measure(
        stress.corrupt(SEGMENTS, ["hallucination", "truncated"]), matese.load("mini").annotate_segments
    )
    assert all(result.figures["lower"].value > 0.2 for result in results)


def test_references_of_blank_translations_have_nothing_unrelated() -> None:
    assert stress.corrupt([Segment("", None, ("Ein Text.",))], ["reference-unrelated"]) == []


@pytest.mark.parametrize("segment", [Segment(""), Segment(" ", "x", ("y",)), Segment("a")])
def test_texts_without_a_place_are_refused(segment: Segment) -> None:
    cases = stress.corrupt([segment], ["number", "negation", "reference-omission"])
    with pytest.raises(InputError, match="no kind of error finds a place"):
        stress.measure(cases, Known().annotate_segments)


def test_a_model_without_a_score_is_refused() -> None:
    class Scoreless(Known):
        def annotate_segments(self, segments: Iterable[Segment]) -> Iterator[Rating]:
            return (replace(one, estimate=None) for one in super().annotate_segments(segments))

    with pytest.raises(InputError, match="gives no score"):
        stress.measure(stress.corrupt(SEGMENTS, ["typo"]), Scoreless().annotate_segments)
