"""Texts of several sentences become the whole and its pieces, whose places are those of the whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matese.model.config import ModelConfig
from matese.model.texts.encoding import ROLES, Encoding, InputKind, TextEncoder
from matese.model.texts.pieces import LongText, SentenceStates
from tests.conftest import make_tokenizer

ENCODER = TextEncoder(make_tokenizer(), max_tokens=400)
SMALL = TextEncoder(make_tokenizer(), max_tokens=120)
DECODER = TextEncoder(make_tokenizer(), max_tokens=400, decoder_start=2)
SMALL_DECODER = TextEncoder(make_tokenizer(), max_tokens=120, decoder_start=2)
WORDS = ["Der Film war gut und lang.", "Das Essen im Haus war teuer!", "Um 23 Uhr kam sie nach Hause?"]
OTHERS = ["Der Film war lang und gut.", "Im Haus war das Essen teuer!", "Sie kam um 23 Uhr nach Hause?"]


def long_text(
    hypothesis: str, other: str, encoder: TextEncoder = ENCODER, inputs: InputKind = "reference"
) -> LongText | None:
    texts = (hypothesis, *[other] * len(inputs.split("+")))
    return LongText.of(ModelConfig(), encoder, texts, encoder.tokenize(texts), inputs)


def read(text: str, encoding: Encoding) -> str:
    """Returns the characters whose predictions are used."""
    ranges = encoding.ranges[slice(*encoding.kept)]
    return text[ranges[0, 0] : ranges[:, 1].max()].strip()


def letters(texts: list[str]) -> str:
    return "".join("".join(texts).split())


def other(text: str, encoding: Encoding) -> str:
    assert encoding.context is not None
    return text[encoding.context.ranges[0, 0] : encoding.context.ranges[:, 1].max()]


@pytest.mark.parametrize("inputs", ["reference", "source"])
@pytest.mark.parametrize(
    "texts", [("", ""), ("", WORDS[0]), (WORDS[0], ""), (WORDS[0], " ".join(OTHERS)), ("Ja. Ja.", "Ja. Ja.")]
)
def test_one_sentence_is_read_as_a_whole(texts: tuple[str, str], inputs: InputKind) -> None:
    assert long_text(*texts, inputs=inputs) is None


def test_each_sentence_is_a_piece_beside_its_counterpart() -> None:
    hypothesis = f" {WORDS[0]}  {WORDS[1]}\n{WORDS[2]} "
    reference = " ".join(OTHERS)
    text = long_text(hypothesis, reference)
    assert text is not None
    (whole,) = text.whole()
    assert (read(hypothesis, whole), other(reference, whole)) == (hypothesis.strip(), reference)
    pieces = text.pieces()
    assert [read(hypothesis, piece) for piece in pieces] == WORDS
    assert [other(reference, piece) for piece in pieces] == OTHERS
    assert all(piece.is_piece and not piece.is_cut for piece in pieces)
    for piece in pieces:  # the tokens are those of the whole
        assert piece.context is not None
        assert whole.context is not None
        n_tokens = len(piece.ranges)
        np.testing.assert_array_equal(
            piece.ids[piece.first : piece.first + n_tokens], whole.ids[whole.first + piece.start :][:n_tokens]
        )
        assert piece.ids[piece.context.first] == whole.ids[whole.context.first + piece.context.start]


@pytest.mark.parametrize(
    ("encoder", "inputs"), [(ENCODER, "source+reference"), (DECODER, "source"), (DECODER, "source+reference")]
)
def test_letters_decide_where_no_states_of_one_encoder_can(encoder: TextEncoder, inputs: InputKind) -> None:
    hypothesis = " ".join(WORDS)
    text = long_text(hypothesis, " ".join(OTHERS), encoder, inputs)
    assert text is not None
    assert not text.is_by_states
    assert len(text.whole()) == 1
    pieces = text.pieces()
    assert [read(hypothesis, piece) for piece in pieces] == WORDS
    for piece, tokens in zip(pieces, encoder.tokenize(OTHERS), strict=True):
        for role in inputs.split("+"):
            assert (piece.roles == ROLES.index(role)).sum() == len(tokens.ids)


def test_source_and_reference_are_cut_where_both_can_be() -> None:
    hypothesis = " ".join(WORDS)
    texts = (hypothesis, " ".join(OTHERS), f"{OTHERS[0][:-1]}, und {OTHERS[1]} {OTHERS[2]}")
    text = LongText.of(ModelConfig(), ENCODER, texts, ENCODER.tokenize(texts), "source+reference")
    assert text is not None
    assert [read(hypothesis, piece) for piece in text.pieces()] == [" ".join(WORDS[:2]), WORDS[2]]


def test_a_sentence_without_a_counterpart_is_in_no_piece() -> None:
    hypothesis = " ".join([WORDS[0], "Jetzt kaufen und sparen beim Händler!", *WORDS[1:]])
    text = long_text(hypothesis, " ".join(OTHERS))
    assert text is not None
    assert [read(hypothesis, piece) for piece in text.pieces()] == WORDS


def test_a_text_of_one_piece_has_none() -> None:
    text = long_text(f"{WORDS[0]} {WORDS[1]}", f"{OTHERS[0][:-1]}, und {OTHERS[1]}")
    assert text is not None
    assert text.pieces() == []


def test_by_the_source_the_states_of_sentences_decide() -> None:
    hypothesis = " ".join(WORDS)
    source = " ".join(OTHERS)
    text = long_text(hypothesis, source, inputs="source")
    assert text is not None
    (whole,) = text.whole()
    assert whole.sentences is not None
    assert len(whole.sentences) == 6
    assert whole.context is not None
    assert whole.sentences[0, 0] == whole.first
    assert whole.sentences[3, 0] == whole.context.first
    vectors = np.eye(6)[[0, 1, 2, 3, 0, 1]]  # the first two belong to the last two of the source
    pieces = text.pieces([(whole, SentenceStates(vectors))])
    assert [read(hypothesis, piece) for piece in pieces] == WORDS[:2]
    assert [other(source, piece) for piece in pieces] == OTHERS[1:]


def test_what_does_not_fit_is_read_in_runs_of_pieces() -> None:
    hypothesis = " ".join(WORDS * 8)
    reference = " ".join(OTHERS * 8)
    text = long_text(hypothesis, reference)
    assert text is not None
    runs = text.whole()
    assert 1 < len(runs) < 24
    assert all(len(run.ids) <= 400 and not run.is_cut for run in runs)
    assert letters([read(hypothesis, run) for run in runs]) == letters([hypothesis])
    assert letters([other(reference, run) for run in runs]) == letters([reference])
    assert len(text.pieces()) == 24


def test_a_sentence_that_is_too_long_is_read_in_windows() -> None:
    long = "der gute Film und das gute Haus, " * 8
    text = long_text(f"{WORDS[2]} {long}", f"{OTHERS[2]} {long}", SMALL)
    assert text is not None
    whole = text.whole()
    assert [row.is_cut for row in whole] == [False] + [True] * (len(whole) - 1)
    assert len(whole) > 2
    assert {len(row.ids) <= 120 for row in (*whole, *text.pieces())} == {True}


def test_many_sentences_beside_few() -> None:
    hypothesis = " ".join(WORDS * 30)
    text = long_text(hypothesis, OTHERS[0], SMALL)
    assert text is not None
    rows = text.whole()
    assert letters([read(hypothesis, row) for row in rows]) == letters([hypothesis])
    assert all(row.context is not None and len(row.context.ranges) for row in rows)
    text = long_text(OTHERS[0], hypothesis, SMALL)
    assert text is not None
    assert [(read(OTHERS[0], row), row.is_cut) for row in text.whole()] == [(OTHERS[0], True)]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from([*WORDS, "好。", "\n", "wort " * 30]), min_size=1, max_size=9).map(" ".join),
    st.lists(st.sampled_from([*OTHERS, "Ja.", "wort " * 30]), max_size=9).map(" ".join),
    st.sampled_from(["reference", "source", "source+reference"]),
    st.sampled_from([SMALL, SMALL_DECODER]),
)
def test_all_of_the_hypothesis_is_read_once_and_everything_fits(
    hypothesis: str, other_text: str, inputs: InputKind, encoder: TextEncoder
) -> None:
    text = long_text(hypothesis, other_text, encoder, inputs)
    if text is None:
        return
    (tokens,) = SMALL.tokenize([hypothesis])
    whole = text.whole()
    kept = np.concatenate([np.arange(*row.kept) + row.start for row in whole])
    assert kept.tolist() == list(range(len(tokens.ids)))
    pieces = text.pieces([(row, None) for row in whole])
    of_pieces = [place for row in pieces for place in (np.arange(*row.kept) + row.start).tolist()]
    assert of_pieces == sorted(set(of_pieces))
    for row in (*whole, *pieces):
        assert max(len(row.ids), row.n_decoded) <= 120
        assert row.ranges.tolist() == tokens.ranges[row.start : row.start + len(row.ranges)].tolist()
