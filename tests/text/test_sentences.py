"""Sentences: offsets are exact, nothing is lost, and the language need not be known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.text.sentences import sentence_ranges, size


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_ranges(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n\t ", []),
        ("Ja.", ["Ja."]),
        ("no end at all, only commas, and more", ["no end at all, only commas, and more"]),
        ("  This is the first.   And the second one. ", ["This is the first.", "And the second one."]),
        (
            "the very first line\nthe second line\r\n\r\nand the third line",
            ["the very first line", "the second line", "and the third line"],
        ),
        ("- bread and butter\n- cheese and ham", ["- bread and butter", "- cheese and ham"]),
        ("Ja. Nein. Das weiß ich nicht. Gut.", ["Ja. Nein. Das weiß ich nicht. Gut."]),
        ("Er kam am 3. Mai nach Hause.", ["Er kam am 3. Mai nach Hause."]),
        ("It happened in 1990. Nobody had seen it.", ["It happened in 1990.", "Nobody had seen it."]),
        ("我昨天去了电影院。电影很长！你呢？", ["我昨天去了电影院。", "电影很长！你呢？"]),
        ("ذهبت إلى السينما أمس. هل كان الفيلم طويلا؟", ["ذهبت إلى السينما أمس.", "هل كان الفيلم طويلا؟"]),
        (
            "ผมไปดูหนังเมื่อวานนี้กับเพื่อนของผมทั้งสองคน เราไปกินข้าวที่ร้านอาหารริมแม่น้ำใกล้บ้าน",
            ["ผมไปดูหนังเมื่อวานนี้กับเพื่อนของผมทั้งสองคน", "เราไปกินข้าวที่ร้านอาหารริมแม่น้ำใกล้บ้าน"],
        ),
        ("“Come in!” he said. He smiled at me.", ["“Come in!” he said.", "He smiled at me."]),
        ('"It is cold! Sit down here." He smiled at me.', ['"It is cold! Sit down here."', "He smiled at me."]),
        (
            '"Draußen ist es heute sehr kalt! Setz dich doch zu mir ans Feuer." „Nein. Ich gehe jetzt zu ihr.“',
            [
                '"Draußen ist es heute sehr kalt!',
                'Setz dich doch zu mir ans Feuer."',
                "„Nein. Ich gehe jetzt zu ihr.“",
            ],
        ),
    ],
)
def test_table(text: str, sentences: list[str]) -> None:
    assert _sentences(text) == sentences


@given(st.text(st.sampled_from('aB1.!?"”“«»「」。\n \u2028\u3000ก😀\u0301-'), max_size=80))
def test_every_character_is_in_one_sentence(text: str) -> None:
    place = 0
    for start, end in sentence_ranges(text):
        assert not text[place:start].strip()
        assert text[start:end] == text[start:end].strip() != ""
        place = end
    assert not text[place:].strip()


def test_size_is_comparable_across_scripts() -> None:
    assert size("") == 0
    assert 0.7 < size("我们昨天晚上看了一部很长的电影。") / size("We saw a very long film yesterday evening.") < 1.4
