from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_prep.synthesis import KINDS
from matese.annotation import ErrorSpan, Severity
from matese.corruption import lexicon, meaning_errors, pools, reference_damage, wording_errors
from matese.corruption.edits import DrawEdit, Edit, Setting
from matese.corruption.pools import Pool

# Ideographs by number, which stand together oftener than by chance.
PAIRS = [chr(0x4E00 + 2 * number) + chr(0x4E01 + 2 * number) for number in range(80)]
COMPOUNDS = ["。".join([*PAIRS[shift:], *PAIRS[:shift], "学校", "老师"]) for shift in range(6)]
TEXTS = {
    "en": (
        "The old bridge near Dresden is not open on 14 May, says Anna Weber.",
        "Yesterday the mayor of Leipzig opened three new schools in Bremen with Peter Lang.",
        "A painter from Hamburg sold her largest picture before the summer market.",
        "Two bridges beside three bridges.",
    ),
    "de": (
        "Die alte Brücke bei Dresden ist am 14. Mai nicht offen.",
        "Gestern hat der Bürgermeister von Leipzig drei neue Schulen in Bremen besucht.",
        "Zwei Brücken neben drei Brücken.",
    ),
    "zh": (
        "我们今天在北京没有看见3个新的学校。",
        "他们昨天在上海增加了学校的学生。",
        "学校的老师可以增加时间。",
        f"他们看见{PAIRS[47]}。",
    ),
    "ru": (
        "Старый мост не открыт сегодня, сказала Анна 14 мая, и Вера тоже.",
        "Вчера Пётр был в новой школе вместе с отцом.",
        "Две школы около школы.",
    ),
}


def pool_of(language: str) -> Pool:
    texts = [*TEXTS["zh"][:3], *COMPOUNDS] if language == "zh" else TEXTS[language]
    return pools.build(language, texts, [" ".join(TEXTS["en"])])


def edits_of(kind: DrawEdit, text: str, language: str, source: str | None = None, n: int = 60) -> list[Edit]:
    setting = Setting(pool_of(language), source)
    edits = (kind(text, random.Random(seed), setting) for seed in range(n))
    return [edit for edit in edits if edit is not None]


def outcomes(kind: DrawEdit, text: str, language: str = "en", source: str | None = None) -> set[str]:
    """The changed texts, with brackets around what is marked."""
    texts = set()
    for edit in edits_of(kind, text, language, source):
        new = edit.apply(text)
        if edit.marked:
            start, end = edit.marked
            new = f"{new[:start]}[{new[start:end]}]{new[end:]}"
        texts.add(new)
    return texts


def pattern_of_all(texts: set[str], pattern: str) -> None:
    assert texts
    for text in texts:
        assert re.fullmatch(pattern, text), text


@pytest.mark.parametrize("kind", [kind for kind, _ in KINDS.values()], ids=list(KINDS))
@pytest.mark.parametrize("text", ["", " ", "!", "  \n"])
@pytest.mark.parametrize("language", list(TEXTS))
def test_nothing_is_found_in_a_text_without_words(kind: DrawEdit, text: str, language: str) -> None:
    assert edits_of(kind, text, language, source="") == []


@pytest.mark.parametrize("kind", [kind for kind, _ in KINDS.values()], ids=list(KINDS))
@pytest.mark.parametrize("language", list(TEXTS))
def test_every_change_changes_and_marks_what_it_puts_in(kind: DrawEdit, language: str) -> None:
    source = "Ponte velha perto da cidade" if language == "en" else TEXTS["en"][0]
    edits = [(text, edit) for text in TEXTS[language] for edit in edits_of(kind, text, language, source)]
    absent = {("zh", wording_errors.typo), ("zh", wording_errors.casing), ("zh", meaning_errors.form)}
    absent |= {("zh", meaning_errors.tense), ("zh", meaning_errors.role), ("ru", meaning_errors.role)}
    assert bool(edits) == ((language, kind) not in absent)
    for text, edit in edits:
        assert edit.apply(text) != text
        if edit.marked is None:
            assert kind in {wording_errors.omission, wording_errors.truncated}
            continue
        start, end = edit.marked
        assert edit.start <= start < end <= edit.start + len(edit.text)
        marked = edit.apply(text)[start:end]
        assert marked == marked.strip()
        # What stands beside the mark in the new part is no more than a space.
        assert edit.text.strip() == marked


