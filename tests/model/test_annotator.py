from __future__ import annotations

import os
import random
import shutil
import threading
import warnings
from collections.abc import Iterable
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

import matese
from matese import mqm
from matese.annotation import ErrorSpan, Estimate, Rating, Segment, SegmentKey, TokenScores
from matese.errors import ModelError, UsageError
from matese.model import recall
from matese.model.decoding import Fitted
from matese.model.engines.hardware import choose_batch_tokens, limit_kept_kernels, processors_granted
from matese.model.heads.tags.decoding import Tags
from matese.model.heads.tags.marking import MarkRule
from matese.model.prediction import TagProbabilities
from matese.model.recall import Found, OfInput, Recall
from matese.model.texts.pieces import splitter
from tests.conftest import TinyModelFactory

HYPOTHESES = ["the good thing is 12.", "Das ist 你好 😀 gut", "e\u0301t\u202e שלום", "  a\u2028b \x00 </s> c  ", "x"]
REFERENCES = ["a good thing, the 13!", "Das ist gut", "éte", "abc", "y"]


@pytest.fixture(scope="module")
def annotator(tiny_model_dir: Path) -> matese.Annotator:
    return matese.load(tiny_model_dir, precision="float32")


def test_spans_are_trimmed_and_within_the_text(annotator: matese.Annotator) -> None:
    ratings = annotator.annotate(HYPOTHESES, references=REFERENCES)
    assert [rating.segment.hypothesis for rating in ratings] == HYPOTHESES
    assert sum(len(rating.errors or ()) for rating in ratings) > 3
    for rating in ratings:
        assert rating.errors is not None
        assert rating.estimate is not None
        assert -25 <= rating.estimate.value <= 0
        for span in rating.errors:
            text = rating.segment.hypothesis[span.start : span.end]
            assert text == text.strip()
            assert text


def places(ratings: Iterable[Rating]) -> list[list[tuple[object, ...]]]:
    return [
        [(span.start, span.end, span.severity, span.category) for span in rating.errors or ()] for rating in ratings
    ]


