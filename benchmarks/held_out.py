"""Measure what a model finds in held-out contrasts of short texts, joined into paragraphs, too, and whom cheats fool.

    python -m benchmarks.held_out mini runs/mini/calibrated --json benchmarks/results/held-out-mini.json

No text of `data_prep.short_texts` that is held out, or shares a text with one, is trained on. The sets are

- sentences, app strings, paragraphs: written contrasts. The reference is another right wording than the one that a
  wrong text starts from, the least alike;
- minor: written contrasts with a Minor error;
- missing: written texts that lack something, beside the first other right wording. They count as found if the missing
  words are marked as an omission in the source or, in a reference, where their place is not known, if any words are;
- mined: minimal pairs of human translations, by the source alone;
- numbers: one changed digit in 1, 4, 8 or 16 sentences that are joined;
- joined 4, joined 10: one wrong sentence among 4 or 10 reworded ones;
- cheats: the text twice, half of it, another text, the source, its words in random order, and the text after a
  preamble;
- strings: human translations of interface strings, captions and short sentences. All are right.

The columns of each kind of input are

- found: the share of the wrong texts in which a mark overlaps the error (with its number);
- right: the share of the marks in wrong texts that overlap the error;
- unmarked: the share of the right texts without a mark;
- above: the share of pairs of a right and a wrong text, beside the same texts, whose expected score is ordered right
  (ties count half), also for chrF and for the length of the text alone;
- below -1: the share of the right texts whose expected score is below -1.
"""

from __future__ import annotations

import os
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec
from sacrebleu.metrics.chrf import CHRF

import matese
from benchmarks import markdown
from data_prep import short_texts
from data_prep.store import Store
from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import UsageError
from matese.model import recall
from matese.model.annotator import Annotator
from matese.model.model_input import with_inputs
from matese.model.recall import Found, OfInput, Recall
from matese.model.texts.encoding import InputKind

_N_PAIRS = 1000
"""Mined pairs by default."""
_N_STRINGS = 600
N_JOINED = {4: 120, 10: 60}
_N_SENTENCES = {"sentences": 1} | {f"joined {n}": n for n in N_JOINED}
"""Sentences of the texts of a set, of which one is wrong."""
_N_NUMBERS = 64
JOINED_NUMBERS = (1, 4, 8, 16)
CHEATS = ("twice", "half", "copied source", "shuffled", "preamble", "another text")
_UNSPACED = frozenset({"ja", "zh", "th"})


@dataclass(frozen=True)
class Case:
    """A right text, or a wrong one beside the right one of the same source and reference.

    Attributes:
        name: of the set.
        kind: of the error.
        right: the right text.
        wrong: the wrong one; None if there is only a right one.
        spans: where the wrong text is wrong; empty if that is not measured.
        missing: where the source has the words that the wrong text lacks; None for another kind of error.
    """

    name: str
    kind: str
    right: Segment
    wrong: Segment | None = None
    spans: tuple[tuple[int, int], ...] = ()
    missing: tuple[int, int] | None = None

    def can_be_read(self, inputs: InputKind) -> bool:
        """Whether it has the texts of a kind of input."""
        has = {"source": self.right.source is not None, "reference": bool(self.right.references)}
        return all(has[text] for text in inputs.split("+"))

    @property
    def is_placed(self) -> bool:
        """Whether it is known where the wrong text is wrong."""
        return bool(self.spans) or self.missing is not None

    def is_hit(self, start: int, end: int) -> bool:
        """Whether a mark in the wrong text, or in the source, overlaps the error."""
        places = self.spans if self.missing is None else (self.missing,)
        return any(start < last and first < end for first, last in places)


@dataclass(frozen=True)
class Judged:
    """A case and the model's ratings of its texts."""

    case: Case
    right: Rating
    wrong: Rating | None

    @property
    def is_found(self) -> bool:
        """Whether a mark overlaps the error."""
        return any(self.hits)

    @property
    def hits(self) -> list[bool]:
        """Whether each mark that can overlap the error does; an omission from the reference always does."""
        if self.wrong is None or not self.case.is_placed:
            return []
        if self.case.missing is None:
            return [self.case.is_hit(mark.start, mark.end) for mark in self.wrong.errors or ()]
        return [mark.text == "reference" or self.case.is_hit(mark.start, mark.end) for mark in self.wrong.omissions]


