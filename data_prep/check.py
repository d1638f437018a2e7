"""Compare our data with published figures; see `python -m data_prep check --help`."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from data_prep import assembly, datasets, splits
from data_prep.datasets import DATA_SETS, DataSet
from data_prep.prepare import draw_split
from data_prep.report import Counts, Tally
from data_prep.store import Store
from matese import mqm
from matese.annotation import Rating, Severity
from matese.files import read_lines
from matese.formats.corpora import score_files
from matese.formats.issues import RowIssue

if TYPE_CHECKING:
    from rich.console import Console

TABLE_1: Mapping[tuple[str, Severity], int] = {
    ("en-de", Severity.MAJOR): 8_516,
    ("en-de", Severity.MINOR): 32_667,
    ("zh-en", Severity.MAJOR): 33_996,
    ("zh-en", Severity.MINOR): 33_633,
    ("en-ru", Severity.MAJOR): 7_271,
    ("en-ru", Severity.MINOR): 614,
}
"""Perrella et al. 2022, Table 1: spans (B- tags) in WMT20 and in WMT21 news and TED."""

OFFICIAL_SCORES: Mapping[str, str] = {
    "mqm/mqm_newstest2020_ende.tsv": "mqm/mqm_newstest2020_ende.avg_seg_scores.tsv",
    "mqm/mqm_newstest2020_zhen.tsv": "mqm/mqm_newstest2020_zhen.avg_seg_scores.tsv",
    "mqm/mqm_ted2021_ende.tsv": "mqm/mqm_ted2021_ende.avg_seg_scores.tsv",
    "mqm/mqm_ted2021_zhen.tsv": "mqm/mqm_ted2021_zhen.avg_seg_scores.tsv",
}
"""Files of official segment scores (google/wmt-mqm-human-evaluation) for the ratings in MQM TSV."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement between our segment scores and the official ones.

    Attributes:
        data_set: the ratings.
        equal: number of segments whose scores agree in all printed digits.
        different: (system, segment, our score, official score) of the other segments.
        rated_only: number of segments with ratings but no official score.
        scored_only: number of segments with an official score but no ratings.
    """

    data_set: DataSet
    equal: int
    different: tuple[tuple[str, int, str, str], ...]
    rated_only: int
    scored_only: int


def check(store: Store, held_out: splits.HeldOut, console: Console, progress: Callable[[str], None]) -> bool:
    """Prints our figures and the published ones, and returns whether the check passed.

    The official scores must agree in all digits, and the committed list of held-out texts must equal the default draw.
    Table 1 may differ, for reasons that are printed.

    Args:
        store: holds all raw files.
        held_out: the committed list.
        console: console to print on.
        progress: called with the name of each step.

    Raises:
        FormatError: if a file is not in its format.
        OSError: if a file cannot be read.
    """
    agreements = []
    for data_set in DATA_SETS:
        if data_set.path in OFFICIAL_SCORES:
            progress(f"scoring {data_set.name}")
            agreements.append(compare_scores(data_set, store))
    _show_scores(agreements, console)
    ratings = {}
    for data_set in DATA_SETS:
        progress(f"preparing {data_set.name}")
        ratings[data_set] = _load(data_set, store)
    progress("preparing the files as published")
    _show_table_1(count_spans(ratings), count_spans(_as_published(ratings, store)), console)
    is_same = draw_split(ratings, seed=0, number=1) == held_out
    verdict = "equals" if is_same else "DIFFERS FROM"
    console.print(f"The committed list of {len(held_out.hashes):,} held-out texts {verdict} the default draw.")
    return is_same and not any(agreement.different for agreement in agreements)


def compare_scores(data_set: DataSet, store: Store) -> Agreement:
    """Compares the scores of raw ratings, averaged over the raters, with the official ones."""

    def ignore(_: RowIssue) -> None:
        """Repaired rows also count in the official scores."""

    by_segment: dict[tuple[str, int], list[float]] = defaultdict(list)
    for rating in datasets.read(data_set, store, ignore):
        key = rating.segment.key
        if key is not None and key.system is not None and key.index is not None:
            by_segment[key.system, key.index].append(mqm.score(rating, mqm.GOOGLE))
    ours = {segment: _six_digits(mqm.corpus_score(scores)) for segment, scores in by_segment.items()}
    (scores,) = score_files.read(store.path(OFFICIAL_SCORES[data_set.path]))
    official = {
        (system, int(index)): _six_digits(score)
        for system, segment_scores in scores.segments.items()
        for index, score in segment_scores.items()
        if score is not None
    }
    both = sorted(ours.keys() & official.keys())
    pairs = [(*segment, ours[segment], official[segment]) for segment in both]
    different = tuple(pair for pair in pairs if pair[2] != pair[3])
    return Agreement(
        data_set, len(both) - len(different), different, len(ours.keys() - both), len(official.keys() - both)
    )


def _six_digits(score: float) -> str:
    """Returns a score as in the official files, but without the sign of a negative zero."""
    return f"{score if round(score, 6) else 0.0:.6f}"


def count_spans(ratings: Mapping[DataSet, Sequence[Rating]]) -> Mapping[tuple[str, Severity], int]:
    """Returns the number of spans by language pair and severity in the train and dev data."""
    n_spans: Counter[tuple[str, Severity]] = Counter()
    for data_set, rated in ratings.items():
        if data_set.role == "train":
            counts = Counts.of(rated)
            n_spans[data_set.lang_pair, Severity.MINOR] += counts.minor
            n_spans[data_set.lang_pair, Severity.MAJOR] += counts.major
    return n_spans


def _load(data_set: DataSet, store: Store) -> tuple[Rating, ...]:
    return assembly.load(data_set, store, merge="union", seed=0, tally=Tally())


def _as_published(ratings: Mapping[DataSet, Sequence[Rating]], store: Store) -> Mapping[DataSet, Sequence[Rating]]:
    """Returns the data without two of our repairs: rows with other texts are skipped, and ends are not shifted."""
    others = dict(ratings)
    with tempfile.TemporaryDirectory() as folder:
        for data_set in ratings:
            if data_set.form == "mqm-tsv":
                path = Path(folder) / data_set.path
                path.parent.mkdir(exist_ok=True)
                lines = keep_first_texts(read_lines(store.path(data_set.path)))
                path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
                others[data_set] = _load(data_set, Store(Path(folder)))
            elif data_set.end_shift:
                others[data_set] = _load(replace(data_set, end_shift=0), store)
    return others


def keep_first_texts(lines: Iterable[str]) -> Iterator[str]:
    """Yields the rows of an MQM TSV whose target, without tags, equals the target of the segment's first row."""
    first: dict[tuple[str, str], str] = {}
    for line in lines:
        fields = line.split("\t")
        text = fields[6].replace("<v>", "").replace("</v>", "")
        if first.setdefault((fields[0], fields[3]), text) == text:
            yield line


