"""Compare our system-level correlations with the published ones of WMT19 (Ma et al. 2019, Tables 3 to 5).

`wmt19_cells.tsv` holds the 404 published cells, which are absolute values. The paper also reports that ESIM is unbeaten
(Williams' test, p < .05) in 11 of its 16 language pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from data_prep.store import Store
from matese.errors import FormatError

if TYPE_CHECKING:
    from rich.console import Console

CELLS = Path(__file__).with_name("wmt19_cells.tsv")
FOLDER = "wmt19/wmt19-system-scores"
ESIM_UNBEATEN, ESIM_PAIRS = 11, 16
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Cell:
    """A published figure.

    Attributes:
        table: "Table 3".
        metric: name of the metric in the score files.
        lang_pair: "de-en".
        digits: the absolute value as printed, "0.906".
    """

    table: str
    metric: str
    lang_pair: str
    digits: str


@dataclass(frozen=True, slots=True)
class SystemScores:
    """Human scores and metric scores of the systems of a language pair."""

    human: tuple[float, ...]
    metrics: Mapping[str, tuple[float, ...]]


def check(store: Store, console: Console, cells: Path = CELLS) -> bool:
    """Prints the number of cells that agree in each table; returns whether all cells and the figure for ESIM agree.

    Raises:
        FormatError: if a file is not in its format.
        OSError: if a file cannot be read.
    """
    wanted = read_cells(cells)
    scores = read_scores(store, dict.fromkeys(cell.lang_pair for cell in wanted))
    correlations_of = {
        (cell.metric, cell.lang_pair): correlation(scores[cell.lang_pair], cell.metric) for cell in wanted
    }
    different = [cell for cell in wanted if f"{abs(correlations_of[cell.metric, cell.lang_pair]):.3f}" != cell.digits]
    _show(wanted, different, correlations_of, console)
    unbeaten = [
        lang_pair
        for lang_pair, system_scores in scores.items()
        if "ESIM" in system_scores.metrics and is_unbeaten(system_scores, "ESIM")
    ]
    n_pairs = sum("ESIM" in system_scores.metrics for system_scores in scores.values())
    console.print(
        f"ESIM is unbeaten (Williams' test, p < {ALPHA}) in {len(unbeaten)} of {n_pairs} language pairs; "
        f"published: {ESIM_UNBEATEN} of {ESIM_PAIRS}."
    )
    return not different and (len(unbeaten), n_pairs) == (ESIM_UNBEATEN, ESIM_PAIRS)


def read_cells(path: Path) -> tuple[Cell, ...]:
    """Returns the cells of all tables, without empty ones ("-").

    Raises:
        FormatError: if a line is neither a header ("Table N" and language pairs) nor a metric and its cells.
    """
    cells: list[Cell] = []
    table, lang_pairs = "", list[str]()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        name, *fields = line.split("\t")
        if name.startswith("Table "):
            table, lang_pairs = name, fields
        elif len(fields) != len(lang_pairs):
            problem = f"row has {len(fields)} cells; it needs {len(lang_pairs)}, one for each language pair"
            raise FormatError(str(path), number, problem)
        else:
            row = zip(lang_pairs, fields, strict=True)
            cells += [Cell(table, name, lang_pair, digits) for lang_pair, digits in row if digits != "-"]
    return tuple(cells)


def read_scores(store: Store, lang_pairs: Iterable[str]) -> dict[str, SystemScores]:
    """Returns the scores of each language pair.

    Raises:
        FormatError: if a row lacks fields of the header, or a score is not a number.
    """
    names = {
        lang_pair: f"data/wmt19_sys_scores/DA-newstest2019-{lang_pair.replace('-', '')}-sys-nohy-scores.csv"
        for lang_pair in lang_pairs
    }
    texts = store.texts(FOLDER, names.values())
    return {lang_pair: _parse(name, texts[name]) for lang_pair, name in names.items()}


def _parse(name: str, lines: Sequence[str]) -> SystemScores:
    # A metric is named LP, like the first column, so columns are identified by position.
    metrics = lines[0].split(" ")[3:]
    rows: list[list[float]] = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            row = [float(field) for field in line.split(" ")[2:]]
        except ValueError:
            row = []
        if len(row) != len(metrics) + 1:
            raise FormatError(name, number, f"row must be a language pair, a system and {len(metrics) + 1} scores")
        rows.append(row)
    human, *others = zip(*rows, strict=True)
    return SystemScores(human, dict(zip(metrics, others, strict=True)))


def correlation(scores: SystemScores, metric: str) -> float:
    """Returns Pearson's correlation of a metric with the human scores; NaN if it is undefined."""
    if metric not in scores.metrics:
        return float("nan")
    return _pearson(scores.human, scores.metrics[metric])


def is_unbeaten(scores: SystemScores, metric: str) -> bool:
    """Whether no other metric has a significantly higher absolute correlation by Williams' test."""
    from matese.evaluation.statistics import significance

    ours = correlation(scores, metric)
    for other, values in scores.metrics.items():
        theirs = correlation(scores, other)
        # Of two metrics with opposite signs, one is negated.
        sign = 1 if ours * theirs > 0 else -1
        between = sign * _pearson(scores.metrics[metric], values)
        if abs(theirs) > abs(ours) and (
            significance.williams(abs(theirs), abs(ours), between, len(scores.human)) < ALPHA
        ):
            return False
    return True


def _pearson(first: Sequence[float], second: Sequence[float]) -> float:
    import numpy as np

    from matese.evaluation.metrics import correlation as correlations

    value = correlations.pearson(np.array(first), np.array(second)).value
    return float("nan") if value is None else value


def _show(
    cells: Sequence[Cell],
    different: Sequence[Cell],
    correlations_of: Mapping[tuple[str, str], float],
    console: Console,
) -> None:
    from rich.table import Table

    table = Table("table", title="Ma et al. 2019: absolute Pearson correlations of systems, three digits")
    for name in ("published cells", "equal", "negative"):
        table.add_column(name, justify="right")
    for name in dict.fromkeys(cell.table for cell in cells):
        of_table = [cell for cell in cells if cell.table == name]
        n_different = sum(cell.table == name for cell in different)
        n_negative = sum(correlations_of[cell.metric, cell.lang_pair] < 0 for cell in of_table)
        table.add_row(name, *map(str, (len(of_table), len(of_table) - n_different, n_negative)))
    console.print(table)
    for cell in different[:10]:
        value = correlations_of[cell.metric, cell.lang_pair]
        console.print(f"{cell.table} {cell.metric} {cell.lang_pair}: {value:.3f}, published {cell.digits}")