def test_numbers() -> None:
    pattern_of_all(outcomes(meaning_errors.number, "It cost 20 000 euros."), r"It cost \[(?!20 ?000\])[\d ]+\] euros\.")
    pattern_of_all(outcomes(meaning_errors.number, "It cost 1,500 euros."), r"It cost \[(?!1,?500\])[\d,]+\] euros\.")
    pattern_of_all(outcomes(meaning_errors.number, "About 3.5 km."), r"About \[(?!3\.5\])[\d.]+\] km\.")
    pattern_of_all(outcomes(meaning_errors.number, "Three of us."), r"\[(?!Three)[A-Z][a-z]+\] of us\.")
    pattern_of_all(outcomes(meaning_errors.number, "我有三个。", "zh"), r"我有\[(?!三).个\]。")


def test_negations() -> None:
    assert outcomes(meaning_errors.negation, "She never sleeps.") == {"She [sleeps]."}
    assert outcomes(meaning_errors.negation, "Not everyone came.") == {"[Everyone] came.", "Not [nobody] came."}
    assert outcomes(meaning_errors.negation, "It was late.") == {"It was [not] late.", "It [wasn't] late."}
    assert outcomes(meaning_errors.negation, "Er hat kein Haus.", "de") == {
        "Er hat [ein] Haus.",
        "Er hat [nicht] kein Haus.",
    }
    assert outcomes(meaning_errors.negation, "Он был дома.", "ru") == {"Он [не] был дома."}
    assert outcomes(meaning_errors.negation, "Он не пришёл.", "ru") == {"Он [пришёл]."}
    assert outcomes(meaning_errors.negation, "他没有去。", "zh") == {"他[去]。"}
    # Neither the end of a clause nor a word of which it is a part.
    assert outcomes(meaning_errors.negation, "weil er da ist.", "de") == set()
    assert outcomes(meaning_errors.negation, "The knot held.") == set()


def test_antonyms_keep_their_capitals() -> None:
    assert outcomes(meaning_errors.antonym, "BEFORE, More!") == {"[AFTER], More!", "BEFORE, [Less]!"}
    assert outcomes(meaning_errors.antonym, "Moreover it rained.") == set()
    assert outcomes(meaning_errors.antonym, "Die Männer kochten.", "de") == {"Die [Frauen] kochten."}
    assert outcomes(meaning_errors.antonym, "Am Morgen.", "de") == {"Am [Abend]."}
    assert outcomes(meaning_errors.antonym, "Erst morgen.", "de") == {"Erst [gestern]."}
    assert outcomes(meaning_errors.antonym, "人口增加了。", "zh") == {"人口[减少]了。"}


def test_words_of_one_kind_and_tenses() -> None:
    texts = outcomes(meaning_errors.related, "Come Monday.")
    assert texts == {f"Come [{day}]." for day in ("Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")}
    assert outcomes(meaning_errors.related, "Marches march.") == set()
    japanese = lexicon.swaps("related", "ja")
    assert japanese
    assert japanese.pattern.findall("バスでバスケットへ") == ["バス"], "no part of a word of katakana"
    assert "Come [May]." in outcomes(meaning_errors.related, "Come March.")
    assert outcomes(meaning_errors.tense, "Sie hat Hunger.", "de") == {"Sie [hatte] Hunger."}
    assert {edit.severity for edit in edits_of(meaning_errors.tense, "Sie hat Hunger.", "de")} == {Severity.MAJOR}


def test_exchanged_roles() -> None:
    assert outcomes(meaning_errors.role, "Here Dresden meets Leipzig.") == {"Here [Leipzig meets Dresden]."}
    assert outcomes(meaning_errors.role, "It fell from 20 to 15.") == {"It fell from [15 to 20]."}
    assert outcomes(meaning_errors.role, "中国击败了日本。", "zh") == {"[日本击败了中国]。"}
    for text in (
        "He saw Dresden and Leipzig.",
        "He saw Dresden, then Leipzig.",
        "Dresden Leipzig",
        "On 14 May 2019.",
        "5 by 5",
        "From 9:00 to 8:30.",
        "Town Dresden of Leipzig",
        f"Dresden {'and so on ' * 4}Leipzig",
    ):
        assert outcomes(meaning_errors.role, text) == set(), text
    # The case endings say who does what.
    assert outcomes(meaning_errors.role, "Вера видит Вера Анна", "ru") == set()


