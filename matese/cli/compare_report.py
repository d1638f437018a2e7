"""What `matese compare` writes: tables, one JSON object, a page."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from typing import Any

from matese import mqm
from matese.cli import compare_page, compared, compared_segments, figures
from matese.cli.compared import Compared
from matese.cli.figure_files import FigureFiles
from matese.cli.output import Output
from matese.evaluation.comparison import Test, Versus
from matese.evaluation.evaluation import Figure

Table = tuple[list[str], list[list[str]]]
_SHOWN = {
    "score": "score",
    "minor": "Minor",
    "major": "Major",
    "critical": "Critical",
    "per_1000_words.errors": "errors / 1,000 words",
    "per_1000_words.major": "Major / 1,000 words",
    "per_1000_characters.errors": "errors / 1,000 characters",
    "share.no_error": "no error",
    "share.only_minor": "only Minor",
    "share.one_major": "one Major",
    "share.several_major": "several Major",
}


def write(args: argparse.Namespace, weights: mqm.Weights, files: FigureFiles, page: Output | None) -> None:
    """Measures and writes; the files are open.

    Raises:
        ValueError: if the systems cannot be compared.
    """
    found = compared.compare(args.ratings, args, weights)
    if files.tables is not None and (page is None or not page.is_stdout):
        for header, body in tables(found):
            figures.write_table(files.tables, header, body)
        files.tables.write(compared_segments.text(found, args.top))
    if files.whole is not None:
        figures.write_json(files.whole, to_json(found, args.ratings))
    if page is not None:
        page.write(compare_page.make(found, args.ratings, list(tables(found))))


def tables(found: Compared) -> Iterator[Table]:
    """Yields headers and rows: the parts, the systems, the differences, what became of errors."""
    names = list(found.ratings)
    if len(found.parts) > 1:
        yield (
            ["filter", "segments", "share", *(f"score of {name}" for name in names)],
            [
                [part.name, f"{part.n:,}", f"{part.share:.1%}", *(_score(part.scores.get(name)) for name in names)]
                for part in found.parts
            ],
        )
    yield (
        [f"{len(found.ratings[names[0]]):,} segments", *names],
        [[shown, *(_figure(key, found.figures[name][key]) for name in names)] for key, shown in _SHOWN.items()],
    )
    yield (
        [f"less {found.first}", "difference", "95% interval", "p, bootstrap", "p, permutation"],
        [[f"{name}: {what}", *_test(test)] for name, one in found.versus.items() for what, test in _tests(one).items()],
    )
    yield (
        [f"errors of {found.first} in", *next(iter(found.versus.values())).n_changes(), "wins", "losses", "ties"],
        [[name, *map(str, one.n_changes().values()), *map(_share, _wins(one))] for name, one in found.versus.items()],
    )


def to_json(found: Compared, paths: Sequence[str]) -> dict[str, Any]:
    """Returns everything as one object."""
    chance = found.chance
    return {
        "ratings": list(paths),
        "settings": {
            "weights": found.weights.name,
            "bootstrap": chance.n_resamples,
            "permutations": chance.n_flips,
            "seed": chance.seed,
        },
        "segments": len(found.ratings[found.first]),
        "filters": [
            {"filter": part.name, "segments": part.n, "share": part.share, "scores": dict(part.scores)}
            for part in found.parts
        ],
        "systems": {
            name: {
                "raters": sorted({rating.rater or "" for rating in own})[:10],
                **figures.nest(found.figures[name], with_intervals=chance.n_resamples > 0),
            }
            for name, own in found.ratings.items()
        },
        "first": found.first,
        "versus": {name: _versus(one) for name, one in found.versus.items()},
        "differences": compared_segments.to_json(found),
    }


def _versus(one: Versus) -> dict[str, Any]:
    tests = {name.lower().replace(" ", "_"): test for name, test in _tests(one).items()}
    nested = figures.nest_comparison({name: test.bootstrap for name, test in tests.items()})
    for name, test in tests.items():
        nested[name]["p_permutation"] = test.p
    losses, wins, ties = (share if math.isfinite(share) else None for share in one.wins)
    return {**nested, "wins": wins, "losses": losses, "ties": ties, "changes": one.n_changes()}


def _tests(one: Versus) -> dict[str, Test]:
    """Returns what is tested of two systems, by its name in tables."""
    return {
        "score": one.score,
        "errors": one.errors,
        "Major": one.major,
        "introduced less fixed": one.balance,
        "worsened less softened": one.shift,
    }


def _wins(one: Versus) -> tuple[float, float, float]:
    losses, wins, ties = one.wins
    return wins, losses, ties


def _test(test: Test) -> list[str]:
    one = test.bootstrap
    return [f"{one.difference:+.4f}", figures.show_interval(one), figures.show(one.p), figures.show(test.p)]


def _figure(key: str, figure: Figure) -> str:
    if key in ("minor", "major", "critical"):
        return f"{figure.value:,.0f}"
    show = _share if key.startswith("share.") else _score
    interval = f" [{show(figure.low)}, {show(figure.high)}]" if math.isfinite(figure.low) else ""
    return show(figure.value) + interval


def _score(value: float | None) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.2f}"


def _share(value: float) -> str:
    return f"{value:.1%}" if math.isfinite(value) else "-"
