from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from data_prep import injected
from matese.annotation import ErrorSpan, Estimate, Rating, Segment, SegmentKey, Severity

SENTENCES = (
    ("The small dog sleeps in the garden today.", "Der kleine Hund schläft heute im Garten."),
    ("My sister reads a long letter in the kitchen.", "Meine Schwester liest in der Küche einen langen Brief."),
    ("We drink three cups of tea every morning.", "Wir trinken jeden Morgen drei Tassen Tee."),
)


def judged(value: float = 0.99) -> Iterator[Rating]:
    for index, (source, text) in enumerate(SENTENCES * 20):
        key = SegmentKey("test", "en-de", "A", None, index)
        segment = Segment(f"{text} {index}", f"{source} {index}", (f"Referenz {index}",), key)
        yield Rating(segment, "metric", None, estimate=Estimate(value, "0-1"))


def test_bad_translations_get_no_errors() -> None:
    assert list(injected.build(judged(0.5), {}, seed=0)) == []


def test_a_right_and_a_wrong_text_follow_each_other() -> None:
    made = list(injected.build(judged(), {"de": {"Hund": ["Vogel"], "Brief": ["Film"]}}, seed=0))
    right = made[::2]
    wrong = made[1::2]
    assert len(right) == len(wrong) > 20
    assert not any(rating.errors for rating in right)
    assert all(len(rating.all_errors) == 1 for rating in wrong)
    marks = {rating.segment.hypothesis[e.start : e.end] for rating in wrong for e in rating.errors or ()}
    assert {"Vogel", "Film"} & marks, "from the lexicon"
    assert marks - {"Vogel", "Film"}, "from synthesis"


def test_right_wordings_of_a_source_stay_right() -> None:
    source, text = SENTENCES[2]
    key = SegmentKey("written", "en-de")
    wordings = [text, text.replace("drei", "3"), text.replace("drei", "5").replace("trinken", "trinken etwa")]
    written = [Rating(Segment(wording, source, ("Referenz",), key), "x", ()) for wording in wordings]
    wrong = replace(written[0], errors=(ErrorSpan(0, 3, Severity.MAJOR),))
    short = [Rating(Segment(text, source, (), key), "x", ()) for text in ("Kein Eintrag da.", "Seite 17 von 25 Seiten")]
    lexicon = {"de": {"drei": ["vier"]}}
    made = list(injected.varied([*written, wrong], short, lexicon, seed=0))
    right = {rating.segment.hypothesis for rating in made[::2]}
    assert right <= {*wordings, "Seite 17 von 25 Seiten"}, "no short text without a number"
    assert not any(rating.errors for rating in made[::2])
    assert not {rating.segment.hypothesis for rating in made[1::2]} & right
    assert all(len(rating.all_errors) == 1 for rating in made[1::2])
    (page, *_) = (rating for rating in made[1::2] if rating.segment.hypothesis.startswith("Seite"))
    assert page.segment.hypothesis != "Seite 17 von 25 Seiten", "the number is wrong"


def test_each_cheat_is_marked_where_it_is_wrong() -> None:
    right = [Rating(rating.segment, "x", ()) for rating in judged()]
    made = list(injected.cheats(right, share=1, seed=0))
    texts = {segment.hypothesis for segment in (rating.segment for rating in right)}
    assert not texts & {rating.segment.hypothesis for rating in made} - texts
    twice = [rating for rating in made if rating.segment.hypothesis.count("Referenz") == 0 and rating.overall]
    assert twice
    for rating in made:
        text = rating.segment.hypothesis
        kept = "".join(
            character
            for place, character in enumerate(text)
            if not any(error.start <= place < error.end for error in rating.errors or ())
        )
        is_half = bool(rating.unplaced)
        assert kept.strip() in texts | {""} or is_half, rating