def test_forms_begin_alike_and_are_no_slips() -> None:
    texts = ["They walked home.", "She walked on.", "He walks.", "It walks.", "walkable roads", "A wall, a walls."]
    setting = Setting(pools.build("en", texts, []))
    edits = [meaning_errors.form("We walk, and Walked.", random.Random(seed), setting) for seed in range(30)]
    assert {edit.text for edit in edits if edit} == {"walked", "walks"}, "walkable stands there once, walls is no walk"
    assert {edit.severity for edit in edits if edit} == {Severity.MINOR}
    assert not outcomes(meaning_errors.form, "学校的老师可以增加时间。", "zh")


def test_names_are_no_sentence_starts_and_no_german_nouns() -> None:
    assert {"Dresden", "Leipzig", "Hamburg"} <= pool_of("en").is_name
    assert not {"Yesterday", "The"} & pool_of("en").is_name
    assert pool_of("de").is_name == {"Dresden", "Leipzig", "Bremen"}
    pattern_of_all(
        outcomes(meaning_errors.entity, "He lives in Hamburg now."), r"He lives in \[(?!Hamburg)[A-Z]\w+\] now\."
    )
    pattern_of_all(outcomes(meaning_errors.entity, "他在北京。", "zh"), r"他在\[(?!北京).+\]。")


def test_wording() -> None:
    assert outcomes(wording_errors.omission, "One two, three") == {"One, three", "One two,", "One"}
    assert outcomes(wording_errors.repetition, "so we go") == {"so we [we] go", "so we go [go]", "so we go [we go]"}
    assert outcomes(wording_errors.order, "so we go") == {"so [go we]"}
    assert outcomes(wording_errors.order, "so we, go") == set()
    assert outcomes(wording_errors.punctuation, "Go on.") == {"Go on[?]", "Go on[!]", "Go on[,]", "Go [on]"}
    assert outcomes(wording_errors.casing, "We saw Anna there") == {
        "We [Saw] Anna there",
        "We saw [anna] there",
        "We saw Anna [There]",
    }
    assert outcomes(wording_errors.truncated, "a b c d e f g h") == {"a b c d", "a b c d e"}
    assert outcomes(wording_errors.untranslated, "Wir gehen", "de", "we leave") == {"Wir [leave]"}
    assert outcomes(wording_errors.untranslated, "Wir gehen leave", "de", "leave") == set()
    assert {edit.severity for edit in edits_of(wording_errors.repetition, "so we", "en")} == {Severity.MINOR}
    assert Severity.MAJOR in {edit.severity for edit in edits_of(wording_errors.repetition, "so we go on", "en")}


def test_ambiguous_references() -> None:
    texts = outcomes(reference_damage.ambiguous, "She saw 1,500 people.")
    assert texts == {f"She saw {word} people." for word in ("several", "some", "a few")}
    assert outcomes(reference_damage.ambiguous, "Two came.") == {"Several came.", "Some came.", "A few came."}
    assert outcomes(reference_damage.ambiguous, "Here is Anna Weber.") == {
        "Here is someone.",
        "Here is a certain person.",
    }
    assert outcomes(reference_damage.ambiguous, "他看见3个学校。", "zh") == {"他看见几个学校。", "他看见数个学校。"}
    for text in (
        "Since 2019 it rains.",
        "On 14 May it rains.",
        "Now 5.",
        "At 100% it ends.",
        "Near Dresden.",
        "U2 40x",
    ):
        assert outcomes(reference_damage.ambiguous, text) == set(), text
    assert outcomes(reference_damage.ambiguous, "5月14日下雨。", "zh") == set()
    assert outcomes(reference_damage.ambiguous, "She saw 1,500 people.", "ru") == {"She saw несколько people."}


