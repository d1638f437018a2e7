from __future__ import annotations

import json
import lzma
import os
from pathlib import Path
from typing import Any

import pytest

from data_prep import short_texts, splits
from data_prep.__main__ import main
from data_prep.short_texts import MinimalPair, Parallel, Reserved
from data_prep.splits import HeldOut
from data_prep.store import Store
from matese.annotation import Rating, Severity
from matese.formats.tables import jsonl

HELD = "The lamp is red 1."
"""A source whose CRC32 is divisible by 8, as the first test says."""
NONE = Reserved(frozenset(), HeldOut(frozenset()))
BLOCK: dict[str, Any] = {
    "lp": "en-de",
    "text": "sentence",
    "source": "Do not open the door.",
    "reference": "Öffnen Sie die Tür nicht.",
    "correct": ["Bitte die Tür nicht öffnen.", "Lassen Sie die Tür zu."],
    "wrong": [{"kind": "related", "text": "Bitte das Tor nicht öffnen.", "spans": [[6, 13]]}],
    "minor": [{"kind": "spelling", "text": "Bitte die Tür nich öffnen.", "spans": [[14, 18]]}],
    "missing": [{"text": "Nicht öffnen.", "words": "the door"}],
}


def marked(rating: Rating) -> list[str]:
    return [rating.segment.hypothesis[error.start : error.end] for error in rating.errors or ()]


def test_an_eighth_of_the_sources_is_held_out() -> None:
    sources = [f"The lamp is red {number}." for number in range(4000)]
    assert short_texts.is_held_out(HELD)
    assert 450 < sum(map(short_texts.is_held_out, sources)) < 550


def test_a_few_written_sources_are_kept_for_calibration() -> None:
    ratings = [
        rating
        for number in range(6400)
        for rating in short_texts.written([{**BLOCK, "source": f"Open the door {number}."}], seed=0)
    ]
    kept = {rating.segment.source for rating in ratings if short_texts.is_kept_for_calibration(rating)}
    assert 70 < len(kept) < 130
    assert not any(short_texts.is_held_out(source or "") for source in kept)


def test_what_shares_a_text_with_a_held_out_row_is_reserved() -> None:
    rows = [Parallel("en-de", HELD, "Das Licht ist rot."), Parallel("de-en", "Das Licht ist rot.", "A red lamp.")]
    held_out = short_texts.reserved(rows)
    assert not held_out.allows(HELD)
    assert not held_out.allows("Das Licht ist rot.", "A red lamp."), "the other direction"
    assert held_out.allows("A red lamp.")
    by_hash = Reserved(frozenset(), HeldOut(frozenset({splits.fingerprint("Öffnen")})))
    assert not by_hash.allows("x", "öffnen!")


def test_written_contrasts_have_no_text_beside_itself() -> None:
    ratings = list(short_texts.written([BLOCK], seed=0))
    assert all(rating.segment.hypothesis not in rating.segment.references for rating in ratings)
    references = {rating.segment.references for rating in ratings}
    assert len(references) == 2
    of_one = [rating for rating in ratings if rating.segment.references == min(references)]
    assert [len(rating.all_errors) for rating in of_one] == [0, 0, 1, 1, 1]
    wrong, minor, missing = of_one[2:]
    assert marked(wrong) == ["das Tor"]
    assert [error.severity for error in minor.all_errors] == [Severity.MINOR]
    (omission,) = missing.omissions
    assert omission.start == BLOCK["source"].index("the door")


def test_words_that_the_source_does_not_have_are_missing_without_a_place() -> None:
    block = BLOCK | {"missing": [{"text": "Nicht öffnen.", "words": "doors"}], "wrong": [], "minor": []}
    assert [len(rating.unplaced) for rating in short_texts.written([block], seed=0)] == [0, 0, 1] * 2


def test_each_text_of_a_pair_is_right_once_and_wrong_once() -> None:
    rows = [Parallel("en-de", "a red car", "ein rotes Auto"), Parallel("en-de", "a blue car", "ein blaues Auto")]
    pairs = list(short_texts.minimal_pairs(rows, seed=0))
    ratings = list(short_texts.mined(rows, pairs, NONE))
    assert all(not rating.segment.references for rating in ratings), "likeness would tell them"
    wrong = [rating for rating in ratings if rating.errors]
    assert {(rating.segment.source, *marked(rating)) for rating in wrong} == {
        ("a red car", "blaues"),
        ("a blue car", "rotes"),
    }
    assert len(ratings) - len(wrong) == 4


