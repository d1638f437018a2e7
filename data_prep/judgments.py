"""GPT-4's judgments of the translations of WMT22 (GEMBA; Kocmi and Federmann 2023).

Eight prompts scored each translation: direct assessment (DA, 0 to 100), scalar quality (SQM, 0 to 100), stars (1 to 5)
and classes (0 to 4), each with reference A and with the source alone. The mean of the eight, each scaled to 0 to 1, is
far less noisy within a source than one rater's score.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping

from data_prep import splits
from data_prep.store import Store
from data_prep.translations import items
from matese.annotation import Estimate, Rating, Segment, SegmentKey
from matese.errors import FormatError, InputError

RATER = "gemba"
FOLDER = "teachers/gemba-gpt4-wmt22"
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
    """Yields the judged translations whose texts are published: without held-out sources, or with these only.

    Raises:
        InputError: if a score file does not fit its test set.
    """
    for pair in LANG_PAIRS:
        scores = _scores(store, pair)
        for item in items(store, TEST_SET, lang_pairs=(pair,)):
            for system, text in item.hypotheses.items():
                known = scores.get(system)
                if known is None:
                    continue
                if item.index >= len(known):
                    raise InputError(f"{FOLDER}: {pair} {system} has {len(known)} scores; it needs one per source")
                segment = Segment(
                    text, item.source, item.references, SegmentKey(TEST_SET, pair, system, None, item.index)
                )
                texts = (text, item.source, *item.references)
                is_usable = all(other.strip() and len(other) <= _MAX_CHARACTERS for other in texts)
                value = known[item.index]
                if value is not None and is_usable and splits.committed().covers(segment) is held_out:
                    yield Rating(segment, RATER, None, estimate=Estimate(round(value, 4), "0-1"))


def _scores(store: Store, pair: str) -> Mapping[str, list[float | None]]:
    """Returns the mean scaled score of each segment, by system; None where a prompt has no score."""
    by_prompt = []
    for prompt, (low, high) in PROMPTS.items():
        for texts in ("refA", "src"):
            part = f"{pair}/GEMBA-GPT4-{prompt}-{texts}.seg.score"
            name = next((name for name in store.names(FOLDER) if name.endswith(part)), None)
            if name is None:
                raise FileNotFoundError(f"{FOLDER} has no file {part}")
            by_system: dict[str, list[float | None]] = {}
            for number, line in enumerate(store.texts(FOLDER, [name])[name], start=1):
                system, _, score = line.partition("\t")
                try:
                    value = None if score == "None" else (float(score) - low) / (high - low)
                except ValueError:
                    raise FormatError(name, number, f"{line!r}: must be a system, a tab and a score") from None
                by_system.setdefault(system, []).append(value)
            by_prompt.append(by_system)
    means: dict[str, list[float | None]] = {}
    for system in by_prompt[0]:
        rows = zip(*(scores[system] for scores in by_prompt), strict=True)
        means[system] = [None if None in row else statistics.fmean(row) for row in rows]
    return means