def main() -> None:
    """Prints a table for each model and writes all figures as JSON."""
    parser = markdown.parser(__doc__, "--every", "--json")
    parser.add_argument("models", nargs="+", metavar="MODEL", help="embedded models or directories")
    parser.add_argument("--sets", nargs="+", metavar="SET", help="measure only these sets")
    text = "model directory: write what is found by kind of error, target language and length to its recall.json"
    parser.add_argument("--recall", type=Path, metavar="DIR", help=text)
    parser.add_argument("--data", type=Path, help="folder with the raw data; default: $MATESE_DATA")
    arguments = parser.parse_args()
    data = arguments.data or os.environ.get("MATESE_DATA")
    if data is None:
        raise UsageError("MATESE_DATA is not set; set it to the folder with the raw data, or give --data")
    cases = read(Store(Path(data)), every=arguments.every)
    cases = [case for case in cases if arguments.sets is None or case.name in arguments.sets]
    figures: dict[str, Any] = {}
    for name in arguments.models:
        annotator = matese.load(name)
        judged = {
            inputs: list(judge(annotator, [case for case in cases if case.can_be_read(inputs)], inputs))
            for inputs in annotator.config.texts.inputs
        }
        figures[annotator.name] = measured = measure(judged)
        print(f"\n{annotator.name}\n", *table(measured), sep="\n", flush=True)
        if arguments.recall is not None:
            recalls = Recall(annotator.name, {inputs: recall_of(of_input) for inputs, of_input in judged.items()})
            (arguments.recall / recall.FILE).write_bytes(msgspec.json.format(msgspec.json.encode(recalls), indent=1))
    name = next(iter(figures))
    rest = {} if len(figures) == 1 else {"models": figures}
    markdown.write_json(arguments.json, {"model": name, "every": arguments.every, "figures": figures[name], **rest})


def read(store: Store, *, every: int = 1) -> list[Case]:
    """Returns all cases, or every K-th of each set."""
    path = store.root / short_texts.FOLDER / short_texts.WRITTEN.name
    blocks = [block for block in short_texts.read_written(path) if short_texts.is_held_out(block["source"])]
    sets: dict[str, list[Case]] = defaultdict(list)
    made = [*_written(blocks), *_joined(blocks), *_numbers(blocks), *_cheats(blocks), *_mined(store), *_strings(store)]
    for case in made:
        sets[case.name].append(case)
    return [case for cases in sets.values() for case in cases[::every]]


def measure(judged: Mapping[InputKind, Sequence[Judged]]) -> dict[str, dict[str, Any]]:
    """Returns the figures of each set, by kind of input."""
    measured: dict[str, dict[str, Any]] = defaultdict(dict)
    for inputs, every in judged.items():
        for name, part in _parts(every, lambda rated: rated.case.name).items():
            measured[name][inputs] = figures_of(part)
            has_texts = all(rated.case.right.references for rated in part)
            measured[name]["baselines"] = {
                "chrF": _share(_above(part, _chrf)) if has_texts else None,
                "length": _share(_above(part, lambda segment: -len(segment.hypothesis))),
            }
    return dict(measured)


def recall_of(judged: Sequence[Judged]) -> OfInput:
    """Returns what is found of the errors of meaning in written contrasts of sentences and of app strings.

    By the number of sentences of a text, it is what is found in sentences and in those that were joined.
    """
    written = [rated for rated in judged if rated.case.name in ("sentences", "app strings") and rated.case.spans]
    return OfInput(
        kinds={kind: _found_share(part) for kind, part in _parts(written, lambda rated: rated.case.kind).items()},
        languages={
            name: _found_share(part)
            for name, part in _parts(written, lambda rated: _language(rated.case.right)).items()
        },
        sentences={
            str(_N_SENTENCES[name]): _found_share(part)
            for name, part in _parts(judged, lambda rated: rated.case.name).items()
            if name in _N_SENTENCES
        },
    )


def _found_share(judged: Sequence[Judged]) -> Found:
    return Found.of(len(judged), sum(rated.is_found for rated in judged))


def _parts(judged: Iterable[Judged], name: Callable[[Judged], str]) -> dict[str, list[Judged]]:
    parts: dict[str, list[Judged]] = defaultdict(list)
    for rated in judged:
        parts[name(rated)].append(rated)
    return parts


def judge(annotator: Annotator, cases: Sequence[Case], inputs: InputKind) -> Iterator[Judged]:
    """Yields the cases with the model's ratings; equal texts are rated once."""
    pairs = [
        [with_inputs(segment, inputs) for segment in (case.right, case.wrong) if segment is not None] for case in cases
    ]
    distinct = list(dict.fromkeys(segment for pair in pairs for segment in pair))
    ratings = dict(zip(distinct, annotator.annotate_segments(distinct), strict=True))
    for case, pair in zip(cases, pairs, strict=True):
        yield Judged(case, ratings[pair[0]], ratings[pair[1]] if len(pair) > 1 else None)