def test_two_translations_of_one_source_are_right_by_each_other() -> None:
    rows = [Parallel("en-de", "Save", "Speichern"), Parallel("en-de", "Save", "Sichern")]
    ratings = list(short_texts.mined(rows, [], NONE))
    assert [(r.segment.hypothesis, *r.segment.references, r.errors) for r in ratings] == [
        ("Speichern", "Sichern", ()),
        ("Sichern", "Speichern", ()),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("a red car", "ein rotes Auto"), ("A red car", "ein blaues Auto")),  # one source
        (
            ("a red car", "ein rotes Auto"),
            ("a red car over there by the tree", "ein blaues Auto"),
        ),  # sources differ much
        (("a red car", "ein rotes Auto"), ("a blue car", "Das ist etwas anderes")),  # targets differ much
        (("a red car", "ein Auto"), ("a blue car", "Ein Auto")),
    ],
)
def test_what_is_no_minimal_pair(first: tuple[str, str], second: tuple[str, str]) -> None:
    rows = [Parallel("en-de", *first), Parallel("en-de", *second)]
    assert list(short_texts.minimal_pairs(rows, seed=0)) == []


@pytest.mark.parametrize(
    ("reference", "wrong", "new", "place"),
    [
        ("Text kopieren", "Text löschen", "löschen", "löschen"),
        ("Text löschen", "Text", "", None),
        ("分析编辑", "导入编辑", "导入", "导入"),
        ("100 %", "10 %", "10", "10"),
    ],
)
def test_the_place_of_a_pair_is_whole_words(reference: str, wrong: str, new: str, place: str | None) -> None:
    span = short_texts.place_of(MinimalPair("en-de", "", reference, wrong, "", "x", new))
    assert (span and wrong[slice(*span)]) == place


def test_synonyms_are_not_in_the_lexicon() -> None:
    pairs = [
        MinimalPair("en-de", "red", "rot", "blau", "blue", "rot", "blau"),
        MinimalPair("en-de", "save", "sichern", "speichern", "store", "sichern", "speichern"),
    ]
    rows = [Parallel("en-de", "Save", "Speichern"), Parallel("en-de", "save", "Sichern")]
    assert short_texts.lexicon(pairs, rows, NONE) == {"de": {"rot": ["blau"]}}


def test_the_command_mines_any_parallel_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"lp": "en-de", "src": f"a {word} car", "tgt": f"ein {word}s Auto"} for word in ("red", "blue")]
    path = tmp_path / "parallel.jsonl.xz"
    path.write_bytes(lzma.compress("\n".join(map(json.dumps, rows)).encode()))
    (tmp_path / "short").mkdir()
    assert main(["mine", str(path), "--output", str(tmp_path / "short" / "pairs.jsonl")]) == 0
    assert {pair.new for pair in short_texts.read_pairs(Store(tmp_path))} == {"blues", "reds"}
    path.write_bytes(lzma.compress(b'{"lp": "en-de"}'))
    assert main(["mine", str(path), "--output", str(tmp_path / "more.jsonl")]) == 2
    assert "parallel.jsonl.xz:1: must be a JSON object with lp, src, tgt" in capsys.readouterr().err


def test_nothing_of_the_committed_contrasts_is_held_out() -> None:
    blocks = short_texts.read_written()
    assert len(blocks) > 9000
    assert not any(short_texts.is_held_out(block["source"]) for block in blocks)


@pytest.mark.skipif("MATESE_DATA" not in os.environ, reason="needs the raw files")
def test_no_held_out_text_is_trained_on(tmp_path: Path) -> None:
    """Counts the texts that training data share with the held-out parallel texts, pairs and contrasts: none."""
    store = Store(Path(os.environ["MATESE_DATA"]))
    assert main(["short-texts", "--output", str(tmp_path)]) == 0
    trained = {
        text
        for path in tmp_path.iterdir()
        for rating in jsonl.read(path)
        for text in (rating.segment.hypothesis, rating.segment.source, *rating.segment.references)
    }
    parallel = short_texts.read_parallel(store)
    held_out = {text for row in parallel if short_texts.is_held_out(row.source) for text in (row.source, row.target)}
    pairs = [pair for pair in short_texts.read_pairs(store) if pair.is_held_out]
    assert len(pairs) > 3000
    held_out |= {text for pair in pairs for text in pair.texts}
    written = short_texts.read_written(store.root / "short" / "written.json.xz")
    blocks = [block for block in written if short_texts.is_held_out(block["source"])]
    held_out |= {text for block in blocks for text in short_texts.texts_of(block)}
    assert not trained & held_out
