from __future__ import annotations

import pytest

from matese.annotation import Segment, SegmentKey
from matese.checks import repetition, scripts
from matese.checks.rule import Texts
from matese.text.words import is_copy


def texts(source: str | None, hypothesis: str, pair: str = "", *references: str) -> Texts:
    return Texts(Segment(hypothesis, source, references, SegmentKey(lang_pair=pair or None)))


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
    assert is_copy(hypothesis, source) is expected


@pytest.mark.parametrize(
    ("pair", "source", "hypothesis", "expected"),
    [
        ("", "Это хорошо.", "Das ist хорошо.", []),
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
        ("eng-srp_Cyrl", "good", "добро", []),
        ("eng-srp_Latn", "good", "dobro добро", ["добро"]),
        ("en-am", "peace", "ሰላም 和平", ["和平"]),
        # Beside a name in Latin letters, which is right; and a gloss in brackets is.
        ("en-ru", "Dragons Den", "звезда Dragons शब्द", ["शब्द"]),
        ("en-ru", "the voice of the energy consumer", "голос (the voice of the energy consumer)", []),
        (
            "en-ru",
            "the voice of the energy consumer",
            "голос the voice of the energy consumer",
            ["the voice of the energy consumer"],
        ),
    ],
)
def test_scripts(pair: str, source: str, hypothesis: str, expected: list[str]) -> None:
    spans = list(scripts.find(texts(source, hypothesis, pair)))
    assert [hypothesis[span.start : span.end] for span in spans] == expected


def test_scripts_of_a_reference_are_right() -> None:
    for references, count in (((), 1), (("im Wort мир",), 0)):
        assert len(list(scripts.find(texts(None, "das Wort мир", "en-de", *references)))) == count


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
        ("x", "好的好的好的", []),
        ("x", "我们今天去学校吧我们今天去学校吧。", ["我们今天去学校吧"]),
        ("x", "好的好的好的好的好的", ["好的好的好的好的"]),
        ("x", "😀 a a a", ["a a"]),
        ("x", f"{''.join(map(chr, range(0x4E00, 0x4E50))) * 2}", ["".join(map(chr, range(0x4E00, 0x4E50)))]),
        # Letters with their marks are one word: no vowel sign or virama ends it.
        ("x", "उसने नया सत्तर", []),
        ("x", "वह गया गया गया", ["गया गया"]),
        ("x", "মিমিক, বিবিধ, নননা", []),
        ("x", "ကောင်းကောင်း", []),
    ],
)
def test_repetitions(source: str | None, hypothesis: str, expected: list[str]) -> None:
    spans = repetition.find(texts(source, hypothesis))
    assert [hypothesis[span.start : span.end] for span in spans] == expected


@pytest.mark.parametrize(
    ("hypothesis", "expected"),
    [
        ("потому что что-то не так", []),
        ("что-то что-то потому потому", [repetition.DOUBLED]),
        ("la la nous nous toujours toujours", [repetition.DOUBLED_SHORT, repetition.DOUBLED]),
        ("cənub-qərbi qərbi", [repetition.DOUBLED]),
        ("toujours, toujours", []),
    ],
)
def test_doubled_words(hypothesis: str, expected: list[str]) -> None:
    spans = repetition.find(texts("x", hypothesis, "en-fr"))
    assert [span.category for span in spans] == expected


@pytest.mark.parametrize(
    ("lang", "hypothesis", "expected"),
    [
        ("zh", "他的的房子", [(2, 3)]),
        ("zh", "他的的", [(2, 3)]),
        ("zh_TW", "重要的的成功和她的的書", [(3, 4), (9, 10)]),
        ("zh", "达到目的的方式", []),
        ("zh", "的的确确如此，從的的喀喀湖到的的士", []),
        ("zh", "看看，天天，为了了解，现在在，谢谢", []),
        ("ja", "水をを飲む", [(2, 3)]),
        ("ja", "水をを", [(2, 3)]),
        ("ja", "彼がが来て、駅のの前で、家にに帰る", [(2, 3), (8, 9), (14, 15)]),
        ("ja", "多数ががれきに、反撃ののろし、なにに対して、人々", []),
        ("ja", "休んだものの結果は、今までで最も、ははは、ときと共に", []),
        ("de", "他的的房子", []),
        (None, "水をを飲む", []),
    ],
)
def test_doubled_particles(lang: str | None, hypothesis: str, expected: list[tuple[int, int]]) -> None:
    spans = list(repetition.find(texts("x", hypothesis, f"en-{lang}" if lang else "")))
    assert [(span.start, span.end) for span in spans] == expected
    assert {span.category for span in spans} <= {repetition.REPEATED}
