"""Alignment: beads in order, exact offsets, and texts that do not match."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.text.alignment import align, likeness_of, pieces
from matese.text.sentences import sentence_ranges

_TEXT = [
    "Gestern war ich im Kino.",
    "Wir haben einen sehr langen Film gesehen.",
    "Danach gingen wir in ein Restaurant am Fluss.",
    "Das Essen war teuer, aber gut.",
    "Um 23 Uhr kamen wir nach Hause.",
]
_REWORDED = [
    "Ich bin gestern ins Kino gegangen.",
    "Der Film, den wir sahen, dauerte lange.",
    "Anschließend waren wir in einem Lokal am Fluss essen.",
    "Es war gut, aber nicht billig.",
    "Zu Hause waren wir um 23 Uhr.",
]
_SOURCE = [
    "Yesterday I was at the cinema.",
    "We saw a very long film.",
    "Then we went to a restaurant by the river.",
    "The food was expensive but good.",
    "We came home at 11 pm.",
]
_ADDED = "Kaufen Sie jetzt diese tollen Schuhe im Angebot!"


def _numbers(hypothesis: list[str], other_sentences: list[str]) -> list[tuple[str, str]]:
    """Returns the sentences of each piece by their numbers, such as ("01", "0")."""
    texts = (" ".join(hypothesis), " ".join(other_sentences))
    numbers = []
    for piece in pieces(*texts):
        sides = []
        for text, sentences, place in zip(
            texts, (hypothesis, other_sentences), (piece.hypothesis, piece.other), strict=True
        ):
            sides.append("".join(str(n) for n, sentence in enumerate(sentences) if sentence in text[slice(*place)]))
        numbers.append((sides[0], sides[1]))
    return numbers


_EACH = [(str(number), str(number)) for number in range(5)]


@pytest.mark.parametrize(
    ("hypothesis", "other_sentences", "expected"),
    [
        ([], [], []),
        (_TEXT[:1], [], [("0", "")]),
        ([], _TEXT[:1], [("", "0")]),
        (_TEXT[:1], _REWORDED[:1], [("0", "0")]),
        (_TEXT, _TEXT, _EACH),
        (_TEXT, _REWORDED, _EACH),
        (_TEXT, _SOURCE, _EACH),
        ([f"{_TEXT[0][:-1]}, und {_TEXT[1]}", *_TEXT[2:]], _TEXT, [("0", "01"), ("1", "2"), ("2", "3"), ("3", "4")]),
        (_TEXT, [f"{_TEXT[0][:-1]}, und {_TEXT[1]}", *_TEXT[2:]], [("01", "0"), ("2", "1"), ("3", "2"), ("4", "3")]),
        ([*_TEXT[:2], _ADDED, *_TEXT[2:]], _REWORDED, [*_EACH[:2], ("2", ""), ("3", "2"), ("4", "3"), ("5", "4")]),
    ],
    ids=["empty", "no other", "no hypothesis", "one", "same", "reworded", "source", "1-2", "2-1", "1-0"],
)
def test_pieces(hypothesis: list[str], other_sentences: list[str], expected: list[tuple[str, str]]) -> None:
    assert _numbers(hypothesis, other_sentences) == expected


@pytest.mark.parametrize("other", [_TEXT, _REWORDED])
def test_sentences_in_another_order_have_no_counterpart(other: list[str]) -> None:
    places = {str(number): str(4 - number) for number in range(5)}
    paired = [(first, second) for first, second in _numbers(_TEXT[::-1], other) if first and second]
    assert paired
    assert all(places[number] in second for first, second in paired for number in first)


def test_many_sentences_beside_few() -> None:
    hypothesis = " ".join(_TEXT * 40)
    aligned = pieces(hypothesis, " ".join(_REWORDED[:3]))
    assert sum(piece.is_paired for piece in aligned) <= 3
    assert len([piece for piece in aligned if piece.hypothesis[0] < piece.hypothesis[1]]) > 190


@pytest.mark.parametrize("other_sentences", [_REWORDED, _SOURCE])
def test_given_likeness_decides(other_sentences: list[str]) -> None:
    likeness = np.zeros((5, 5))
    likeness[:4, 1:] = np.eye(4)  # each sentence belongs to the next one's counterpart
    aligned = pieces(" ".join(_TEXT), " ".join(other_sentences), likeness)
    paired = [piece for piece in aligned if piece.is_paired]
    texts = [" ".join(other_sentences)[slice(*piece.other)] for piece in paired]
    assert texts == other_sentences[1:]


_TEXTS = st.lists(
    st.sampled_from([*_TEXT, *_SOURCE, "好。", "我们昨天看了一部很长的电影。", "😀", "\n", "Ja! ", "e\u0301"]),
    max_size=9,
).map(" ".join)


@given(_TEXTS, _TEXTS)
def test_each_character_is_in_one_piece_in_order(hypothesis: str, other: str) -> None:
    aligned = pieces(hypothesis, other)
    for text, places in (
        (hypothesis, [piece.hypothesis for piece in aligned]),
        (other, [piece.other for piece in aligned]),
    ):
        covered = [place for start, end in places for place in range(start, end)]
        assert covered == sorted(set(covered))
        assert not [place for place in set(range(len(text))) - set(covered) if not text[place].isspace()]
        filled = [text[start:end] for start, end in places if start < end]
        assert [part.strip() for part in filled] == filled
        assert {start for start, end in places if start < end} <= {start for start, _ in sentence_ranges(text)}


@given(st.lists(st.integers(1, 300), max_size=6), st.lists(st.integers(1, 300), max_size=6))
def test_beads_cover_both_texts(lengths: list[int], other_lengths: list[int]) -> None:
    beads = align(lengths, other_lengths, np.zeros((len(lengths), len(other_lengths))))
    assert [number for bead in beads for number in range(*bead.first)] == list(range(len(lengths)))
    assert [number for bead in beads for number in range(*bead.other)] == list(range(len(other_lengths)))


def test_likeness() -> None:
    likeness = likeness_of(["Um ９ Uhr", "很长的电影", "Отец и брат"], ["at ٩ o'clock", "那部电影", "Отца и брата", ""])
    assert np.argmax(likeness, axis=1).tolist() == [0, 1, 2]
    assert (likeness[:, 3] == 0).all()
    assert likeness_of([], ["a"]).shape == (0, 1)
