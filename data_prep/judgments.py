"""Judgments of the translations of WMT22 by large models, from which a small one learns.

**GPT-4** (GEMBA; Kocmi and Federmann 2023): eight prompts scored each translation: direct assessment (DA, 0 to 100),
scalar quality (SQM, 0 to 100), stars (1 to 5) and classes (0 to 4), each with reference A and with the source alone.
The mean of the eight, each scaled to 0 to 1, is far less noisy within a source than one rater's score.

**ReMedy-9B-22** (Tan and Monz 2025, arXiv 2504.13630): a metric of 9 billion parameters that was trained before WMT22,
in 15 language pairs; its calibrated score is between 0 and 1.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path

from data_prep import splits
from data_prep.store import Store
from data_prep.translations import items
from matese.annotation import Estimate, Rating, Segment, SegmentKey
from matese.errors import FormatError, InputError

RATER = "gemba"
FOLDER = "teachers/gemba-gpt4-wmt22"
REMEDY = "remedy"
REMEDY_FOLDER = "teachers/remedy-wmt22"
TEST_SET = "generaltest2022"
LANG_PAIRS = ("en-de", "en-ru", "zh-en")
PROMPTS: Mapping[str, tuple[float, float]] = {
    "DA": (0.0, 100.0),
    "SQM": (0.0, 100.0),
    "Stars": (1.0, 5.0),
    "Classes": (0.0, 4.0),
}
"""Worst and best score of each prompt."""
_MAX_CHARACTERS = 600


def build(store: Store, *, held_out: bool = False) -> Iterator[Rating]:
    """Yields GPT-4's judgments of translations whose texts are published: without held-out sources, or with these only.

    Raises:
        InputError: if a score file does not fit its test set.
    """
    for pair in LANG_PAIRS:
        yield from _judged(store, pair, _gpt4_scores(store, pair), rater=RATER, held_out=held_out)


def remedy(store: Store, *, held_out: bool = False) -> Iterator[Rating]:
    """Yields ReMedy's judgments, likewise."""
    for name in store.names(REMEDY_FOLDER):
        if name.endswith(".seg.score"):
            pair = Path(name).parts[-2]
            yield from _judged(store, pair, _scores(store, REMEDY_FOLDER, name, 0, 1), rater=REMEDY, held_out=held_out)


def _judged(
    store: Store, pair: str, scores: Mapping[str, list[float | None]], *, rater: str, held_out: bool
) -> Iterator[Rating]:
    """Yields the ratings of a language pair, given the scores of each system's segments."""
    for item in items(store, TEST_SET, lang_pairs=(pair,)):
        for system, text in item.hypotheses.items():
            values = scores.get(system)
            if values is None:
                continue
            if item.index >= len(values):
                raise InputError(f"{rater}: {pair} {system} has {len(values)} scores; it needs one per source")
            segment = Segment(text, item.source, item.references, SegmentKey(TEST_SET, pair, system, None, item.index))
            texts = (text, item.source, *item.references)
            is_usable = all(each.strip() and len(each) <= _MAX_CHARACTERS for each in texts)
            value = values[item.index]
            if value is not None and is_usable and splits.committed().covers(segment) is held_out:
                yield Rating(segment, rater, None, estimate=Estimate(round(value, 4), "0-1"))


def _gpt4_scores(store: Store, pair: str) -> Mapping[str, list[float | None]]:
    """Returns the mean scaled score of each segment, by system; None where a prompt has no score."""
    by_prompt = []
    for prompt, (low, high) in PROMPTS.items():
        for texts in ("refA", "src"):
            part = f"{pair}/GEMBA-GPT4-{prompt}-{texts}.seg.score"
            name = next((name for name in store.names(FOLDER) if name.endswith(part)), None)
            if name is None:
                raise FileNotFoundError(f"{FOLDER} has no file {part}")
            by_prompt.append(_scores(store, FOLDER, name, low, high))
    means: dict[str, list[float | None]] = {}
    for system in by_prompt[0]:
        rows = zip(*(scores[system] for scores in by_prompt), strict=True)
        means[system] = [None if None in row else statistics.fmean(row) for row in rows]
    return means


def _scores(store: Store, folder: str, name: str, low: float, high: float) -> dict[str, list[float | None]]:
    """Returns the scores of a file, from 0 (the lowest) to 1, by system; None where there is none."""
    by_system: dict[str, list[float | None]] = {}
    for number, line in enumerate(store.texts(folder, [name])[name], start=1):
        system, _, score = line.partition("\t")
        try:
            value = None if score == "None" else (float(score) - low) / (high - low)
        except ValueError:
            raise FormatError(name, number, f"{line!r}: must be a system, a tab and a score") from None
        by_system.setdefault(system, []).append(value)
    return by_system
