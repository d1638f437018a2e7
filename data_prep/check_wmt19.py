"""Compare our system-level correlations with the published ones of WMT19 (Ma et al. 2019, Tables 3 to 5).

`wmt19_cells.tsv` holds the 404 published cells, which are absolute values. The paper also reports that ESIM is unbeaten
(Williams' test, p < .05) in 11 of its 16 language pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from data_prep.store import Store
from matese.errors import FormatError
from matese.evaluation.metrics import correlation as correlations
from matese.evaluation.metrics import significance
from matese.evaluation.statistics.arrays import FloatArray

CELLS = Path(__file__).with_name("wmt19_cells.tsv")
FOLDER = "wmt19/wmt19-system-scores"
ESIM_UNBEATEN = 11
ESIM_PAIRS = 16
ALPHA = 0.05
HUMAN = "HUMAN"

Cell = tuple[str, str, str]
"""Table ("Table 3"), metric and language pair ("de-en")."""
Scores = Mapping[str, FloatArray]
"""Scores of the systems of a language pair, by metric; the human ones are named HUMAN."""


def check(store: Store, console: Console, cells: Path = CELLS) -> bool:
    """Prints the number of cells that agree in each table; returns whether all cells and the figure for ESIM agree.

    Raises:
        FormatError: if a file is not in its format.
        OSError: if a file cannot be read.
    """
    published = read_cells(cells)
    scores = read_scores(store, dict.fromkeys(lang_pair for _, _, lang_pair in published))
    ours = {cell: correlation(scores[cell[2]], cell[1]) for cell in published}
    different = [cell for cell, digits in published.items() if f"{abs(ours[cell]):.3f}" != digits]
    table = Table("table", title="Ma et al. 2019: absolute Pearson correlations of systems, three digits")
    for name in ("published cells", "equal", "negative"):
        table.add_column(name, justify="right")
    for name in dict.fromkeys(name for name, _, _ in published):
        of_table = [cell for cell in published if cell[0] == name]
        n_equal = sum(cell not in different for cell in of_table)
        table.add_row(name, *map(str, (len(of_table), n_equal, sum(ours[cell] < 0 for cell in of_table))))
    console.print(table)
    for cell in different[:10]:
        console.print(f"{' '.join(cell)}: {ours[cell]:.3f}, published {published[cell]}")
    with_esim = [scores_of_pair for scores_of_pair in scores.values() if "ESIM" in scores_of_pair]
    n_unbeaten = sum(is_unbeaten(scores_of_pair, "ESIM") for scores_of_pair in with_esim)
    console.print(
        f"ESIM is unbeaten (Williams' test, p < {ALPHA}) in {n_unbeaten} of {len(with_esim)} language pairs; "
        f"published: {ESIM_UNBEATEN} of {ESIM_PAIRS}."
    )
    return not different and (n_unbeaten, len(with_esim)) == (ESIM_UNBEATEN, ESIM_PAIRS)


def read_cells(path: Path) -> dict[Cell, str]:
    """Returns the digits of the cells of all tables, "0.906", without empty ones ("-")."""
    cells: dict[Cell, str] = {}
    table = ""
    lang_pairs = list[str]()
    for line in path.read_text(encoding="utf-8").splitlines():
        name, *fields = line.split("\t")
        if name.startswith("Table "):
            table = name
            lang_pairs = fields
            continue
        row = zip(lang_pairs, fields, strict=True)
        cells |= {(table, name, lang_pair): digits for lang_pair, digits in row if digits != "-"}
    return cells


def read_scores(store: Store, lang_pairs: Iterable[str]) -> dict[str, Scores]:
    """Returns the scores of each language pair.

    Raises:
        FormatError: if a row lacks fields of the header, or a score is not a number.
    """
    names = {pair: f"DA-newstest2019-{pair.replace('-', '')}-sys-nohy-scores.csv" for pair in lang_pairs}
    texts = store.texts(FOLDER, [f"data/wmt19_sys_scores/{name}" for name in names.values()])
    return {pair: _parse(name, lines) for (pair, name), lines in zip(names.items(), texts.values(), strict=True)}


def _parse(name: str, lines: Iterable[str]) -> Scores:
    # A metric is named LP, like the first column, so columns are identified by position.
    header, *rows = (line.split(" ")[2:] for line in lines)
    for number, row in enumerate(rows, start=2):
        try:
            np.array(row, float)
        except ValueError:
            row = []
        if len(row) != len(header):
            raise FormatError(name, number, f"row must be a language pair, a system and {len(header)} scores")
    return dict(zip(header, np.array(rows, float).T, strict=True))


def correlation(scores: Scores, metric: str, other: str = HUMAN) -> float:
    """Returns Pearson's correlation of a metric with the human scores, or another metric; NaN if it is undefined."""
    value = correlations.pearson(scores[other], scores[metric]).value if metric in scores else None
    return float("nan") if value is None else value


def is_unbeaten(scores: Scores, metric: str) -> bool:
    """Whether no other metric has a significantly higher absolute correlation by Williams' test."""
    ours = correlation(scores, metric)
    for other in scores.keys() - {HUMAN}:
        theirs = correlation(scores, other)
        # Of two metrics with opposite signs, one is negated.
        between = correlation(scores, metric, other) * (1 if ours * theirs > 0 else -1)
        n_systems = len(scores[HUMAN])
        if abs(theirs) > abs(ours) and significance.williams(abs(theirs), abs(ours), between, n_systems) < ALPHA:
            return False
    return True
