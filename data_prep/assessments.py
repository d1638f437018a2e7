"""Direct assessments of WMT21 and WMT22 translations into English, and HTER of MLQE-PE.

Each Rating has `errors=None` and an overall value, so that models only learn its score.

**Direct assessments.** Crowd workers saw the reference and scored nearly every system on nearly every source from 0 to
100. The z-scores are standardised by worker, as published. Most translations have one or two judgements. Human
translations that were rated as systems are left out, and so are translations whose texts are not published.

Relative ranks (daRR) need no separate file: two translations of one source are a pair if their raw scores differ by
`training.pair_gap` of a ranking model or more (25 points at WMT19). Smaller differences are ties, which are left out.

**HTER.** The number of edits that turn a translation into its post-edited version, divided by the words of the latter:
the TER of sacreBLEU, at most 1. The post-edit is not used as a reference because the two texts determine the score.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Literal

from data_prep import splits
from data_prep.store import Store
from data_prep.wmt_translations import items
from matese.annotation import Overall, Rating, Segment, SegmentKey
from matese.errors import FormatError, InputError

FOLDERS = {
    "newstest2021": ("da/newstest2021-da", "newstest2021-toen/ad-seg-scores-"),
    "generaltest2022": ("da/generaltest2022-da", "newstest2022-toen/ad-seg-scores-"),
}
"""For each test set, the folder of its assessments and the common part of its file names of segment scores."""
_COLUMNS = {"z": "Z.SCR", "da": "RAW.SCR"}
_NAMES = {"Nemo": "NVIDIA-NeMo"}
_HUMAN = "HUMAN"
POST_EDITS = "qe/mlqe-pe/data/post-editing"
HTER_PAIRS = ("en-de", "en-zh", "ru-en")
"""The language pairs among the embedded model's languages."""
HTER_TEST_SET = "mlqe-pe-hter"


def direct_assessments(store: Store, scale: Literal["z", "da"]) -> Iterator[Rating]:
    """Yields the assessed translations whose source is not held out, with z-scores or raw scores from 0 to 100.

    Raises:
        InputError: if a row is damaged.
    """
    for test_set, (folder, part) in FOLDERS.items():
        files = {name.rpartition(part)[2].removesuffix(".csv"): name for name in store.names(folder) if part in name}
        scores = {pair: _read(store, f"{folder}/{name}", _COLUMNS[scale]) for pair, name in files.items()}
        for item in items(store, test_set, lang_pairs=files):
            for system, value in scores[item.lang_pair].get(item.index, {}).items():
                text = item.hypotheses.get(_NAMES.get(system, system), "")
                key = SegmentKey(test_set, item.lang_pair, system, None, item.index)
                segment = Segment(text, item.source, item.references, key)
                if text.strip() and not splits.committed().covers(segment):
                    yield Rating(segment, scale, None, overall=Overall(value, scale))


def _read(store: Store, name: str, column: str) -> Mapping[int, Mapping[str, float]]:
    """Returns the scores by line of the test set, from 0, and by system."""
    scores: dict[int, dict[str, float]] = defaultdict(dict)
    rows = csv.DictReader(io.StringIO(store.read(name).decode("utf-8")), delimiter=" ")
    for row in rows:
        try:
            system, line, score = row["SYS"].rpartition(".")[0], int(row["SID"]), float(row[column])
        except (KeyError, TypeError, ValueError, AttributeError):
            problem = f"{' '.join(filter(None, row.values()))!r}: must be a system, a line number and scores"
            raise FormatError(name, rows.line_num, problem) from None
        if not system.startswith(_HUMAN):
            scores[line - 1][system] = round(score, 6)
    return scores


def hter(store: Store) -> Iterator[Rating]:
    """Yields the post-edited translations of MLQE-PE: training and development data of three language pairs.

    Raises:
        InputError: if the files of a language pair differ in length.
    """
    from sacrebleu.metrics.ter import TER

    metric = TER()
    for pair in HTER_PAIRS:
        for part in ("train", "dev"):
            name = f"{POST_EDITS}/{part}/{pair}-{part}.tar.gz"
            texts = [store.member(name, f"{part}.{ending}").split("\n")[:-1] for ending in ("src", "mt", "pe")]
            if len(set(map(len, texts))) > 1:
                counts = ", ".join(str(len(column)) for column in texts)
                raise InputError(f"files in {name} have {counts} lines; all need one line per segment")
            for number, (source, hypothesis, post_edit) in enumerate(zip(*texts, strict=True)):
                segment = Segment(hypothesis, source, (), SegmentKey(HTER_TEST_SET, pair, "mt", part, number))
                if hypothesis.strip() and not splits.committed().covers(segment):
                    value = min(1.0, metric.sentence_score(hypothesis, [post_edit]).score / 100)
                    yield Rating(segment, None, None, overall=Overall(round(value, 6), "hter"))
