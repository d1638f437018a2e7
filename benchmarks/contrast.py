"""Measure on minimal pairs whether a model marks damage, spares rewordings and prefers the better translation.

    python -m benchmarks.contrast --half open --json benchmarks/results/contrast-mini.json

`contrast.jsonl` was written by hand for this purpose, and no model may be trained or tuned on it. Each item has a
source, a reference, and a `good` translation that is worded differently. Half of the items also have a `bad`
translation with one error of meaning: the text at `damage` in `bad`, or the words at `omission` in the reference, which
`bad` lacks. The items of half "open" may be inspected while a model is developed, those of half "closed" only counted.
Minimal pairs into languages without ratings (Korean, Arabic, Thai, Turkish, Polish and Hebrew) are reported separately.

The table shows the share of damages that are marked at their place, the share of `good` translations without any mark,
and the share of pairs whose `good` translation scores higher than the `bad` one; ties count half.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import msgspec
from sacrebleu.metrics.chrf import CHRF

import matese
from benchmarks import markdown
from matese import mqm
from matese.annotation import Rating, Segment, SegmentKey
from matese.model.annotator import Annotator
from matese.model.model_input import with_inputs
from matese.model.texts.encoding import InputKind
from matese.render import terminal

ITEMS = Path(__file__).with_suffix(".jsonl")
COLUMNS = ("marked", "unmarked", "score", "expected score", "chrF")
"""Damages marked, `good` unmarked, and pairs ordered correctly by three scores. chrF always reads the reference."""
UNRATED = "unrated languages"
UNRATED_PAIRS = frozenset({"en-ko", "en-ar", "en-th", "en-tr", "en-pl", "en-he"})
"""Language pairs without human ratings to learn from, which do not count in "all" and the kinds."""


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pair of translations, or a single harmless rewording.

    Attributes:
        kind: kind of the error; "paraphrase" without an error.
        good: correct translation, worded differently from the reference.
        bad: translation with one error of meaning.
        damage: range of the wrong characters in `bad`.
        omission: range of the characters in the reference whose meaning `bad` lacks.
    """

    id: str
    lang_pair: str
    kind: str
    half: Literal["open", "closed"]
    source: str
    reference: str
    good: str
    bad: str | None
    damage: tuple[int, int] | None
    omission: tuple[int, int] | None

    def segment(self, hypothesis: str) -> Segment:
        """Returns the segment of one of the translations."""
        return Segment(hypothesis, self.source, (self.reference,), SegmentKey(lang_pair=self.lang_pair))


def main() -> None:
    """Prints a table for each kind of input and writes all figures as JSON."""
    parser = markdown.parser(__doc__, "--model", "--json")
    parser.add_argument("--half", choices=["open", "closed"], help="measure only this half; default: both")
    parser.add_argument("--show", action="store_true", help="list the misses in the half open, with their marks")
    arguments = parser.parse_args()
    items = [item for item in read() if arguments.half in (None, item.half)]
    annotator = matese.load(arguments.model)
    figures: dict[str, Any] = {"model": annotator.name, "half": arguments.half, "inputs": {}}
    print(f"{len(items)} items; {annotator.name}")
    for inputs in annotator.config.texts.inputs:
        pairs = rate(annotator, items, inputs)
        points = [judge(item, *pair) for item, pair in zip(items, pairs, strict=True)]
        figures["inputs"][inputs] = means(items, points)
        rows = [[part, *map(markdown.percent, row.values())] for part, row in figures["inputs"][inputs].items()]
        print("", *markdown.table([inputs, *COLUMNS], rows), sep="\n")
        if arguments.show:
            print("", *misses(items, pairs, points), sep="\n")
    markdown.write_json(arguments.json, figures)


def read() -> list[Item]:
    """Returns all items."""
    return [msgspec.json.decode(line, type=Item) for line in ITEMS.read_bytes().splitlines()]


