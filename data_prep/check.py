"""Compare our data with published figures; see `python -m data_prep check --help`."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from data_prep import assembly, datasets, splits
from data_prep.datasets import DATA_SETS, DataSet
from data_prep.prepare import draw_split
from data_prep.report import Counts, Tally
from data_prep.store import Store
from matese import mqm
from matese.annotation import Rating, Severity
from matese.files import read_lines
from matese.formats.corpora import score_files

TABLE_1: Mapping[tuple[str, Severity], int] = {
    ("en-de", Severity.MAJOR): 8_516,
    ("en-de", Severity.MINOR): 32_667,
    ("zh-en", Severity.MAJOR): 33_996,
    ("zh-en", Severity.MINOR): 33_633,
    ("en-ru", Severity.MAJOR): 7_271,
    ("en-ru", Severity.MINOR): 614,
}
"""Perrella et al. 2022, Table 1: spans (B- tags) in WMT20 and in WMT21 news and TED."""

EXPLANATION = """\
Files as published: only rows with the text of the first row of their segment, and unchanged ends. The numbers are
within 4 % of the paper, which chooses at random between overlapping spans. Our data differ by two repairs.
1. In the MQM files of 2020, the rows of a segment have different texts: raters edited the text they marked, and where
two spans of a rater overlap, the later row repeats the overlap. We move the spans of such rows to the text that most
raters share, so we have more spans.
2. In the en-ru files, every end is 3 too large. With correct ends, most Minor spans are empty: they mark a position,
for example of a missing comma. Empty spans and spans of a single space do not count as spans."""

_Spans = Mapping[tuple[str, Severity], int]
_Scores = Mapping[tuple[str, int], str]
"""Printed scores by system and segment."""


def check(store: Store, held_out: splits.HeldOut, console: Console, progress: Callable[[str], None]) -> bool:
    """Prints our figures and the published ones, and returns whether the check passed.

    The official scores must agree in all digits, and the committed list of held-out texts must equal the default draw.
    Table 1 may differ, for reasons that are printed.

    Raises:
        FormatError: if a file is not in its format.
        OSError: if a file cannot be read.
    """
    scores: dict[DataSet, tuple[_Scores, _Scores]] = {}
    for data_set in DATA_SETS:
        if data_set.form == "mqm-tsv":  # the files with official scores
            progress(f"scoring {data_set.name}")
            scores[data_set] = our_scores(data_set, store), official_scores(data_set, store)
    n_different = _show_scores(scores, console)
    ratings = {}
    for data_set in DATA_SETS:
        progress(f"preparing {data_set.name}")
        ratings[data_set] = _load(data_set, store)
    progress("preparing the files as published")
    _show_table_1(_count_spans(ratings), _count_spans(_as_published(ratings, store)), console)
    is_same = draw_split(ratings, seed=0, number=1) == held_out
    verdict = "equals" if is_same else "DIFFERS FROM"
    console.print(f"The committed list of {len(held_out.hashes):,} held-out texts {verdict} the default draw.")
    return is_same and not n_different


def our_scores(data_set: DataSet, store: Store) -> _Scores:
    """Returns the mean score over the raters, before any repair of ours."""
    by_segment: dict[tuple[str, int], list[float]] = defaultdict(list)
    for rating in datasets.read(data_set, store, lambda _: None):
        key = rating.segment.key
        if key is not None and key.system is not None and key.index is not None:
            by_segment[key.system, key.index].append(mqm.score(rating, mqm.GOOGLE))
    return {segment: _six_digits(mqm.corpus_score(scores)) for segment, scores in by_segment.items()}


def official_scores(data_set: DataSet, store: Store) -> _Scores:
    """Returns the scores in google/wmt-mqm-human-evaluation."""
    (scores,) = score_files.read(store.path(data_set.path.replace(".tsv", ".avg_seg_scores.tsv")))
    return {
        (system, int(index)): _six_digits(score)
        for system, by_segment in scores.segments.items()
        for index, score in by_segment.items()
        if score is not None
    }


def _six_digits(score: float) -> str:
    """Returns a score as in the official files, but without the sign of a negative zero."""
    return f"{score if round(score, 6) else 0.0:.6f}"


def _show_scores(scores: Mapping[DataSet, tuple[_Scores, _Scores]], console: Console) -> int:
    """Prints the agreement of ours with the official scores, and returns the number of different ones."""
    table = Table(title="Official segment scores: mqm.score with the google weights, mean over raters, six decimals")
    table.add_column("ratings")
    for name in ("equal", "different", "without official score", "without ratings"):
        table.add_column(name, justify="right")
    different: list[str] = []
    for data_set, (ours, official) in scores.items():
        both = sorted(ours.keys() & official.keys())
        unequal = [segment for segment in both if ours[segment] != official[segment]]
        numbers = len(both) - len(unequal), len(unequal), len(ours) - len(both), len(official) - len(both)
        table.add_row(data_set.name, *(f"{number:,}" for number in numbers))
        for system, index in unequal:
            values = f"{ours[system, index]}, official score {official[system, index]}"
            different.append(f"{data_set.name} {system} {index}: {values}")
    console.print(table)
    for line in different[:10]:
        console.print(line)
    return len(different)


def _load(data_set: DataSet, store: Store) -> tuple[Rating, ...]:
    return assembly.load(data_set, store, merge="union", seed=0, tally=Tally())


def _count_spans(ratings: Mapping[DataSet, Sequence[Rating]]) -> _Spans:
    """Returns the number of spans by language pair and severity in the train and dev data."""
    n_spans: Counter[tuple[str, Severity]] = Counter()
    for data_set, rated in ratings.items():
        if data_set.role == "train":
            counts = Counts.of(rated)
            n_spans[data_set.lang_pair, Severity.MINOR] += counts.minor
            n_spans[data_set.lang_pair, Severity.MAJOR] += counts.major
    return n_spans


def _as_published(ratings: Mapping[DataSet, Sequence[Rating]], store: Store) -> Mapping[DataSet, Sequence[Rating]]:
    """Returns the data without two of our repairs: rows with other texts are skipped, and ends are not shifted."""
    published = dict(ratings)
    with tempfile.TemporaryDirectory() as folder:
        for data_set in ratings:
            if data_set.form == "mqm-tsv":
                path = Path(folder) / data_set.path
                path.parent.mkdir(exist_ok=True)
                lines = keep_first_texts(read_lines(store.path(data_set.path)))
                path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
                published[data_set] = _load(data_set, Store(Path(folder)))
            elif data_set.end_shift:
                published[data_set] = _load(replace(data_set, end_shift=0), store)
    return published


def keep_first_texts(lines: Iterable[str]) -> Iterator[str]:
    """Yields the rows of an MQM TSV whose target, without tags, equals the target of the segment's first row."""
    first: dict[tuple[str, str], str] = {}
    for line in lines:
        fields = line.split("\t")
        text = fields[6].replace("<v>", "").replace("</v>", "")
        if first.setdefault((fields[0], fields[3]), text) == text:
            yield line


def _show_table_1(ours: _Spans, published: _Spans, console: Console) -> None:
    table = Table("pair", "severity", title="Table 1 of Perrella et al. 2022: spans in WMT20 + WMT21 news + WMT21 TED")
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
