from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese.annotation import ErrorSpan, Severity, UnplacedError
from matese.text.span_projection import project, relocate

texts = st.text("ab .\U0001f600", max_size=12)


def marked(text: str) -> tuple[str, ErrorSpan]:
    """Returns a text without its brackets and the span between them."""
    start = text.index("[")
    end = text.index("]") - 1
    return text.replace("[", "").replace("]", ""), ErrorSpan(start, end, Severity.MINOR, "Other")


@pytest.mark.parametrize(
    ("text", "new_text", "expected"),
    [
        ("[a]", "", None),
        ("[a] b", "a b", "a"),
        ("a [b]", "a b", "b"),
        # Repetition by the tool where two spans of a rater overlap.
        ("Yuan had[had] a field", "Yuan had a field", "had"),
        ("Yuan [had]had a field, had", "Yuan had a field, had", "had"),
        ("He ran to town[He ran to town.]", "He ran to town.", "He ran to town."),
        ("of [the town]He ran out of the town.", "He ran out of the town.", "the town"),
        # Typed by a rater.
        ("I saw [three] cars", "I saw cars", None),
        ("I saw [red] cars", "I saw blue cars", "blue"),
        ("He said so[,] then left, then ate", "He said so then left, then ate", None),
        ("[Wohl] typed twice here", "typed once here", None),
        ("[all of it]", "not all of it,", "all of it"),
        # Elsewhere typed, or doubled.
        ("oh I saw [blue] cars too", "I saw blue cars", "blue"),
        ('""Eis"" [ist] gut', '"Eis" ist gut, ist', "ist"),
        ("das \U0001f600[gute] Eis\U0001f600", "das gute Eis", "gute"),
    ],
)
def test_a_span_stands_for_the_same_words(text: str, new_text: str, expected: str | None) -> None:
    plain, span = marked(text)
    placed, lost = project([span], plain, new_text)
    assert [new_text[place.start : place.end] for place in placed] == ([] if expected is None else [expected])
    assert lost == ((UnplacedError(Severity.MINOR, "Other"),) if expected is None else ())


def test_which_of_two_is_told_from_what_stands_around() -> None:
    assert relocate(8, 11, "had, hadhad", "had, had") == (5, 8)
    plain, span = marked("had hadhad [had]")
    assert relocate(span.start, span.end, plain, "had had had") == (8, 11)
    plain, span = marked("oh, had [had] hadhad.")
    assert project([span], plain, "had had had.")[0][0].start == 4


@given(texts, texts, st.data())
def test_a_place_is_in_the_other_text_and_every_span_is_told(text: str, new_text: str, data: st.DataObject) -> None:
    if not text:
        return
    start = data.draw(st.integers(0, len(text) - 1))
    span = ErrorSpan(start, data.draw(st.integers(start + 1, len(text))), Severity.MAJOR)
    placed, lost = project([span], text, new_text)
    assert len(placed) + len(lost) == 1
    assert all(place.end <= len(new_text) for place in placed)
    if text == new_text:
        assert placed == (span,)


@given(texts, texts, texts)
def test_a_span_keeps_its_characters_where_text_is_added(before: str, words: str, after: str) -> None:
    text = f"x{before}y"
    longer = f"{words}x{before}y{after}"
    placed, _ = project([ErrorSpan(0, len(text), Severity.MINOR)], text, longer)
    assert [longer[place.start : place.end] for place in placed] == [text]


@pytest.mark.parametrize(
    ("text", "span", "new_text", "place"),
    [
        ("a b c", (2, 3), "a b c", (2, 3)),
        ("a bb c", (2, 4), "a b c", (2, 3)),
        ("a b c", (2, 3), "a  c", None),
        ("a b c", (2, 3), "a c", None),
        ("b", (0, 1), "", None),
        ("a b c", (2, 3), "x b y", (2, 3)),
        ("a b c", (2, 3), "x b b y", None),
        ("a b c", (1, 2), "ab c", None),
        ("aa", (0, 1), "a", (0, 1)),
    ],
)
def test_relocate(text: str, span: tuple[int, int], new_text: str, place: tuple[int, int] | None) -> None:
    assert relocate(*span, text, new_text) == place


@given(st.text("ab "), st.text("ab ", min_size=1), st.text("ab "), st.text("ab c"))
def test_relocate_stays_within_the_other_text(before: str, marked: str, after: str, new_text: str) -> None:
    start = len(before)
    end = len(before) + len(marked)
    place = relocate(start, end, before + marked + after, new_text)
    assert place is None or 0 <= place[0] < place[1] <= len(new_text)
    assert relocate(start, end, before + marked + after, before + marked + after) == (start, end)
