from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from matese.annotation import ErrorSpan, Omission, Overall, Rating, Segment, Severity
from matese.errors import FormatError
from matese.formats.tables import comet_json
from matese.model.heads import registry
from matese.model.heads.gold_scores import score_of
from matese.model.heads.learning import IGNORED
from matese.model.heads.tags import bio
from matese.model.model_input import ModelInput
from matese.model.texts.encoding import InputKind, TextEncoder
from matese.training import corpus_building
from matese.training.config import SUBJECTS
from matese.training.corpus import Corpus, Draw
from matese.training.corpus_building import Lesson
from matese.training.reading import read, texts_of
from tests.conftest import make_config
from tests.training.material import HEADS, RATINGS, write_ratings

ALL: tuple[InputKind, ...] = ("reference", "source", "source+reference")


@pytest.fixture
def encoder(tokenizer: Any) -> TextEncoder:
    return TextEncoder(tokenizer, max_tokens=128)


def build(encoder: TextEncoder, *ratings: Rating, inputs: tuple[InputKind, ...] = ALL) -> Corpus:
    return corpus_building.build(ratings, encoder, inputs, HEADS)


def test_each_distinct_text_is_tokenised_once(encoder: TextEncoder) -> None:
    corpus = build(encoder, *RATINGS)
    distinct = {text for rating in RATINGS for text in texts_of(rating)}
    assert len(corpus) == len(RATINGS)
    assert len(corpus.texts.ids.lengths) == len(distinct)
    assert corpus.texts.ids.values.dtype == np.int32


