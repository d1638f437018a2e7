from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from data_prep import splits, translations
from data_prep.__main__ import main
from data_prep.splits import HeldOut
from data_prep.store import Store
from data_prep.translations import Item
from matese.annotation import Overall
from tests.data_prep.raw_files import write, write_all

HYPOTHESES = {
    "A": "Der Hund schläft im Garten.",
    "B": "Der Hund schläft im Garten!",
    "C": "Ein Hund schläft im Garten.",
    "D": "Der Hund pennt im Garten.",
    "E": "Die Katze frisst.",
    "F": " ",
    "G": "Der Hund schläft im Garten.",
}
ITEM = Item("newstest2021", "en-de", 3, "The dog sleeps in the garden.", ("Der Hund schläft im Park.",), HYPOTHESES)


@pytest.fixture(autouse=True)
def held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = frozenset(map(splits.fingerprint, ["A held-out source.", "Ein zurückgehaltener Satz."]))
    monkeypatch.setattr(splits, "committed", lambda: HeldOut(hashes))


@pytest.mark.parametrize(
    ("change", "is_usable"),
    [
        ({}, True),
        ({"source": "A held-out source!"}, False),
        ({"references": ("Gut.", "ein zurückgehaltener  Satz")}, False),
        ({"test_set": "wmt24", "lang_pair": "en-hi"}, False),
        ({"test_set": "wmt24", "lang_pair": "en-ja"}, True),
        ({"source": "x" * 401}, False),
        ({"source": " "}, False),
        ({"hypotheses": dict(list(HYPOTHESES.items())[:4])}, False),
    ],
)
def test_held_out_texts_are_not_learnt_from(change: dict[str, object], is_usable: bool) -> None:
    assert translations.is_usable(replace(ITEM, **change)) == is_usable  # type: ignore[arg-type]


def test_a_source_in_a_language_that_is_not_learned_is_left_out() -> None:
    item = replace(ITEM, lang_pair="bn-de", source="বাগানে কুকুরটি ঘুমায়।")
    assert [rating.segment.source for rating in translations.ratings(item, most=2)] == [None, None]
    assert not translations.is_usable(replace(item, source="A held-out source.")), "left out or not, it decides"


def test_a_human_translation_has_no_error_beside_the_translations_that_are_most_alike_to_all() -> None:
    rated = translations.ratings(ITEM, most=2)
    assert [rating.segment.hypothesis for rating in rated] == ["Der Hund schläft im Park."] * 2
    assert {text for rating in rated for text in rating.segment.references} <= set(list(HYPOTHESES.values())[:3])
    assert all(rating.rater == translations.SYSTEM_REFERENCE for rating in rated)
    assert all(rating.errors == () and rating.overall == Overall(0.0, "mqm") for rating in rated)
    assert translations.ratings(replace(ITEM, references=(" ",)), most=2) == []


def test_human_translations_are_references_of_one_another() -> None:
    texts = ("Der Hund schläft im Park.", " ", "Im Park schläft der Hund.")
    rated = translations.ratings(replace(ITEM, references=texts), most=2)
    pairs = [(rating.segment.hypothesis, *rating.segment.references) for rating in rated]
    assert pairs == [(texts[0], texts[2]), (texts[2], texts[0])]
    assert {rating.rater for rating in rated} == {translations.RATER}


def test_pairs_are_chosen_whatever_their_source_s_language(tmp_path: Path) -> None:
    raw = write_all(tmp_path / "raw")
    folder = raw / "wmt" / "newstest2021" / "txt"
    write(folder / "references" / "newstest2021.ha-en.ref.A.en", "It rains.\n")
    for system in "ABCDE":
        write(folder / "system-outputs" / f"newstest2021.ha-en.hyp.{system}.en", f"It pours {system}.\n")
    made = translations.build(Store(raw), progress=lambda _: None, lang_pairs=["ha-en"], most=2)
    assert [rating.segment.hypothesis for rating in made] == ["It rains."] * 2


@pytest.mark.parametrize("pairs", [("en-ja", "xx-yy"), ("ha-en",)])
def test_pairs_without_translations_leave_what_was_there(
    tmp_path: Path, pairs: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    raw = write_all(tmp_path / "raw")
    output = write(tmp_path / "human.jsonl", "before")
    command = ["translations", "--data", str(raw), "--output", str(output), "--lang-pairs", *pairs]
    assert main(command) == 2
    assert pairs[-1] in capsys.readouterr().err
    assert output.read_text() == "before"
