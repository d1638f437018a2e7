"""Measure whether a model prefers a good translation to an obviously wrong one.

    python -m benchmarks.sanity --json benchmarks/results/sanity-mini.json

`sanity.jsonl` was written by hand for this purpose, and no model may be trained or tuned on it. Each source has a
reference, a human translation and a paraphrase, all worded differently, and a contradiction. The human translation is
compared with the translation of another source, with its words in random order, with its first half, with a copy of the
source, with a translation into another language, with itself twice, and with itself after a preamble or before a remark
of a language model. The paraphrase is compared with the contradiction, which is worded
like the reference.

The table shows the share of pairs in which the better text has the higher expected score, by kind of input, and for
sentence chrF; ties count half.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

import matese
from benchmarks import contrast, markdown
from benchmarks.contrast import Item
from matese.model.annotator import Annotator

TEXTS = Path(__file__).with_suffix(".jsonl")
CONTRADICTION = "contradiction"


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A source and its translations.

    Attributes:
        reference: the correct translation that the model may read.
        contradiction: text worded like the reference, with the opposite meaning.
        other_language: correct translation into another language than the target language.
    """

    id: str
    lang_pair: str
    source: str
    reference: str
    human: str
    paraphrase: str
    contradiction: str
    other_language: str


def main() -> None:
    """Prints the table in Markdown and writes it as JSON."""
    arguments = markdown.parser(__doc__, "--model", "--json").parse_args()
    annotator = matese.load(arguments.model)
    shares = measure(annotator)
    print(f"{annotator.name}\n")
    rows = [[part, *map(markdown.percent, row.values())] for part, row in shares.items()]
    print(*markdown.table(["worse text", *shares["all"]], rows), sep="\n")
    markdown.write_json(arguments.json, {"model": annotator.name, "shares": shares})


def measure(annotator: Annotator) -> dict[str, dict[str, float | None]]:
    """Returns the share of correctly ordered pairs, by kind or language pair, and by kind of input or "chrF"."""
    items = list(pairs(read()))
    shares: dict[str, dict[str, float | None]] = defaultdict(dict)
    for inputs in annotator.config.texts.inputs:
        rated = contrast.rate(annotator, items, inputs)
        points = [contrast.judge(item, *pair) for item, pair in zip(items, rated, strict=True)]
        for part, columns in contrast.means(items, points).items():
            chrf = shares[part].pop("chrF", columns["chrF"])  # the last column; the same for all inputs
            shares[part] |= {inputs: columns["expected score"], "chrF": chrf}
    return dict(shares)


def read() -> list[Texts]:
    """Returns all texts."""
    return [msgspec.json.decode(line, type=Texts) for line in TEXTS.read_bytes().splitlines()]


def pairs(texts: Sequence[Texts]) -> Iterator[Item]:
    """Yields the pairs of a better and a worse translation, with the name of the worse one as the kind."""
    for item in texts:
        target = item.lang_pair.partition("-")[2]
        same = [text for text in texts if text.lang_pair.endswith(f"-{target}")]
        words = list(item.human) if target == "zh" else item.human.split()
        space = "" if target == "zh" else " "
        worse = {
            "unrelated": same[(same.index(item) + 1) % len(same)].human,
            "shuffled": space.join(random.Random(item.id).sample(words, len(words))),
            "truncated": space.join(words[: len(words) // 2]),
            "copied source": item.source,
            "wrong language": item.other_language,
            "twice": item.human + space + item.human,
            "preamble": f"Here is the translation: {item.human}",
            "remark": f"{item.human} I hope this helps!",
            CONTRADICTION: item.contradiction,
        }
        for kind, bad in worse.items():
            good = item.paraphrase if kind == CONTRADICTION else item.human
            name = f"{item.id}-{kind}"
            place = None
            yield Item(name, item.lang_pair, kind, "open", item.source, item.reference, good, bad, place, place)


if __name__ == "__main__":
    main()