def figures_of(part: Sequence[Judged]) -> dict[str, float | int | None]:
    """Returns the columns of a set."""
    placed = [rated for rated in part if rated.wrong is not None and rated.case.is_placed]
    right = {rated.right.segment: rated.right for rated in part}.values()
    scores = [rating.estimate.value for rating in right if rating.estimate is not None]
    return {
        "n": len(placed) or len(part),
        "found": _share([rated.is_found for rated in placed]),
        "right": _share([is_hit for rated in placed for is_hit in rated.hits]),
        "unmarked": _share([not rating.all_errors for rating in right]),
        "above": _share(
            [
                markdown.order(rated.right.estimate.value, rated.wrong.estimate.value)
                for rated in part
                if rated.wrong is not None and rated.right.estimate is not None and rated.wrong.estimate is not None
            ]
        ),
        "below -1": _share([score < -1 for score in scores]),
    }


def table(measured: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Returns the table of a model."""
    columns = ("found", "right", "unmarked", "above", "below -1")
    rows = []
    for name, by_input in measured.items():
        row = [name]
        for inputs in ("reference", "source"):
            figures = by_input.get(inputs, {})
            row += [str(figures.get("n", "")), *(markdown.percent(figures.get(column)) for column in columns)]
        rows.append([*row, *map(markdown.percent, by_input["baselines"].values())])
    heads = [f"{inputs}: {name}" for inputs in ("ref", "src") for name in ("n", *columns)]
    return markdown.table(["set", *heads, "chrF above", "length above"], rows)


def _written(blocks: Iterable[Mapping[str, Any]]) -> Iterator[Case]:
    names = {"sentence": "sentences", "minor": "sentences", "app": "app strings", "paragraph": "paragraphs"}
    for block in blocks:
        wordings = _wordings(block)
        for kind in ("wrong", "minor"):
            for entry in block[kind]:
                wrong = entry["text"]
                nearest = max(wordings, key=lambda text: _likeness(text, wrong))
                references = [text for text in wordings if text != nearest]
                if not references:
                    continue
                segment = _segment(block, nearest, min(references, key=lambda text: _likeness(text, wrong)))
                name = "minor" if kind == "minor" else names[block["text"]]
                spans = tuple((start, end) for start, end in entry["spans"])
                yield Case(name, entry["kind"], segment, replace(segment, hypothesis=wrong), spans)
        for entry in block["missing"]:
            nearest = max(wordings, key=lambda text: _likeness(text, entry["text"]))
            references = [text for text in wordings if text != nearest] or [nearest]
            segment = _segment(block, nearest, references[0])
            start = block["source"].index(entry["words"])
            place = (start, start + len(entry["words"]))
            yield Case("missing", "missing", segment, replace(segment, hypothesis=entry["text"]), missing=place)


def _joined(blocks: Sequence[Mapping[str, Any]]) -> Iterator[Case]:
    """Yields sentences of one language pair, joined, of which one is wrong."""
    usable = _by_pair([block for block in blocks if _is_sentence(block) and _reworded_wrong(block)])
    for n_joined, n_cases in N_JOINED.items():
        rng = random.Random(f"joined|{n_joined}")
        pairs = [pair for pair, of_pair in usable.items() if len(of_pair) >= n_joined]
        for _ in range(n_cases if pairs else 0):
            drawn = rng.sample(usable[rng.choice(pairs)], n_joined)
            place = rng.randrange(n_joined)
            wrong = rng.choice(_reworded_wrong(drawn[place]))
            texts = [block["correct"][0] for block in drawn]
            near = max(drawn[place]["correct"], key=lambda text: _likeness(text, wrong["text"]))
            texts[place] = near
            yield _one_wrong(f"joined {n_joined}", drawn, texts, place, wrong["text"], wrong["spans"])


def _numbers(blocks: Sequence[Mapping[str, Any]]) -> Iterator[Case]:
    """Yields sentences of one language pair, joined, with a changed digit in one."""
    usable = _by_pair([block for block in blocks if _is_sentence(block)])
    for n_joined in JOINED_NUMBERS:
        rng = random.Random(f"numbers|{n_joined}")
        numbered = [
            (pair, block)
            for pair, of_pair in usable.items()
            for block in of_pair
            if len(of_pair) > n_joined and re.search("[0-9]", block["correct"][0])
        ]
        for pair, block in rng.sample(numbered, min(_N_NUMBERS, len(numbered))):
            neighbours = rng.sample([neighbour for neighbour in usable[pair] if neighbour is not block], n_joined - 1)
            place = rng.randrange(n_joined)
            drawn = [*neighbours[:place], block, *neighbours[place:]]
            texts = [drawn_block["correct"][0] for drawn_block in drawn]
            digit = rng.choice(list(re.finditer("[0-9]", texts[place])))
            new_digit = rng.choice([character for character in "123456789" if character != digit[0]])
            wrong = texts[place][: digit.start()] + new_digit + texts[place][digit.end() :]
            yield _one_wrong(f"numbers {n_joined}", drawn, texts, place, wrong, [digit.span()])


def _one_wrong(
    name: str,
    blocks: Sequence[Mapping[str, Any]],
    texts: Sequence[str],
    place: int,
    wrong: str,
    spans: Iterable[Sequence[int]],
) -> Case:
    """Returns a case of joined sentences."""
    source_language, target_language = blocks[0]["lp"].split("-")
    space = _space(target_language)
    right = Segment(
        space.join(texts),
        _space(source_language).join(block["source"] for block in blocks),
        (space.join(block["reference"] for block in blocks),),
        SegmentKey(lang_pair=blocks[0]["lp"]),
    )
    before = len(space.join([*texts[:place], ""]))
    changed = [*texts[:place], wrong, *texts[place + 1 :]]
    moved = tuple((start + before, end + before) for start, end in spans)
    return Case(name, name, right, replace(right, hypothesis=space.join(changed)), moved)


def _cheats(blocks: Sequence[Mapping[str, Any]]) -> Iterator[Case]:
    by_pair = _by_pair([block for block in blocks if _is_sentence(block)])
    for pair, of_pair in by_pair.items():
        space = _space(pair.partition("-")[2])
        for number, block in enumerate(of_pair[:8]):
            text = block["correct"][0]
            right = _segment(block, text, block["reference"])
            words = text.split() if space else list(text)
            rng = random.Random(f"cheats|{block['source']}")
            wrong = (
                text + space + text,
                space.join(words[: len(words) // 2]),
                block["source"],
                space.join(rng.sample(words, len(words))),
                f"Here is the translation: {text}",
                of_pair[number - 1]["reference"] if len(of_pair) > 1 else "",
            )
            for kind, hypothesis in zip(CHEATS, wrong, strict=True):
                if hypothesis.strip():
                    yield Case(f"cheat: {kind}", kind, right, replace(right, hypothesis=hypothesis))


def _mined(store: Store) -> Iterator[Case]:
    pairs = [pair for pair in short_texts.read_pairs(store) if pair.is_held_out]
    rng = random.Random("mined")
    for pair in rng.sample(pairs, min(_N_PAIRS, len(pairs))):
        right = Segment(pair.reference, pair.source, (), SegmentKey(lang_pair=pair.lang_pair))
        place = short_texts.place_of(pair)
        yield Case("mined", "mined", right, replace(right, hypothesis=pair.wrong), () if place is None else (place,))


def _strings(store: Store) -> Iterator[Case]:
    rows = [row for row in short_texts.read_parallel(store) if short_texts.is_held_out(row.source)]
    rng = random.Random("strings")
    for row in rng.sample(rows, min(_N_STRINGS, len(rows))):
        yield Case("strings", "strings", Segment(row.target, row.source, (), SegmentKey(lang_pair=row.lang_pair)))


def _segment(block: Mapping[str, Any], hypothesis: str, reference: str) -> Segment:
    return Segment(hypothesis, block["source"], (reference,), SegmentKey(lang_pair=block["lp"]))


def _wordings(block: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys([block["reference"], *block["correct"]]))


def _is_sentence(block: Mapping[str, Any]) -> bool:
    return block["text"] in ("sentence", "minor") and bool(block["correct"])


def _reworded_wrong(block: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the wrong texts that do not start from the reference."""
    reference = block["reference"]
    return [
        entry
        for entry in block["wrong"]
        if max(_wordings(block), key=lambda text: _likeness(text, entry["text"])) != reference
    ]


def _by_pair(blocks: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    by_pair: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for block in blocks:
        by_pair[block["lp"]].append(block)
    return by_pair


def _likeness(text: str, other: str) -> float:
    return SequenceMatcher(None, text, other, autojunk=False).ratio()


def _space(language: str) -> str:
    return "" if language in _UNSPACED else " "


def _language(segment: Segment) -> str:
    assert segment.key is not None
    return str(segment.key.lang_pair).partition("-")[2]


def _above(part: Iterable[Judged], score: Any) -> list[float]:  # noqa: ANN401  (a function of a segment)
    return [
        markdown.order(score(rated.case.right), score(rated.case.wrong))
        for rated in part
        if rated.case.wrong is not None
    ]


def _chrf(segment: Segment) -> float:
    score: float = CHRF().sentence_score(segment.hypothesis, list(segment.references)).score
    return score


def _share(values: Sequence[float | bool]) -> float | None:
    return fmean(values) if values else None


if __name__ == "__main__":
    main()
