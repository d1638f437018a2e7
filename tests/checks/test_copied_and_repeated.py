from __future__ import annotations

import pytest

from matese.annotation import Segment, SegmentKey
from matese.checks import artefacts, repetition, scripts
from matese.checks.rule import Texts
from matese.text.words import is_copy

END = "Then choose your own password."
RUSSIAN = "Потом выберите свой новый пароль."


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
        (
            '<span style="color: red; font-weight: bold">No</span>',
            '<span style="color: red; font-weight: bold">No</span>',
            False,
        ),
        ("Please check the <b>network</b> again", "Please check the <b>network</b> again", True),
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
        # Words may be names and quotations; sentences of five words are none.
        ("ru-de", "Это очень хорошо.", "Das ist очень хорошо.", []),
        ("en-zh", "Apple iPhone Pro Max", "Apple iPhone Pro Max", []),
        ("en-ru", "the voice of the energy consumer", "голос (the voice of the energy consumer)", []),
        (
            "en-ja",
            "The error reads “connection was reset by peer”.",
            "エラーは「connection was reset by peer」です。",
            [],
        ),
        (
            "en-ja",
            "Press it. Then choose your own password.",
            "このキーを押します。Then choose your own password.",
            [END],
        ),
        (
            "en-de",
            "Press the key now. Then choose it.",
            "Die Taste drücken. Потом выберите свой новый пароль.",
            [RUSSIAN],
        ),
        ("en-de", f"“{RUSSIAN}” is Russian.", f"Das heißt anders. {RUSSIAN}", []),
        # The source beside its translation, as in subtitles for learners.
        ("en-zh", "how to use the model hub.", "如何使用模型中心。 how to use the model hub.", []),
        # Letters of two alphabets in a word.
        ("en-de", "Moscow", "Mоskau und Kiew", ["Mоskau"]),
        ("", "Moscow", "Mоskau", ["Mоskau"]),
        ("en-ru", "Save the line", "Сохранить cтроку", ["cтроку"]),
        ("en-uk", "Broken modifier", "Зламаний модифiкатор", ["модифiкатор"]),
        ("en-el", "Open file", "Άνoιγμα αρχείου", ["Άνoιγμα"]),
        ("en-ru", "a USB port, on your iPhone, a 3D model", "USB-порт, на iPhone'е, 3D-модель", []),
        ("en-tg", "The ISIS flag of HTML", "нишони ISISро, HTMLу", []),
        ("en-de", "5 μm, β, μmol, kΩ", "5 μm, β, μmol, kΩ", []),
        ("en-ce", "Tap", "ТIетаIайе", []),  # Latin "I" for a letter that keyboards lack
        ("en-de", "the word Mоskau", "das Wort Mоskau", []),
        ("en-ur_Aran", "Open it now please, dear friend.", "اسے ابھی کھولیں۔ Mоskau", ["Mоskau"]),  # a style of Arab
        # Of languages in two scripts.
        ("en-sr", "good. Very good indeed today.", "Danas je dobro. Веома добро је данас баш.", []),
        (
            "en-sr_Latn",
            "good. Very good indeed today.",
            "Danas je dobro. Веома добро је данас баш.",
            ["Веома добро је данас баш."],
        ),
    ],
)
def test_scripts(pair: str, source: str, hypothesis: str, expected: list[str]) -> None:
    spans = list(scripts.find(texts(source, hypothesis, pair)))
    assert [hypothesis[span.start : span.end] for span in spans] == expected


def test_scripts_of_a_reference_are_right() -> None:
    hypothesis = f"Das ist anders. {RUSSIAN}"
    for references, count in (((), 1), ((f"So heißt es: {RUSSIAN}",), 0)):
        assert len(list(scripts.find(texts(None, hypothesis, "en-de", *references)))) == count


@pytest.mark.parametrize(
    ("source", "hypothesis", "expected"),
    [
        ("", "", []),
        (None, "die die, the that that, sehr sehr gut", []),
        ("x", "again and again and again, la la la, Bora Bora", []),
        ("x", "nein, nein, nein, nein", []),
        ("x", "Er ist sehr sehr sehr müde.", ["sehr sehr"]),
        ("x", "Nein Nein NEIN nein", ["Nein NEIN nein"]),
        ("x", "die Datei die Datei die Datei %s", ["die Datei die Datei"]),
        ("x", "%s: %s, %s %s %s", []),
        ("x", "10 10 10 10 ------ !!!!!! ......", []),
        ("x", "Das ist mir sehr neu. Das ist mir sehr neu.", ["Das ist mir sehr neu."]),
        ("x", "No. No. No. Yes! Yes! Gut. Das ist gut.", []),
        # The source repeats, too.
        ("She came and went. She came and went.", "Sie kam und ging. Sie kam und ging.", []),
        ("very very tired", "sehr sehr sehr müde", []),
        ("いやいや、そうじゃない", "Nein Nein Nein, so nicht", []),
        # In scripts without spaces, three characters stand for a word; of one character, they are a laugh.
        ("x", "看看，谢谢，哈哈哈哈哈哈哈哈哈", []),
        ("x", "好的好的好的", []),
        ("x", "去学校去学校去学校吧。", ["去学校去学校"]),
        # Letters with their marks are one word: no vowel sign or virama ends it.
        ("x", "उसने नया सत्तर", []),
        # A word of three letters stands there four times: Venda has it three times.
        ("x", "vhe vha vha vha tshi tamba", []),
        ("x", "die die die die Katze", ["die die die"]),
        ("x", "वह बोलता बोलता बोलता", ["बोलता बोलता"]),
        ("x", "മിമിക, എസ് എസ് എസ്", []),
    ],
)
def test_repetitions(source: str | None, hypothesis: str, expected: list[str]) -> None:
    spans = repetition.find(texts(source, hypothesis))
    assert [hypothesis[span.start : span.end] for span in spans] == expected


def test_repetitions_of_a_reference_are_right() -> None:
    assert list(repetition.find(texts("x", "sehr sehr sehr", "en-de", "ganz ganz"))) == []


@pytest.mark.parametrize(
    ("source", "hypothesis", "expected"),
    [
        ("", "", []),
        ("Nice", "<think>It is nice.</think> Schön", ["<think>It is nice.</think>"]),
        ("Nice", "Hm, it is nice.</think>Schön", ["</think>"]),
        ("Use <think> tags", "Nimm <think>-Tags", []),
        ("Nice", "Here is the translation: Schön", ["Here is the translation:"]),
        ("Nice", "Sure! Here's the German translation of your text:\nSchön", None),
        ("Schön", "以下是翻译：很好", ["以下是翻译："]),
        ("Oto tłumaczenie: nic", "Here is the translation: nothing", []),
        ("Nice", "```\nSchön\n```", ["```\nSchön\n```"]),
        ("```\nNice\n```", "```\nSchön\n```", []),
        ("Use ```", "Nimm ```x```", []),
        ("Nice", "Sch\ufffd\ufffdn", ["\ufffd\ufffd"]),
        ("Over it", "das Ã¼ber dem â€žWortâ€œ", ["Ã¼ber", "â€žWortâ€œ"]),
        ("Ã¼ber", "Ã¼ber", []),
        ("x", "SÃO PAULO, l'été – où, 100 % €, naïve Äpfel, “quoted”", []),
    ],
)
def test_artefacts(source: str, hypothesis: str, expected: list[str] | None) -> None:
    spans = artefacts.find(texts(source, hypothesis))
    marked = [hypothesis[span.start : span.end] for span in spans]
    assert marked == ([hypothesis.partition("\n")[0]] if expected is None else expected)