def _show_scores(agreements: Sequence[Agreement], console: Console) -> None:
    from rich.table import Table

    table = Table(title="Official segment scores: mqm.score with the google weights, mean over raters, six decimals")
    table.add_column("ratings")
    for name in ("equal", "different", "without official score", "without ratings"):
        table.add_column(name, justify="right")
    for agreement in agreements:
        numbers = (agreement.equal, len(agreement.different), agreement.rated_only, agreement.scored_only)
        table.add_row(agreement.data_set.name, *(f"{number:,}" for number in numbers))
    console.print(table)
    for agreement in agreements:
        for system, index, ours, official in agreement.different[:10]:
            console.print(f"{agreement.data_set.name} {system} {index}: {ours}, official score {official}")


def _show_table_1(
    ours: Mapping[tuple[str, Severity], int], published: Mapping[tuple[str, Severity], int], console: Console
) -> None:
    from rich.table import Table

    table = Table(title="Table 1 of Perrella et al. 2022: spans in WMT20 + WMT21 news + WMT21 TED")
    for name in ("pair", "severity"):
        table.add_column(name)
    for name in ("paper", "files as published", "", "ours", ""):
        table.add_column(name, justify="right")
    for (lang_pair, severity), paper in TABLE_1.items():
        cells = [f"{paper:,}"]
        for counts in (published, ours):
            number = counts[lang_pair, severity]
            cells += [f"{number:,}", f"{number / paper - 1:+.1%}"]
        table.add_row(lang_pair, severity.value.title(), *cells)
    console.print(table)
    console.print(EXPLANATION, soft_wrap=True)


EXPLANATION = """\
Files as published: only rows with the text of the first row of their segment, and unchanged ends. The numbers are
within 4 % of the paper, which chooses at random between overlapping spans. Our data differ by two repairs.
1. In the MQM files of 2020, the rows of a segment have different texts: raters edited the text they marked, and where
two spans of a rater overlap, the later row repeats the overlap. We move the spans of such rows to the text that most
raters share, so we have more spans.
2. In the en-ru files, every end is 3 too large. With correct ends, most Minor spans are empty: they mark a position,
for example of a missing comma. Empty spans and spans of a single space do not count as spans."""
