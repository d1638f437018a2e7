from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data_prep import splits, translations
from data_prep.__main__ import main
from data_prep.splits import HeldOut
from data_prep.store import Store
from data_prep.translations import Item
from matese.annotation import Overall, Rating
from matese.formats.tables import jsonl

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


def build(root: Path, **options: Any) -> Iterator[Rating]:
    return translations.build(Store(root), progress=lambda _: None, **options)


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


def write_test_sets(root: Path) -> None:
    old = root / "wmt" / "newstest2021" / "txt"
    new = root / "wmt" / "wmt24" / "txt"
    sources = "The dog sleeps.\nA held-out source.\nIt rains.\n"
    files = {
        old / "sources" / "newstest2021.en-de.src.en": sources,
        old / "references" / "newstest2021.en-de.ref.A.de": "Der Hund schläft.\nX.\nEs regnet.\n",
        old / "sources" / "newstest2021.ha-en.src.ha": "unused\n",
        new / "sources" / "en-ja.txt": "The dog sleeps.\n",
        new / "references" / "en-ja.refA.txt": "犬が眠っている。\n",
        new / "documents" / "en-ja.docs": "news\n",
        root / "wmt" / "generaltest2022" / "txt" / "README": "",
    }
    for number, system in enumerate("ABCDE"):
        files[old / "system-outputs" / f"newstest2021.en-de.hyp.{system}-1.de"] = f"Der Hund {system}.\nX{number}.\n\n"
        files[new / "system-outputs" / "en-ja" / f"{system}.txt"] = f"犬{system}。\n"
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_build_reads_both_layouts_and_leaves_out_what_is_held_out(tmp_path: Path) -> None:
    write_test_sets(tmp_path)
    made = list(build(tmp_path, most=3))
    keys = [rating.segment.key for rating in made if rating.segment.key]
    assert [(key.test_set, key.lang_pair, key.index) for key in keys] == [
        *[("newstest2021", "en-de", 0)] * 3,
        *[("wmt24", "en-ja", 0)] * 3,
    ]
    assert {rating.segment.hypothesis for rating in made} == {"Der Hund schläft.", "犬が眠っている。"}


def test_pairs_are_chosen_whatever_their_source_s_language(tmp_path: Path) -> None:
    write_test_sets(tmp_path)
    folder = tmp_path / "wmt" / "newstest2021" / "txt"
    (folder / "references" / "newstest2021.ha-en.ref.A.en").write_text("It rains.\n", encoding="utf-8")
    for system in "ABCDE":
        (folder / "system-outputs" / f"newstest2021.ha-en.hyp.{system}.en").write_text(f"It pours {system}.\n")
    made = list(build(tmp_path, lang_pairs=["ha-en"], most=2))
    assert [rating.segment.hypothesis for rating in made] == ["It rains."] * 2


def test_files_of_different_length_are_refused(tmp_path: Path) -> None:
    write_test_sets(tmp_path)
    path = tmp_path / "wmt" / "wmt24" / "txt" / "system-outputs" / "en-ja" / "B.txt"
    path.write_text("one\ntwo\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"wmt24 en-ja: files differ in length .*B\.txt 2"):
        list(build(tmp_path))


def test_the_command_writes_a_file_or_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_test_sets(tmp_path)
    output = tmp_path / "human.jsonl"
    assert main(["translations", "--data", str(tmp_path), "--output", str(output)]) == 0
    assert "10 translations" in capsys.readouterr().out
    assert [rating.rater for rating in jsonl.read(output)] == [translations.SYSTEM_REFERENCE] * 10
    assert (
        main(["translations", "--data", str(tmp_path), "--output", str(output), "--lang-pairs", "en-ja", "xx-yy"]) == 2
    )
    assert capsys.readouterr().err.startswith("data_prep translations: --lang-pairs xx-yy: must be language pairs of")
    assert len(list(jsonl.read(output))) == 10, "the old one stays"
    assert main(["translations", "--data", str(tmp_path), "--output", str(output), "--lang-pairs", "ha-en"]) == 2
    assert capsys.readouterr().err.strip().endswith("generaltest2022, wmt24 and not held out")
    output.unlink()
    (tmp_path / "wmt" / "wmt24" / "txt" / "sources" / "en-ja.txt").write_text("one\ntwo\n", encoding="utf-8")
    assert main(["translations", "--data", str(tmp_path), "--output", str(output)]) == 2
    assert capsys.readouterr().err.startswith("data_prep translations: wmt24 en-ja: files differ in length")
    assert [path.name for path in tmp_path.iterdir()] == ["wmt"]
