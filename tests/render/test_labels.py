import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.render.labels import show, show_character


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("\0", "␀"),
        ("\t\n\r\x0b\x0c", "␉␊␍␋␌"),
        ("\x1b[31mrot\x1b[0m", "␛[31mrot␛[0m"),
        ("\x7f", "␡"),
        ("\x9b2J \x85", "<U+009B>2J <U+0085>"),
        ("a\u2028b\u2029", "a<U+2028>b<U+2029>"),
        ("\u202eabc\u202c \u2067x\u2069", "<U+202E>abc<U+202C> <U+2067>x<U+2069>"),
        ("\ud800", "<U+D800>"),
    ],
)
def test_what_would_act_is_shown(text: str, shown: str) -> None:
    assert show(text) == shown


@pytest.mark.parametrize(
    "text", ["Überfluss", "你好", "שלום", "e\u0301", "👩‍👩‍👧", "می\u200cخواهم", "a\u00a0b", "\u200f"]
)
def test_what_readers_see_stays(text: str) -> None:
    assert show(text) == text


@given(st.text(st.characters(), max_size=40))
def test_nothing_that_acts_is_left_and_characters_keep_their_order(text: str) -> None:
    shown = show(text)
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in shown)
    assert shown == "".join(map(show_character, text))
