from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.text.words import character_ranges, is_within_word, word_ranges


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in word_ranges(text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("  \t\u3000", []),
        (" Das  ist gut. ", ["Das", "ist", "gut", "."]),
        ("don't (v2.0)!!", ["don", "'", "t", "(", "v2", ".", "0", ")", "!", "!"]),
        ("snake_case 3,5%", ["snake_case", "3", ",", "5", "%"]),
        ("schön „alt“", ["schön", "„", "alt", "“"]),
        ("scho\u0308n", ["scho\u0308n"]),
        ("\u0301a", ["\u0301", "a"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("ภาษา", ["ภ", "า", "ษ", "า"]),
        ("很好OK。", ["很", "好", "OK", "。"]),
        ("שלום, עולם", ["שלום", ",", "עולם"]),
        ("a👍🏽b", ["a", "👍", "🏽", "b"]),
        ("❤\ufe0f!", ["❤\ufe0f", "!"]),
        ("a\u2028b", ["a", "b"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert cut(text) == words


@given(st.text(alphabet="ab1 .,'\u0301é好\u200d👍_\u3000ä"))
def test_words_are_apart_in_order_and_leave_out_white_space_only(text: str) -> None:
    ranges = word_ranges(text)
    assert all(start < end for start, end in ranges)
    assert all(previous[1] <= following[0] for previous, following in pairwise(ranges))
    covered = {place for start, end in ranges for place in range(start, end)}
    assert all((place in covered) is not character.isspace() for place, character in enumerate(text))


@given(st.text(alphabet="ab1 .,'\u0301é好\u200d👍_\u3000ä"))
def test_a_place_is_within_a_word_of_the_ranges(text: str) -> None:
    within = [any(start < place < end for start, end in word_ranges(text)) for place in range(len(text) + 2)]
    assert [is_within_word(text, place) for place in range(len(text) + 2)] == within


@given(st.text(alphabet="ab1 .,'_-"))
def test_the_quick_way_for_ascii_is_the_general_one(text: str) -> None:
    assert word_ranges(text) == word_ranges(text + " é")[:-1]


def test_characters() -> None:
    assert character_ranges("") == ()
    assert character_ranges("👍 ") == ((0, 1), (1, 2))