def test_poor_and_unrelated_references() -> None:
    text = "The small boat came into the old harbour late at night, as the wind rose."
    texts = outcomes(reference_damage.poor, text)
    assert texts
    for damaged in texts:
        # Three errors in 15 words, which change one to six words each.
        assert damaged != text
        assert len(set(text.split()) & set(damaged.split())) >= 4
    assert outcomes(reference_damage.poor, "Go.") == set()
    (first, *others) = TEXTS["en"]
    assert outcomes(reference_damage.unrelated, first) == set(others)
    assert outcomes(reference_damage.unrelated, "Two bridges.") == set(TEXTS["en"][:3])


def test_a_shuffled_text_has_the_same_words() -> None:
    setting = Setting(pool_of("en"))
    mixed = wording_errors.shuffled("we go home at six", random.Random(1), setting)
    assert mixed is not None
    assert mixed != "we go home at six"
    assert sorted(mixed.split()) == ["at", "go", "home", "six", "we"]
    assert wording_errors.shuffled("we go home now", random.Random(1), setting) is None


def test_words_of_scripts_without_spaces() -> None:
    assert "学校" in pools.build("zh", COMPOUNDS, []).compounds
    text = "हिन्दी में OKテスト学3.5"
    assert [text[start:end] for start, end in pools.words_of(text)] == ["हिन्दी", "में", "OK", "テスト", "学", "3.5"]


@pytest.mark.parametrize(("table", "language"), sorted(lexicon._tables()))
def test_every_line_of_the_lexicon_can_be_used(table: str, language: str) -> None:
    if table == "negator":
        assert lexicon.pattern("negator", language)
    elif table.startswith("negatable"):
        assert lexicon.negatable(language)
    elif table.startswith("vague"):
        assert lexicon.vague(table.removeprefix("vague "), language)
    else:
        swaps = lexicon.swaps(table, language)
        assert swaps
        for word in swaps.replacements:
            assert swaps.pattern.fullmatch(word)
            assert all(other.casefold() != word for other in swaps.of(word))


@pytest.mark.parametrize(
    ("table", "language"), sorted(key for key in lexicon._tables() if key[0] in {"antonym", "related", "tense"})
)
def test_sets_of_the_lexicon_differ_and_repeat_no_word(table: str, language: str) -> None:
    sets = [words.split(":") for words in lexicon._tables()[table, language].split()]
    for members in sets:
        assert len(members) >= 2
        assert "" not in members
        assert len({member.casefold() for member in members}) == len(members), members
    assert len({frozenset(members) for members in sets}) == len(sets)


def test_enough_antonyms() -> None:
    for language in ["en", "de", "zh", "ru", "cs", "uk", "ja", "hi", "es", "fr", "it", "pt", "is"]:
        swaps = lexicon.swaps("antonym", language)
        assert swaps
        assert len(swaps.replacements) >= (400 if language in {"en", "de", "zh", "ru"} else 120)
        assert lexicon.swaps("related", language)
    assert lexicon.swaps("antonym", "xx") is None
    assert lexicon.negatable("xx") is None
    assert lexicon.pattern("negator", "xx") is None
    assert lexicon.vague("name", "xx") == ()


spans = st.tuples(st.integers(0, 9), st.integers(1, 5)).map(
    lambda pair: ErrorSpan(pair[0], min(10, pair[0] + pair[1]), Severity.MINOR)
)


@given(st.integers(0, 10), st.integers(0, 10), st.text(max_size=4), st.booleans(), st.lists(spans, max_size=4))
def test_moved_spans_cover_the_same_characters(
    place: int, other: int, new: str, is_end: bool, marks: list[ErrorSpan]
) -> None:
    text = "abcdefghij"
    start = min(place, other)
    end = 10 if is_end else max(place, other)
    edit = Edit(start, end, new, is_end=is_end)
    moved = edit.moved(marks)
    touched = [mark for mark in marks if mark.start < end and mark.end > start]
    if moved is None:
        # Refused only where the text of a span would change.
        assert any(mark.start < start or not is_end for mark in touched)
        return
    kept = [mark for mark in marks if mark not in touched]
    assert [text[mark.start : mark.end] for mark in kept] == [edit.apply(text)[mark.start : mark.end] for mark in moved]
    assert not [mark for mark in touched if mark.start < start]
