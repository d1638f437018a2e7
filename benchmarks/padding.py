"""Counts the tokens that a unified model computes: those of the texts, and with padding, here and in unbabel-comet.

    python -m benchmarks.padding --data $MATESE_DATA/wmt/newstest2021.tar.xz

The segments are those of `benchmarks.released`, each read three times: beside the source, beside the reference, and
beside both. unbabel-comet pads each of the three to the longest row of a batch, which holds one system here. In
float32, time is nearly proportional to the tokens that are computed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import markdown
from benchmarks.released import COUNTS, read
from benchmarks.speed.texts import Text
from matese.annotation import Segment
from matese.encoder import checkpoint
from matese.encoder.encoding import Encoding, Inputs
from matese.tagger.batch import by_length
from matese.tagger.loading import load_tagger
from matese.tagger.request import contexts, restrict

_INPUTS: tuple[Inputs, ...] = ("source", "reference", "source+reference")
_BATCH_TOKENS = 2048
"""Those of one thread, see `matese.encoder.hardware`."""


def main() -> None:
    """Prints the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="archive of WMT21 news")
    parser.add_argument("--model", default="mini", help="whose tokenizer counts (default: %(default)s)")
    arguments = parser.parse_args()
    tables = []
    for n_systems, n_segments in COUNTS["unified"].items():
        rows = encode(read(arguments.data, n_systems, n_segments), arguments.model)
        lengths = [[len(row.ids) for row in of_kind] for of_kind in rows]
        real = sum(map(sum, lengths))
        every = [row for of_kind in rows for row in of_kind]
        ours = sum(
            max(len(every[place].ids) for place in batch) * len(batch) for batch in by_length(every, _BATCH_TOKENS)
        )
        batches = [own[at : at + n_segments] for own in lengths for at in range(0, len(own), n_segments)]
        theirs = sum(max(batch) * len(batch) for batch in batches)
        counts = [f"{number:,}" for number in (real, ours, theirs)]
        tables.append([str(n_systems), *counts, f"{theirs / ours:.2f}", f"{theirs / real:.2f}"])
    columns = ["systems", "tokens", "with padding", "of unbabel-comet", "ratio", "ratio without padding"]
    print(*markdown.table(columns, tables), sep="\n")


def encode(texts: list[Text], model: str) -> list[list[Encoding]]:
    """Returns what a unified model reads of the texts, for each kind of input."""
    tagger, tokenizer = load_tagger(checkpoint.resolve(model))
    encoder = tagger.text_encoder(tokenizer)
    found = []
    for inputs in _INPUTS:
        segments = [restrict(Segment(one["hypothesis"], one["source"], (one["reference"],)), inputs) for one in texts]
        rows = []
        for segment in segments:
            hypothesis, *others = encoder.tokenize([segment.hypothesis, *contexts(segment)])
            rows += encoder.join(hypothesis, others, inputs)
        found.append(rows)
    return found


if __name__ == "__main__":
    main()
