"""What `matese gate` checks and writes."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from matese import mqm
from matese.annotation import Rating
from matese.cli import compared_segments, figures, ratings, report_page, streams, systems
from matese.cli.errors import UsageError
from matese.cli.figure_files import FigureFiles
from matese.evaluation import alignment, comparison, quality
from matese.render.visible import show

PASSED, FAILED = 0, 1


@dataclass(frozen=True, slots=True)
class Check:
    """One limit.

    Attributes:
        name: of its option.
        what: what is limited, for readers.
        value: what was found.
        limit: up or down to which it is kept.
        is_kept: whether it is.
        blamed: numbers of the segments that are to blame, the worst first; empty where it is kept.
        p: of the test, where there is one.
    """

    name: str
    what: str
    value: float
    limit: float
    is_kept: bool
    blamed: tuple[int, ...] = ()
    p: float | None = None


def write(args: argparse.Namespace, weights: mqm.Weights, files: FigureFiles) -> int:
    """Checks, writes, and returns the exit code; the files are open.

    Raises:
        ValueError: if a limit cannot be checked.
    """
    own = _one_system(args.ratings, args)
    checks = _checks(own, args, weights)
    if files.tables is not None:
        for check in checks:
            files.tables.write(_text(check, own, args.top))
    if files.whole is not None:
        whole = {
            "ratings": args.ratings,
            "weights": weights.name,
            "segments": len(own),
            "passed": all(check.is_kept for check in checks),
            "checks": [_to_json(check, own, args.top) for check in checks],
        }
        figures.write_json(files.whole, whole)
    return PASSED if all(check.is_kept for check in checks) else FAILED


def _one_system(path: str, args: argparse.Namespace) -> list[Rating]:
    found = systems.read([path], args)
    if len(found) > 1:
        names = ", ".join(system.name for system in found[:5])
        raise UsageError(f"{path} holds {len(found)} systems ({names}): must be ratings of one")
    return ratings.one_a_segment(found[0].ratings, path, args)


def _checks(own: Sequence[Rating], args: argparse.Namespace, weights: mqm.Weights) -> list[Check]:
    found = report_page.figures(own, weights)
    checks = []
    for name, limit, key, what, count in (
        ("max-major-per-1k", args.max_major_per_1k, "major", "Major errors", quality.n_major),
        ("max-errors-per-1k", args.max_errors_per_1k, "errors", "errors", quality.n_errors),
    ):
        if limit is not None:
            value = found[f"per_1000_{args.per}.{key}"]
            if math.isnan(value):
                raise ValueError(
                    f"{args.ratings}: no hypothesis holds {args.per}: must be some, to count errors per 1,000"
                )
            is_kept = value <= limit
            blamed = () if is_kept else _worst(own, count)
            checks.append(Check(name, f"{what} per 1,000 {args.per}", value, limit, is_kept, blamed))
    if args.min_score is not None:
        is_kept = found["score"] >= args.min_score
        blamed = () if is_kept else _worst(own, lambda rating: -mqm.score(rating, weights))
        checks.append(Check("min-score", "score", found["score"], args.min_score, is_kept, blamed))
    if args.not_worse_than is not None:
        checks.append(_not_worse(own, args, weights))
    return checks


def _not_worse(own: Sequence[Rating], args: argparse.Namespace, weights: mqm.Weights) -> Check:
    path = args.not_worse_than
    import numpy as np

    other, ours = alignment.align({path: _one_system(path, args), args.ratings: own})
    for rating in other:
        quality.counts(rating)  # refuses one without spans, and names it
    before, after = (np.array([mqm.score(one, weights) for one in both]) for both in (other, ours))
    difference = float(after.mean() - before.mean())
    p = comparison.permutation(before, after, n_flips=args.permutations, seed=args.seed)
    is_kept = not (difference < 0 and p <= args.alpha)
    # The signs of n differences are all alike by chance in two of 2 ** n cases.
    n = int(np.count_nonzero(before != after))
    if difference < 0 and 2 / 2**n > args.alpha:
        told = "the score of 1 segment differs" if n == 1 else f"the scores of {n:,} segments differ"
        streams.say(f"{told}: too few for any loss to be significant at --alpha {args.alpha:g}")
    losses = {id(mine): loss for mine, loss in zip(ours, before - after, strict=True)}
    blamed = () if is_kept else _worst(own, lambda rating: losses[id(rating)])
    what = f"score less that of {path}"
    return Check("not-worse-than", what, difference, 0.0, is_kept, blamed, p)


def _worst(own: Sequence[Rating], blame: Callable[[Rating], float]) -> tuple[int, ...]:
    """Returns the numbers of the segments with some blame, most of it first."""
    blames = [blame(rating) for rating in own]
    order = sorted(range(len(own)), key=lambda number: -blames[number])
    return tuple(number for number in order if blames[number] > 0)


def _text(check: Check, own: Sequence[Rating], top: int) -> str:
    verb = "at least" if check.name in ("min-score", "not-worse-than") else "at most"
    test = "" if check.p is None else f", p {check.p:.4f}"
    lines = [f"{'PASS' if check.is_kept else 'FAIL'}  {check.what} {check.value:.2f} ({verb} {check.limit:g}{test})"]
    for number in check.blamed[:top]:
        rating = own[number]
        lines.append(f"      {compared_segments.place_of(rating)}: {compared_segments.marks(rating)}")
    if len(check.blamed) > top:
        n = len(check.blamed) - top
        lines.append(f"      and {n:,} segment{'s' * (n != 1)} more")
    return "".join(f"{show(line)}\n" for line in lines)


def _to_json(check: Check, own: Sequence[Rating], top: int) -> dict[str, Any]:
    return {
        "check": check.name,
        "value": check.value,
        "limit": check.limit,
        "passed": check.is_kept,
        "p": check.p,
        "n_blamed": len(check.blamed),
        "segments": [
            {
                "number": number,
                "segment": compared_segments.place_of(own[number]),
                "errors": compared_segments.marks(own[number]),
            }
            for number in check.blamed[:top]
        ],
    }