def test_tokens_do_not_depend_on_chunks(encoder: TextEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("matese.training.corpus_building._CHUNK", 3)
    texts = ["", "der Hund", "😀 ok", " ", "你好", "a b c"]
    for made, expected in zip(corpus_building.tokenize(texts, encoder), encoder.tokenize(texts), strict=True):
        np.testing.assert_array_equal(made.ids, expected.ids)
        np.testing.assert_array_equal(made.ranges, expected.ranges)


def test_tags_stand_on_the_marked_characters(encoder: TextEncoder) -> None:
    corpus = build(encoder, *RATINGS)
    for number, rating in enumerate(RATINGS):
        tokens = corpus.texts.tokens(corpus.texts.hypotheses[number])
        assert corpus.labels["tag_ids"][number].tolist() == bio.from_spans(rating.errors or (), tokens.ranges.tolist())
    assert set(corpus.labels["tag_ids"].values.tolist()) == set(range(len(bio.TAGS)))


def test_of_a_judgement_without_spans_only_the_score_is_learned(encoder: TextEncoder) -> None:
    graded = dataclasses.replace(RATINGS[1], errors=None, overall=Overall(0.8, "0-1"))
    corpus = build(encoder, graded, RATINGS[0])
    assert corpus.labels["scores"].tolist()[0] == pytest.approx(-5)
    assert set(corpus.labels["tag_ids"][0].tolist()) == {IGNORED}
    assert set(corpus.labels["tag_ids"][1].tolist()) != {IGNORED}
    unknown = dataclasses.replace(RATINGS[1], errors=None, overall=Overall(0.8, "z"))
    assert build(encoder, unknown, RATINGS[0]).skipped == {"without spans": 1}
    kept = corpus_building.build([graded, RATINGS[0]], encoder, ALL, HEADS, with_spans=True)
    assert kept.skipped == {"without spans": 1}


def test_what_cannot_be_learned_from_is_counted(encoder: TextEncoder) -> None:
    bare = Rating(Segment("der Hund"), "r", ())
    blank = Rating(Segment("  ", "the dog", ("der Hund",)), "r", ())
    unmarked = Rating(Segment("der Hund", "the dog"), "r", None)
    corpus = build(encoder, bare, blank, unmarked, unmarked, RATINGS[0])
    assert len(corpus) == 1
    assert corpus.skipped == {
        "without the texts that the model reads (reference, source, source+reference)": 1,
        "with a blank hypothesis": 1,
        "without spans": 2,
    }


def test_a_blank_reference_is_a_missing_one(encoder: TextEncoder) -> None:
    corpus = build(encoder, Rating(Segment("der Hund", "the dog", ("\u3000", "")), "r", ()), RATINGS[0])
    assert corpus.n_references.tolist() == [0, len(RATINGS[0].segment.references)]
    only_blank = Rating(Segment("der Hund", "", (" ",)), "r", ())
    assert build(encoder, only_blank, RATINGS[0]).skipped == {
        "without the texts that the model reads (reference, source, source+reference)": 1
    }


def test_nothing_left(encoder: TextEncoder) -> None:
    with pytest.raises(ValueError, match=r"no usable ratings to train or validate on \(there are no ratings\)"):
        build(encoder)
    with pytest.raises(ValueError, match=r"\(1 without the texts that the model reads \(reference\)\); at least one"):
        build(encoder, Rating(Segment("a", "b"), "r", ()), inputs=("reference",))


def test_usable_kinds_of_input(encoder: TextEncoder) -> None:
    only_source = Rating(Segment("der Hund", "the dog"), "r", ())
    only_reference = Rating(Segment("der Hund", None, ("ein Hund", "Hunde")), "r", ())
    corpus = build(encoder, only_source, only_reference, RATINGS[0])
    assert corpus.usable().tolist() == [[False, True, False], [True, False, False], [True, True, True]]
    assert corpus.n_references.tolist() == [0, 2, 2]


@pytest.mark.parametrize("inputs", range(3))
@pytest.mark.parametrize("reference", range(2))
def test_windows_hold_the_texts_of_the_draw(encoder: TextEncoder, inputs: int, reference: int) -> None:
    corpus = build(encoder, *RATINGS)
    segment = RATINGS[9].segment
    readings = ModelInput.of(segment, ALL[inputs]).readings
    texts = (segment.hypothesis, *readings[min(reference, len(readings) - 1)].contexts)
    hypothesis, *contexts = encoder.tokenize(texts)
    [expected] = encoder.join(hypothesis, contexts, ALL[inputs])
    [made] = corpus.windows(Draw(9, inputs, reference, 0.0))
    np.testing.assert_array_equal(made.ids, expected.ids)
    np.testing.assert_array_equal(made.roles, expected.roles)
    np.testing.assert_array_equal(made.ranges, expected.ranges)


def test_windows_of_a_long_text_share_out_its_tags(tokenizer: Any) -> None:
    text = "der gute Hund schläft " * 12
    spans = tuple(ErrorSpan(start, start + 9, Severity.MINOR) for start in range(4, len(text) - 9, 44))
    long = Rating(Segment(text, None, (text,)), "r", spans)
    corpus = build(TextEncoder(tokenizer, max_tokens=64), long, inputs=("reference",))
    n_windows = len(corpus.windows(Draw(0, 0, 0, 0.0)))
    assert n_windows > 3
    learned: list[int] = []
    for number in range(n_windows):
        example = corpus.example(Draw(0, 0, 0, (number + 0.5) / n_windows))
        assert len(example.labels["tag_ids"]) == len(example.encoding.ranges)
        assert np.isnan(example.labels["scores"])
        learned += [tag for tag in example.labels["tag_ids"].tolist() if tag != IGNORED]
    assert learned == corpus.labels["tag_ids"][0].tolist()


def test_omissions_of_a_long_reference_are_those_of_the_part_that_is_read(tokenizer: Any) -> None:
    around = "der gute Hund schläft " * 15
    reference = f"{around}nicht {around}"
    missing = Omission("reference", 0, len(around), len(around) + 5, Severity.MAJOR)
    short = Rating(Segment("der gute", None, (reference,)), "r", (), omissions=(missing,))
    corpus = build(TextEncoder(tokenizer, max_tokens=64), short, inputs=("reference",))
    example = corpus.example(Draw(0, 0, 0, 0.0))
    assert example.encoding.context is not None
    assert example.labels["omissions"] is not None
    ranges = example.encoding.context.ranges
    assert len(example.labels["omissions"]) == len(ranges) < len(corpus.labels["omissions"][0])
    start, end = ranges[example.labels["omissions"] == 1][[0, -1], [0, 1]]
    assert reference[start:end].strip() == "nicht"


def test_fingerprint_knows_texts_tags_and_scores(encoder: TextEncoder) -> None:
    made = build(encoder, *RATINGS).fingerprint()
    assert made == build(encoder, *RATINGS).fingerprint()
    changed = dataclasses.replace(RATINGS[0], errors=(ErrorSpan(0, 3, Severity.MINOR),))
    judged = dataclasses.replace(RATINGS[0], overall=Overall(-1, "mqm"))
    variants = [(changed, *RATINGS[1:]), (judged, *RATINGS[1:]), RATINGS[1:], RATINGS[::-1]]
    assert len({made, *(build(encoder, *ratings).fingerprint() for ratings in variants)}) == 5


def test_files_are_read_one_behind_the_other(tmp_path: Path) -> None:
    first = write_ratings(tmp_path / "a.jsonl", RATINGS[:3])
    second = write_ratings(tmp_path / "b.jsonl", RATINGS[3:])
    assert tuple(read([first, second])) == RATINGS
    second.write_text("{}\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"b\.jsonl:1: "):
        list(read([first, second]))


def test_a_share_of_a_file_is_of_whole_sources_and_always_the_same(tmp_path: Path) -> None:
    many = tuple(Rating(Segment(f"H{row}", f"S{row // 3}"), "r", ()) for row in range(600))
    path = write_ratings(tmp_path / "a.jsonl", many)
    half = list(read([path], hashes=(0, 0.5)))
    assert 200 < len(half) < 400
    assert len(half) == 3 * len({rating.segment.source for rating in half})
    assert half == list(read([path], hashes=(0, 0.5)))


def test_the_spans_of_a_model_that_scores_from_0_to_1_are_learned_as_errors(
    encoder: TextEncoder, tmp_path: Path
) -> None:
    item = {"src": "the dog", "mt": "der Hund", "ref": "das Tier", "COMET": 0.8}
    error = {"start": 4, "end": 8, "severity": "major", "confidence": 0.75}
    (tmp_path / "xcomet.json").write_text(json.dumps({"mt.txt": [{**item, "errors": [error]}]}), encoding="utf-8")
    (predicted,) = comet_json.read(tmp_path / "xcomet.json")
    (read_back,) = read([write_ratings(tmp_path / "train.jsonl", (predicted,))])
    example = build(encoder, read_back).example(Draw(0, 1, 0, 0.0))
    assert {bio.B_MAJOR} <= set(example.labels["tag_ids"].tolist()) <= {bio.O, bio.B_MAJOR, bio.I_MAJOR}
    assert example.labels["scores"] == pytest.approx(-5)


@pytest.mark.parametrize(
    ("overall", "score"),
    [
        (Overall(-3.0, "mqm"), -3),
        (Overall(-40.0, "mqm"), -25),
        (Overall(0.6, "0-1"), -10),
        (Overall(80.0, "esa"), -5),
        (Overall(0.2, "hter"), -5),
        (Overall(0.7, "z"), -5),  # has no ends: the spans count
        (None, -5),
    ],
)
def test_scores_of_other_scales_are_spread_over_that_of_mqm(overall: Overall | None, score: float) -> None:
    rating = Rating(Segment("der Hund"), "r", (ErrorSpan(0, 3, Severity.MAJOR),), overall=overall)
    assert score_of(rating) == pytest.approx(score)


def test_translations_of_one_source_are_a_group(encoder: TextEncoder) -> None:
    texts = [("a", "s", ("r",)), ("b", "s", ("r",)), ("c", "s", ("q",)), ("d", "t", ("r",)), ("e", "s", ("r",))]
    corpus = build(encoder, *(Rating(Segment(*text), "r", ()) for text in texts))
    assert corpus.groups.tolist() == [0, 0, 1, 2, 0]


def test_groups_of_raters_and_unrated_translations_are_not_ranked_together(encoder: TextEncoder) -> None:
    ratings = [Rating(Segment(f"der Hund {row}", "the dog", ("ein Hund",)), "r", ()) for row in range(3)]
    unrated = Lesson(Rating(ratings[0].segment, None, None), frozenset(), is_unrated=True)
    corpus = corpus_building.build([Lesson(ratings[0], None, 2), *ratings[1:], unrated], encoder, ALL, HEADS)
    assert corpus.rater_groups.tolist() == [2, 0, 0, 0]
    assert corpus.groups.tolist() == [0, 1, 1, 2]
    assert corpus.example(Draw(0, 1, 0, 0.0)).rater_group == 2


MINOR = ErrorSpan(0, 3, Severity.MINOR)
MAJOR = ErrorSpan(0, 3, Severity.MAJOR)
LEARNERS = registry.targets(make_config(score={}, omissions={}, categories={}, meaning={}))


@pytest.mark.parametrize(
    ("errors", "teaches", "tags", "score", "meaning", "omissions"),
    [
        ((), None, True, True, 0, True),
        ((MINOR,), None, True, True, 0, True),
        ((MAJOR,), None, True, True, math.nan, True),
        ((dataclasses.replace(MAJOR, severity=None),), None, True, False, math.nan, True),
        (None, None, False, False, math.nan, False),
        ((MAJOR,), ["meaning"], False, False, 1, False),
        ((MINOR,), ["meaning"], False, False, 1, False),
        ((MINOR,), ["same_meaning"], False, False, 0, False),
        ((MINOR,), ["tags", "score"], True, True, math.nan, False),
        ((MINOR,), ["score"], False, True, math.nan, False),
        ((MAJOR,), ["tags", "meaning"], True, False, 1, False),
        ((), ["omissions"], False, False, math.nan, True),
    ],
)
def test_what_a_file_teaches(
    encoder: TextEncoder,
    errors: tuple[ErrorSpan, ...] | None,
    teaches: list[str] | None,
    tags: bool,
    score: bool,
    meaning: float,
    omissions: bool,
) -> None:
    missing = Rating(
        Segment("der Hund", "the dog"), "r", (), omissions=(Omission("source", None, 0, 3, MINOR.severity),)
    )
    rating = Rating(Segment("der Hund", "the dog"), "r", errors)
    subjects = None if teaches is None else frozenset(teaches)
    lessons = [Lesson(missing, frozenset({"omissions"})), Lesson(rating, subjects)]
    if errors is None:
        assert len(corpus_building.build(lessons, encoder, ALL, LEARNERS)) == 1
        return
    labels = corpus_building.build(lessons, encoder, ALL, LEARNERS).labels
    assert bool((labels["tag_ids"][1] != IGNORED).all()) is tags
    assert bool(np.isfinite(labels["scores"][1])) is score
    assert labels["has_meaning_error"][1] == pytest.approx(meaning, nan_ok=True)
    assert (1 in labels["omission_places"][:, 0]) is omissions


def test_every_subject_is_a_head_or_what_means_the_same() -> None:
    assert set(SUBJECTS) == {head.name for head in registry.HEADS} | {"same_meaning"}


def test_hypothesis_of_which_the_tokenizer_leaves_nothing(tokenizer: Any) -> None:
    from tokenizers import normalizers

    backend = type(tokenizer)(tokenizer_object=tokenizer.backend_tokenizer, pad_token="<pad>", sep_token="</s>")
    backend.backend_tokenizer.normalizer = normalizers.Replace("\x07", "")
    odd = Rating(Segment("\x07", None, ("der Hund",)), "r", ())
    corpus = build(TextEncoder(backend, max_tokens=128), odd, RATINGS[0], inputs=("reference",))
    assert (len(corpus), corpus.skipped) == (1, {"without a token in the hypothesis": 1})
