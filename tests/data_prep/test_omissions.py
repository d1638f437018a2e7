from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from data_prep import omissions
from data_prep.__main__ import main
from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity
from matese.corruption import pools
from matese.files import write_lines
from matese.formats.tables import jsonl
from matese.model.encoder.loading import load_encoder
from tests.conftest import ENCODERS, make_tokenizer

TEXTS = (
    ("Die alte Brücke ist nicht offen.", "The old bridge is not open.", "The ancient bridge is not open."),
    (
        "Anna verkaufte drei Bilder in Leipzig.",
        "Anna sold three pictures in Leipzig.",
        "Anna sold pictures there.",
    ),
    ("Der Maler kam 1950 aus Hamburg.", "The painter came from Hamburg in 1950.", "In 1950 the painter left Hamburg."),
)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder with random weights, which finds words that two texts share."""
    directory = tmp_path_factory.mktemp("encoder")
    tokenizer = make_tokenizer()
    torch.manual_seed(0)
    load_encoder({**ENCODERS["xlm-roberta"], "vocab_size": len(tokenizer), "pad_token_id": 1}).save_pretrained(
        directory
    )
    tokenizer.save_pretrained(directory)
    return directory


def ratings() -> list[Rating]:
    made = []
    for number in range(60):
        source, hypothesis, reference = TEXTS[number % len(TEXTS)]
        segment = Segment(hypothesis, source, (reference,), SegmentKey("set", "de-en", "A", index=number))
        made.append(Rating(segment, "human", (ErrorSpan(0, 3, Severity.MINOR),), overall=Overall(-1.0, "mqm")))
    return made


def test_the_removed_words_are_the_omissions_of_the_contexts(encoder: Path) -> None:
    pool = pools.build_all(rating.segment for rating in ratings())["en"]
    aligner = omissions.Aligner(encoder, layer=0)
    removed = set()
    for number, rating in enumerate(ratings() * 2):
        made = omissions.remove(rating, pool, aligner, random.Random(number))
        if made is None:
            continue
        gone = set(rating.segment.hypothesis.split()) - set(made.segment.hypothesis.split())
        assert gone
        for omission in made.omissions:
            word = omission.words(made.segment)
            removed.add((omission.text, word))
            assert word not in made.segment.hypothesis
            assert omission.text == "source" or word in rating.segment.hypothesis
        assert made.errors == rating.errors
        assert made.overall == Overall(-6.0, "mqm")
        assert made.segment.key is not None
        assert made.segment.key.system == "A+missing"
    assert {("reference", "not"), ("reference", "bridge")} <= removed
    assert ("reference", "three") not in removed, "the reference lacks it"


def test_words_are_aligned_to_the_words_most_like_them(encoder: Path) -> None:
    aligner = omissions.Aligner(encoder, layer=0)
    hypothesis = "ab the cd, good"
    source = "ab 你 cd."
    assert aligner.places((7, 9), hypothesis, source) == [(5, 7)]
    assert {(0, 2), (5, 7)} <= set(aligner.places((0, 9), hypothesis, source))
    assert aligner.places((0, 2), hypothesis, "") == []
    assert aligner.places((0, 0), "", source) == []


@pytest.mark.parametrize("text", ["", "Yes.", "..."])
def test_nothing_is_removed_from_a_short_text(text: str, encoder: Path) -> None:
    pool = pools.build_all(rating.segment for rating in ratings())["en"]
    aligner = omissions.Aligner(encoder)
    rating = Rating(Segment(text, "Ja.", (text,), SegmentKey(lang_pair="de-en")), None, ())
    assert all(omissions.remove(rating, pool, aligner, random.Random(number)) is None for number in range(20))


def test_the_command(tmp_path: Path, encoder: Path) -> None:
    source = tmp_path / "in.jsonl"
    output = tmp_path / "out.jsonl"
    write_lines(source, map(jsonl.dumps, ratings()))
    assert main(["omissions", str(source), "--encoder", str(encoder), "--share", "1", "--output", str(output)]) == 0
    made = list(jsonl.read(output))
    assert len(made) > 20
    assert all(rating.omissions and rating.rater == omissions.RATER for rating in made)
