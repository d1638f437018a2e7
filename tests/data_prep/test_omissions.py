from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from data_prep import omissions
from data_prep.__main__ import main
from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity
from matese.corruption import pools
from matese.encoder import checkpoint
from matese.encoder.encoding import TextEncoder
from matese.encoder.tokenizer import load_tokenizer
from matese.files import write_lines
from matese.formats.tables import jsonl
from matese.tagger.associations import Associations, Words, join, pack

MINI = checkpoint.resolve("mini")
ENCODER = TextEncoder(load_tokenizer(MINI), max_tokens=512)
TEXTS = (
    ("Die alte Brücke ist nicht offen.", "The old bridge is not open.", "The ancient bridge is not open."),
    (
        "Anna verkaufte drei Bilder in Leipzig.",
        "Anna sold three pictures in Leipzig.",
        "Anna sold pictures there.",
    ),
    ("Der Maler kam 1950 aus Hamburg.", "The painter came from Hamburg in 1950.", "In 1950 the painter left Hamburg."),
)


def associations(*pairs: tuple[str, str]) -> Associations:
    tokenizer = load_tokenizer(MINI)
    pieces = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    words = Words.of_pieces(pieces)
    hashes = [[words.split(tokens.ids)[1] for tokens in ENCODER.tokenize(pair)] for pair in pairs]
    keys = np.sort(np.concatenate([np.zeros(0, np.uint64), *(join(one, other) for one, other in hashes)]))
    return Associations(keys, np.full(len(keys), 200, np.uint8), np.ones(len(pieces), np.float32), words)


def ratings() -> list[Rating]:
    made = []
    for number in range(60):
        source, hypothesis, reference = TEXTS[number % len(TEXTS)]
        segment = Segment(hypothesis, source, (reference,), SegmentKey("set", "de-en", "A", index=number))
        made.append(Rating(segment, "human", (ErrorSpan(0, 3, Severity.MINOR),), overall=Overall(-1.0, "mqm")))
    return made


def test_the_removed_words_are_the_omissions_of_the_contexts() -> None:
    pool = pools.build_all(rating.segment for rating in ratings())["en"]
    lookup = omissions.Lookup(associations(("bridge", "Brücke"), ("not", "nicht")), ENCODER)
    found = set()
    for number, rating in enumerate(ratings() * 5):
        made = omissions.remove(rating, pool, lookup, random.Random(number))
        if made is None:
            continue
        gone = set(rating.segment.hypothesis.split()) - set(made.segment.hypothesis.split())
        assert gone
        for omission in made.omissions:
            word = omission.words(made.segment)
            found.add((omission.text, word))
            assert word not in made.segment.hypothesis
            assert omission.text == "source" or word in rating.segment.hypothesis
        assert made.errors == rating.errors
        assert made.overall == Overall(-6.0, "mqm")
        assert made.segment.key is not None
        assert made.segment.key.system == "A+missing"
    assert {("reference", "not"), ("reference", "bridge"), ("source", "nicht"), ("source", "Brücke")} <= found
    assert ("reference", "three") not in found, "the reference lacks it"


@pytest.mark.parametrize("text", ["", "Yes.", "..."])
def test_nothing_is_removed_from_a_short_text(text: str) -> None:
    pool = pools.build_all(rating.segment for rating in ratings())["en"]
    lookup = omissions.Lookup(associations(), ENCODER)
    rating = Rating(Segment(text, "Ja.", (text,), SegmentKey(lang_pair="de-en")), None, ())
    assert all(omissions.remove(rating, pool, lookup, random.Random(number)) is None for number in range(20))


def test_the_command(tmp_path: Path) -> None:
    given, table, output = tmp_path / "in.jsonl", tmp_path / "table.safetensors", tmp_path / "out.jsonl"
    write_lines(given, map(jsonl.dumps, ratings()))
    table.write_bytes(pack(associations()))
    options = ["--tokenizer", str(MINI), "--associations", str(table), "--share", "1", "--output", str(output)]
    assert main(["omissions", str(given), *options]) == 0
    made = list(jsonl.read(output))
    assert len(made) > 20
    assert all(rating.omissions and rating.rater == omissions.RATER for rating in made)
