from __future__ import annotations

import pytest

from matese import text as texts
from matese.checks import marks, words


@pytest.mark.parametrize(
    ("source", "hypothesis", "expected"),
    [
        ("", "", False),
        ("The museum is closed.", "the museum is  closed", True),
        ("Das ist ein Haus.", "Das ist kein Haus.", False),
        ("Red Hot Chili Peppers", "Red Hot Chili Peppers", False),
        ("iPhone 15 Pro Max", "iPhone 15 Pro Max", False),
        ("https://example.org/a-b c@example.org x.y", "https://example.org/a-b c@example.org x.y", False),
        ("Это всё очень хорошо.", "Это всё очень хорошо", True),
        ("东京大学", "东京大学", False),
        ("今天的天气很好。", "今天的天气很好", True),
    ],
)
def test_copies(source: str, hypothesis: str, expected: bool) -> None:
    assert texts.is_copy(hypothesis, source) is expected


@pytest.mark.parametrize(
    ("pair", "source", "hypothesis", "expected"),
    [
        ("-", "Это хорошо.", "Das ist хорошо.", []),
        ("xx-yy", "Это хорошо.", "Das ist хорошо.", []),
        ("ru-de", "Это очень хорошо.", "Das ist очень хорошо.", ["очень хорошо"]),
        ("en-de", "the Russian word мир", "das russische Wort мир", []),
        ("en-de", "Moscow", "Mоskau", ["о"]),
        ("en-de", "5 μm, β", "5 μm, β 😀", []),
        ("en-zh", "Apple iPhone Pro Max", "Apple iPhone Pro Max", []),
        ("en-zh", "He said that it was all over now.", "他说 that it was all over now.", ["that it was all over now"]),
        ("en-ja", "good", "とても良いカー々ー", []),
        ("en-zh", "the school", "学校は", ["は"]),
        ("ja-ko", "学校", "학교(学校)", []),
    ],
)
def test_scripts(pair: str, source: str, hypothesis: str, expected: list[str]) -> None:
    source_lang, _, target_lang = pair.partition("-")
    spans = list(words.foreign(hypothesis, source, source_lang=source_lang, target_lang=target_lang))
    assert [hypothesis[span.start : span.end] for span in spans] == expected


def test_scripts_of_a_reference_are_right() -> None:
    for references, count in (((), 1), (("im Wort мир",), 0)):
        spans = words.foreign("das Wort мир", None, references, source_lang="en", target_lang="de")
        assert len(list(spans)) == count


@pytest.mark.parametrize(
    ("source", "hypothesis", "expected"),
    [
        ("", "", []),
        (None, "die die, the that that, sehr sehr gut", []),
        ("x", "Schritt für Schritt, again and again and again", []),
        ("no, no, no!", "nein, nein, nein!", []),
        ("She came and she went. She came and she went.", "Sie kam und sie ging. Sie kam und sie ging.", []),
        ("x", "nein, nein, nein, nein", ["nein, nein, nein"]),
        ("x", "Er sagt, dass er sagt, dass er kommt", ["er sagt, dass"]),
        ("x", "10 10 10 10 ------ !!!!!! ......", []),
        ("x", "看看，谢谢，哈哈哈", []),
        ("x", "我们去学校我们去学校。", ["我们去学校"]),
        ("x", "好的好的好的好的", ["好的好的好的"]),
        ("x", "😀 a a a", ["a a"]),
    ],
)
def test_repetitions(source: str | None, hypothesis: str, expected: list[str]) -> None:
    assert [hypothesis[span.start : span.end] for span in words.repeated(hypothesis, source)] == expected


@pytest.mark.parametrize(
    ("source", "hypothesis", "expected"),
    [
        ("", "", []),
        (None, 'a (b [c] {d}) „e“ “f” »g« « h » ”i” "j"', []),
        (None, "Don't, l'eau, the dogs' tails, ’tis, 'n, ‚x‘", []),
        (None, "他说：“你好”《书》「『引』」（括号）【注】", []),
        (None, "（半角)", []),
        (None, '1) eins a) zwei :) ;-( 5" breit', []),
        ("“To be continued in the next line", "„Geht in der nächsten Zeile weiter", []),
        ("(a list", "(eine Liste", []),
        ("[0, 1)", "[0, 1)", []),
        ("a", "(b", [0]),
        ("a", "bcd) c]", [3, 6]),
        ("“a”", "„a", [0]),
        ("「a」", "“a", [0]),
        ("(a", "„a“ ]", [4]),
        ("a", "😀 (", [2]),
        ("a", '<b title="(">x</b> {(}', []),
    ],
)
def test_unpaired_marks(source: str | None, hypothesis: str, expected: list[int]) -> None:
    assert [span.start for span in marks.unpaired(hypothesis, source)] == expected


@pytest.mark.parametrize(
    ("source", "hypothesis", "expected"),
    [
        ("", "", []),
        ("50% discount, 5 % off", "50 % Rabatt", []),
        ("%s of %d", "%d von %s", []),
        ("%s and %s", "%s", ["%s"]),
        ("%(name)s {0} %1$d", "", ["%(name)s", "{0}", "%1$d"]),
        ('<a href="en">x</a><br/>', '<a href="de">y</a>', ["<br/>"]),
        ("R&amp;D {as it is said}", "R&D {wie man sagt}", []),
        ("a < b and c > d", "kleiner", []),
    ],
)
def test_lost_placeholders(source: str, hypothesis: str, expected: list[str]) -> None:
    assert [source[span.start : span.end] for span in marks.lost(source, hypothesis)] == expected