def rate(annotator: Annotator, items: Iterable[Item], inputs: InputKind) -> list[tuple[Rating, Rating | None]]:
    """Returns the model's ratings of the `good` and the `bad` translation of each item; equal texts are rated once."""
    pairs = [[with_inputs(item.segment(text), inputs) for text in (item.good, item.bad) if text] for item in items]
    segments = list(dict.fromkeys(itertools.chain(*pairs)))
    ratings = dict(zip(segments, annotator.annotate_segments(segments), strict=True))
    return [(ratings[pair[0]], ratings[pair[1]] if len(pair) > 1 else None) for pair in pairs]


def judge(item: Item, good: Rating, bad: Rating | None) -> dict[str, float]:
    """Returns the points of an item in each column, from 0 to 1."""
    points = {"unmarked": float(not (good.errors or good.unplaced or good.omissions))}
    if item.bad is not None and bad is not None:
        if item.damage is not None or item.omission is not None:
            points["marked"] = float(is_marked(item, bad))
        points["score"] = markdown.order(mqm.score(good), mqm.score(bad))
        if good.estimate is not None and bad.estimate is not None:
            points["expected score"] = markdown.order(good.estimate.value, bad.estimate.value)
        scores = (CHRF().sentence_score(text, [item.reference]).score for text in (item.good, item.bad))
        points["chrF"] = markdown.order(*scores)
    return points


def misses(
    items: Sequence[Item], pairs: Sequence[tuple[Rating, Rating | None]], points: Sequence[Mapping[str, float]]
) -> Iterator[str]:
    """Yields the marked `good` and the unmarked `bad` translations of half "open"."""
    for item, ratings, columns in zip(items, pairs, points, strict=True):
        for column, rating in zip(("unmarked", "marked"), ratings, strict=True):
            if item.half == "open" and rating is not None and not columns[column]:
                text = terminal.mark_spans(rating.segment.hypothesis, rating.errors or ())
                yield f"{item.id}: not {column}: {text}\n    {item.source}\n    {item.reference}"


def is_marked(item: Item, rating: Rating) -> bool:
    """Whether the damage of an item is marked: by a span at its place, or as an omission of the words."""
    start, end = item.damage or _gap(item)
    if any(error.start < end and start < error.end for error in rating.errors or ()):
        return True
    if item.omission is None:
        return False
    # The place of the words in the source is unknown.
    return any(
        omission.text == "source" or (omission.start < item.omission[1] and item.omission[0] < omission.end)
        for omission in rating.omissions
    )


def _gap(item: Item) -> tuple[int, int]:
    """Returns the characters of `bad` on both sides of the place where words are missing."""
    bad = item.bad or ""
    closest = max((item.good, item.reference), key=lambda text: SequenceMatcher(None, bad, text).ratio())
    matcher = SequenceMatcher(None, bad, closest, autojunk=False)
    place = next((i for tag, i, *_ in matcher.get_opcodes() if tag != "equal"), 0)
    return max(0, place - 2), place + 1


def means(items: Iterable[Item], points: Iterable[Mapping[str, float]]) -> dict[str, dict[str, float | None]]:
    """Returns the mean of each column over all items, over each kind and over each language pair.

    Items of `UNRATED_PAIRS` only count in their own language pair and in `UNRATED`.
    """
    parts: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    judged = list(zip(items, points, strict=True))
    rated = [pair for pair in judged if pair[0].lang_pair not in UNRATED_PAIRS]
    unrated = [pair for pair in judged if pair[0].lang_pair in UNRATED_PAIRS]
    for group, names in ((rated, ("all", "kind", "lang_pair")), (unrated, (UNRATED, "lang_pair"))):
        for name in names:
            for item, values in group:
                parts[getattr(item, name, name)].append(values)
    by_part: dict[str, dict[str, float | None]] = {}
    for part, rows in parts.items():
        columns = {name: [row[name] for row in rows if name in row] for name in COLUMNS}
        by_part[part] = {name: fmean(values) if values else None for name, values in columns.items()}
    return by_part


if __name__ == "__main__":
    main()