def random_segments(n_segments: int) -> list[Segment]:
    """Segments of 1 to 40 words, of which many share a source and some are equal."""
    rng = random.Random(5)
    words = ["the", "good", "Das", "ist", "12", "你好", "😀", "thing."]
    texts = [" ".join(rng.choices(words, k=rng.randint(1, 40))) for _ in range(n_segments)]
    contexts = texts[: n_segments // 4]
    segments = [Segment(text, source=rng.choice(contexts), references=(rng.choice(contexts),)) for text in texts]
    return segments + segments[: n_segments // 8]


@pytest.mark.parametrize("kind", ["xlm-roberta", "mbart"])
def test_spans_do_not_depend_on_batches_order_neighbours_or_threads(
    kind: str, tiny_model_factory: TinyModelFactory
) -> None:
    directory = tiny_model_factory(kind=kind, inputs=("source+reference", "source"), score={})
    segments = random_segments(30)
    together = list(matese.load(directory, precision="float32", threads=2).annotate_segments(segments))
    small = matese.load(directory, precision="float32", batch_tokens=200, threads=1)
    reversed_again = list(small.annotate_segments(segments[::-1]))[::-1]
    alone: list[Rating] = []
    for segment in segments:
        small.predictor.forget()
        alone += small.annotate_segments([segment])
    assert sum(map(len, places(together))) > 30
    assert places(reversed_again) == places(together)
    assert places(alone) == places(together)
    for batched, single in zip(together, alone, strict=True):
        assert batched.estimate is not None
        assert single.estimate is not None
        assert batched.estimate.value == pytest.approx(single.estimate.value, abs=2e-4)


def test_what_a_device_computes_apart_is_the_same(tiny_model_dir: Path, annotator: matese.Annotator) -> None:
    apart = matese.load(tiny_model_dir, precision="float32", batch_tokens=300)
    apart.predictor.engine.is_async = True
    segments = random_segments(60)
    assert places(apart.annotate_segments(segments)) == places(annotator.annotate_segments(segments))
    stream = apart.annotate_segments(segments)
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert [thread for thread in threading.enumerate() if thread.name.startswith("matese")] == []


def test_streams_of_one_annotator_take_turns(annotator: matese.Annotator) -> None:
    segments = random_segments(40)
    pairs = list(zip(annotator.annotate_segments(segments), annotator.annotate_segments(segments[::-1]), strict=True))
    assert places(pair for pair, _ in pairs) == places([later for _, later in pairs][::-1])


def test_several_references_are_averaged_before_decoding(annotator: matese.Annotator) -> None:
    hypothesis = "the good thing is 12."
    references = ("a good thing", "Das ist")
    ((both, tokens),) = annotator.annotate_tokens([Segment(hypothesis, references=references)])
    singles = [
        next(annotator.annotate_tokens([Segment(hypothesis, references=(reference,))]))[1] for reference in references
    ]
    for averaged, *rows in zip(tokens.probabilities, *(alone.probabilities for alone in singles), strict=True):
        assert averaged == pytest.approx([sum(column) / 2 for column in zip(*rows, strict=True)], abs=1e-5)
    assert both.rater is not None
    assert "|refs:2|" in both.rater


def test_tokens_are_probabilities_of_ranges_of_the_hypothesis(annotator: matese.Annotator) -> None:
    for rating, tokens in annotator.annotate_tokens([Segment(text, references=("a",)) for text in HYPOTHESES]):
        assert tokens.ranges
        assert all(sum(row) == pytest.approx(1, abs=1e-4) for row in tokens.probabilities)
        assert all(0 <= start <= end <= len(rating.segment.hypothesis) for start, end in tokens.ranges)


@pytest.mark.parametrize("kind", ["xlm-roberta", "mbart"])
def test_long_text_is_never_cut(kind: str, tiny_model_factory: TinyModelFactory) -> None:
    annotator = matese.load(tiny_model_factory(kind=kind, score={}), precision="float32")
    hypothesis = "word " * 500
    ((rating, tokens),) = annotator.annotate_tokens([Segment(hypothesis, references=("Das ist " * 400,))])
    assert max(end for start, end in tokens.ranges if start < end) == len(hypothesis) - 1
    assert all(after[0] >= before[0] for before, after in zip(tokens.ranges, tokens.ranges[1:], strict=False))
    assert annotator.counts.windowed == 1
    assert rating.estimate is not None
    assert -25 <= rating.estimate.value <= 0


@pytest.mark.parametrize("inputs", ["reference", "source"])
def test_a_paragraph_says_what_its_sentences_say(inputs: str) -> None:
    annotator = matese.load("mini", n_segments=4)
    contexts = ["Der Film war lang und gut.", "Im Haus war das Essen teuer!", "Sie kam um 23 Uhr nach Hause?"]
    texts = ["Der Film war gut und lang.", "Das Essen im Haus war teuer!", "Um 23 Uhr kam sie nach Hause?"]
    segments = [
        Segment(text, context) if inputs == "source" else Segment(text, None, (context,))
        for text, context in ((" ".join(texts), " ".join(contexts)), *zip(texts, contexts, strict=True))
    ]
    whole, *alone = annotator.annotate_tokens(segments)

    def pieces(rating: Rating, tokens: TokenScores) -> list[str]:
        return [rating.segment.hypothesis[start:end] for start, end in tokens.ranges]

    assert pieces(*whole) == [piece for rated in alone for piece in pieces(*rated)]
    expected = np.concatenate([tokens.probabilities for _, tokens in alone])
    np.testing.assert_allclose(whole[1].probabilities, expected, atol=1e-4)


def test_a_context_that_is_cut_is_counted(tiny_model_factory: TinyModelFactory) -> None:
    annotator = matese.load(tiny_model_factory(max_tokens=64), precision="float32")
    annotator.annotate(["Das ist gut", "gut"], references=["the good thing " * 40, "good"])
    assert annotator.counts.windowed == 1


def test_the_strings_of_an_interface_have_a_threshold_of_their_own(tiny_model_factory: TinyModelFactory) -> None:
    marking = MarkRule(
        0.1, 1.0, 0.5, -2.0, least=0.3, least_of_short=0.4, least_of_interface=0.8, pieces=0.0, major=0.3
    )
    model = tiny_model_factory(fitted=(Fitted("reference", marking),))
    plain, interface, explicit = (
        matese.load(model, precision="float32", device="cpu", choice=choice)
        for choice in (None, matese.DecodingChoice(use="interface"), matese.DecodingChoice(min_confidence=0.8))
    )
    many, few, same = (
        places(annotator.annotate(HYPOTHESES, references=REFERENCES)) for annotator in (plain, interface, explicit)
    )
    assert sum(map(len, few)) < sum(map(len, many))
    assert few == same
    assert "|decode:0.3+short0.4|" in plain.signature("reference")
    assert "|decode:0.8|" in interface.signature("reference")
    with pytest.raises(UsageError, match="a use and a minimum confidence are both given"):
        matese.DecodingChoice(use="interface", min_confidence=0.5)


def test_an_uncalibrated_model_knows_no_strings_of_an_interface(tiny_model_dir: Path) -> None:
    with pytest.raises(ModelError, match="no marks for strings of a user interface; fit that first: matese calibrate"):
        matese.load(tiny_model_dir, choice=matese.DecodingChoice(use="interface"))


def test_the_expected_score_is_the_score_head_s_if_there_is_one(
    annotator: matese.Annotator, tiny_model_factory: TinyModelFactory
) -> None:
    [(rating, tokens)] = annotator.annotate_tokens([Segment("ac at", None, ("a cat",))])
    assert rating.estimate is not None
    by_tags = Tags(annotator.config).expected_score(TagProbabilities(np.log(np.array(tokens.probabilities))))
    assert rating.estimate.value == pytest.approx(by_tags, abs=0.001)
    with_head = matese.load(tiny_model_factory("scored", score={}), device="cpu")
    assert "|score:head|" in with_head.signature("reference")


def test_the_signature_holds_what_changes_a_prediction(annotator: matese.Annotator, tiny_model_dir: Path) -> None:
    parts = dict(part.split(":", 1) for part in annotator.signature("reference", 2).split("|")[1:])
    assert parts.pop("model").startswith("tiny@")
    assert parts == {
        "inputs": "reference",
        "refs": "2",
        "decode": "0.5",
        "overrides": "copy+blank",
        "pieces": splitter(),
        "precision": "float32",
        "score": "tags",
        "weights": "matese",
        "version": matese.__version__,
    }
    varied = matese.load(
        tiny_model_dir,
        precision="bf16",
        choice=matese.DecodingChoice(min_confidence=0.2, whole_words=True),
        weights=mqm.GOOGLE,
    )
    assert (
        f"inputs:source|refs:0|decode:0.2+words|overrides:copy+blank|pieces:{splitter()}|precision:bf16|score:tags"
        in varied.signature("source")
    )


def test_a_user_may_leave_out_pieces() -> None:
    text = "Die Wolga ist sehr lang und breit. Sie fließt durch Russland nach Süden."
    annotators = [
        matese.load("mini", choice=matese.DecodingChoice(reads_pieces=reads_pieces)) for reads_pieces in (None, False)
    ]
    n_pieces = [
        result.raw.n_pieces
        for annotator in annotators
        for result in annotator.annotate_results([Segment(text, None, (text.replace("lang", "kurz"),))])
    ]
    assert n_pieces == [2, 1]
    assert ["|pieces:" in annotator.signature("reference") for annotator in annotators] == [True, False]


def test_a_minimum_confidence_replaces_the_model_s_own() -> None:
    references = ["Der Laden hat montags bis 19 Uhr geöffnet.", "Ich habe den Vertrag nicht unterschrieben."]
    hypotheses = ["Der Laden hat montags bis 17 Uhr geöffnet.", "Ich habe den Vertrag unterschrieben."]

    def spans(min_confidence: float | None = None) -> list[ErrorSpan]:
        choice = matese.DecodingChoice(min_confidence=min_confidence)
        annotator = matese.load("mini", n_segments=2, choice=choice)
        ratings = annotator.annotate(hypotheses, references=references)
        return [span for rating in ratings for span in rating.errors or ()]

    errors = spans()
    highest = max(span.confidence or 0 for span in errors)
    assert set(errors) <= set(spans(min_confidence=0.01))
    assert spans(min_confidence=highest) == [span for span in errors if span.confidence == highest]
    choice = matese.DecodingChoice(min_confidence=0.5)
    assert "|decode:0.5+" in matese.load("mini", n_segments=1, choice=choice).signature("reference")


def test_languages_that_the_model_was_not_trained_on_are_reported(tiny_model_factory: TinyModelFactory) -> None:
    annotator = matese.load(tiny_model_factory("pairs", inputs=("source",), lang_pairs=("en-de", "en-ru")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        annotator.annotate(["Das Haus", "дом", ""], sources=["the house"] * 3)
    with pytest.warns(UserWarning, match="not trained on the Hangul script: do not rely on its marks"):
        annotator.annotate(["가게는 닫혀"], sources=["the house"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # not for what an earlier call has read
        annotator.annotate(["Das Haus"], sources=["the house"])
    segment = Segment("das", "the", key=SegmentKey(lang_pair="en-nl"))
    list(annotator.annotate_segments([segment]))
    assert annotator.counts.doubts == (("untrained", "the Hangul script"), ("untrained", "en-nl"))


def test_languages_in_which_a_model_finds_little_are_named(
    tiny_model_factory: TinyModelFactory, tmp_path: Path
) -> None:
    directory = tmp_path / "measured"
    shutil.copytree(tiny_model_factory("few", inputs=("source",), lang_pairs=("en-de",)), directory)
    languages = {"de": Found.of(200, 100), "es": Found.of(200, 20), "fr": Found.of(49, 49)}
    measured = Recall("measured", {"source": OfInput({}, languages)})
    (directory / recall.FILE).write_bytes(msgspec.json.encode(measured))
    annotator = matese.load(directory)
    keys = [SegmentKey(lang_pair=pair) for pair in ("en-de", "en_GB-es_MX", "en-es", "en-fr", "en-nl")]
    list(annotator.annotate_segments([Segment("das", "the", key=key) for key in keys]))
    list(annotator.annotate_segments([Segment("das", "the"), Segment("дом", "the")]))
    told = "; ".join(annotator.counts.notices)
    assert "less than 20% of the errors of meaning in es from the source" in told
    assert "not trained on the Cyrillic script" in told
    assert "fewer than 50 errors were measured in fr, nl:" in told


def test_whole_words_are_the_model_s_choice_unless_they_are_asked_for(tiny_model_factory: TinyModelFactory) -> None:
    directory = tiny_model_factory("words", whole_words=True)
    assert matese.load(directory).decoding.whole_words
    assert not matese.load(directory, choice=matese.DecodingChoice(whole_words=False)).decoding.whole_words


def test_a_model_that_does_not_read_both_texts_together_reads_the_reference_alone(
    tiny_model_factory: TinyModelFactory,
) -> None:
    annotator = matese.load(tiny_model_factory("one-text", inputs=("source", "reference"), score={}))
    sources = ["Das ist 你好", "the good", "12", "der ist gut", "x"]
    both = annotator.annotate(HYPOTHESES, sources=sources, references=REFERENCES)
    alone = annotator.annotate(HYPOTHESES, references=REFERENCES)
    assert [(rating.errors, rating.estimate, rating.rater) for rating in both] == [
        (rating.errors, rating.estimate, rating.rater) for rating in alone
    ]
    assert {rating.rater for rating in both} == {annotator.signature("reference")}
    assert annotator.choose_inputs(Segment("h", "s", ("r",))) == "reference"
    assert annotator.choose_inputs(Segment("h", "s")) == "source"


@pytest.mark.parametrize(
    ("inputs", "segment", "message"),
    [
        (("reference",), Segment("h", "s"), "needs a reference: given source"),
        (("source",), Segment("h", None, ("r",)), "needs a source: given reference"),
        (("source+reference",), Segment("h", "s"), "needs a source and a reference: given source"),
        (("reference", "source"), Segment("h"), "needs a reference or a source: given neither"),
        (
            ("reference", "source"),
            Segment("h", key=SegmentKey(system="S", index=303)),
            r"needs a reference or a source: given neither .segment 304 of S.$",
        ),
        (("reference", "source", "source+reference"), Segment("h"), "needs a reference or a source: given neither"),
    ],
)
def test_a_segment_that_lacks_what_is_needed_is_refused(
    inputs: tuple[str, ...], segment: Segment, message: str, tiny_model_factory: TinyModelFactory
) -> None:
    annotator = matese.load(tiny_model_factory(inputs=inputs))
    with pytest.raises(ModelError, match=message):
        list(annotator.annotate_segments([segment]))


def test_blank_texts_are_missing_and_counted(annotator: matese.Annotator, tiny_model_factory: TinyModelFactory) -> None:
    sources = ["the dog", "the cat", " "]
    references = ["der Hund", "\u00a0", "die Katze"]
    with pytest.warns(UserWarning, match="2 of 3 segments"):
        ratings = annotator.annotate(["Hund", "Katze", "die"], sources=sources, references=references)
    assert [annotator.choose_inputs(rating.segment) for rating in ratings] == [
        "source+reference",
        "source",
        "reference",
    ]
    assert [rating.segment.references for rating in ratings] == [("der Hund",), (), ("die Katze",)]
    by_reference = matese.load(tiny_model_factory("by-reference", inputs=("reference",)))
    with pytest.raises(ModelError, match=r"1 of 3 hypotheses lack it \(numbers from 0: 1\)"):
        by_reference.annotate(["Hund", "Katze", "die"], sources=sources, references=references)


def test_nothing_to_translate_is_free_of_errors(annotator: matese.Annotator) -> None:
    (rating,) = annotator.annotate([" "], sources=[""], references=["\u3000"])
    assert (rating.errors, rating.unplaced, rating.estimate) == ((), (), Estimate(0.0, "mqm"))


def test_texts_of_wrong_form_are_refused(annotator: matese.Annotator) -> None:
    with pytest.raises(TypeError, match="hypotheses is a str: must be a sequence of strings"):
        annotator.annotate("text", references=["text"])
    with pytest.raises(TypeError, match="references is a str"):
        annotator.annotate(["text"], references="text")
    with pytest.raises(TypeError, match="hypotheses is a dict: must be a sequence of strings"):
        annotator.annotate({"mt": ["text"], "ref": ["text"]})  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="hypotheses is a set: must be a sequence of strings"):
        annotator.annotate({"a", "b"})  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="reference 1 is None; give a string, a list of strings, or "):
        annotator.annotate(["a", "b"], references=["a", None])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="1 hypotheses and 2 sources; give one for each segment"):
        annotator.annotate(["text"], sources=["a", "b"])


def test_columns_of_a_filtered_data_frame_are_texts(annotator: matese.Annotator) -> None:
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame({"mt": HYPOTHESES, "ref": REFERENCES}).iloc[::-2]
    ratings = annotator.annotate(rows.mt, references=rows.ref, sources=rows.mt)
    expected = [Segment(text, text, (reference,)) for text, reference in zip(rows.mt, rows.ref, strict=True)]
    assert [rating.segment for rating in ratings] == expected
    with pytest.raises(TypeError, match="references is a DataFrame: must be a sequence of strings"):
        annotator.annotate(rows.mt, references=rows)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"batch_tokens": 0}, "batch_tokens: 0"),
        ({"threads": 0}, "threads: 0"),
        ({"device": "tpu0"}, "device 'tpu0'"),
        ({"device": "xpu"}, "device 'xpu' is not available on this machine"),
        ({"precision": "fp8"}, "precision 'fp8'"),
    ],
)
def test_impossible_options_are_refused(option: dict[str, object], message: str, tiny_model_dir: Path) -> None:
    with pytest.raises(ValueError, match=message):
        matese.load(tiny_model_dir, **option)  # type: ignore[arg-type]


def test_an_impossible_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="min_confidence: 0"):
        matese.DecodingChoice(min_confidence=0)


def test_results_come_before_the_stream_ends(annotator: matese.Annotator) -> None:
    def endless() -> object:
        while True:
            yield Segment("the good", references=("Das",))

    stream = annotator.annotate_segments(endless())  # type: ignore[arg-type]
    assert next(stream).segment.hypothesis == "the good"


@pytest.mark.parametrize("name", ["ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"])
def test_kernels_that_are_kept_are_bounded_unless_the_environment_says_how_many(
    name: str, tiny_model_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "1024")
    limit_kept_kernels()
    assert os.environ[name] == "1024"
    monkeypatch.delenv(name)
    matese.load(tiny_model_dir)
    assert os.environ[name] == "64"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("max 100000\n", None), ("200000 100000\n", 2), ("250000 100000\n", 3), ("1000 100000\n", 1), ("", None)],
)
def test_a_container_grants_processors(text: str, expected: int | None, tmp_path: Path) -> None:
    (tmp_path / "cpu.max").write_text(text, encoding="ascii")
    assert processors_granted(tmp_path / "cpu.max") == expected
    assert processors_granted(tmp_path / "none") is None


def test_batches_are_chosen_by_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    assert choose_batch_tokens(torch.device("cpu"), 1024) == 8 * 2048
    free = 4 * 2**30
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free, 2 * free))
    assert 4096 < choose_batch_tokens(torch.device("cuda"), 1024) < choose_batch_tokens(torch.device("cuda"), 768)
    free = 200 * 2**30
    assert choose_batch_tokens(torch.device("cuda"), 1024) == 65536
    free = 0
    assert choose_batch_tokens(torch.device("cuda"), 1024) == 4096
