"""`matese calibrate`: a model's probabilities and operating point from ratings it has not learned from."""

from __future__ import annotations

import argparse
from pathlib import Path

from matese.cli.errors import UsageError

_EPILOG = """examples:
  matese calibrate runs/mini/model data/prepared/dev.jsonl --output runs/mini/calibrated

Prints the calibration error before and after, and precision and recall (tokens of any error) and macro-F1 (over the
five tags) at each least confidence. The best by macro-F1 becomes the model's own; --min-confidence still takes another.
For a model with a score head then, for each input, the points of MQM that a point of the head, of the expected penalty
of the tags, and of chrF (0 to 100) is worth in the expected score, and what is added: they best tell which of two
translations of one source is better.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command and its options."""
    parser = subparsers.add_parser(
        "calibrate",
        help="fit a model's confidences and operating point",
        description="Writes a copy of a model whose confidences are calibrated, whose operating point is the best, and "
        "whose expected score is made of all that is known.",
        epilog=_EPILOG,
    )
    parser.add_argument("model", metavar="MODEL", help="a model directory, an embedded model or a hub id")
    parser.add_argument("ratings", nargs="+", metavar="FILE", help="ratings that were not learned from, JSON lines")
    parser.add_argument("--output", required=True, metavar="DIR", help="where to write the new model")
    parser.add_argument(
        "--share", type=float, default=1.0, metavar="SHARE", help="of the sources to use; default: %(default)g"
    )
    parser.add_argument("--no-blend", action="store_true", help="leave the expected score to the score head alone")


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if not 0 < args.share <= 1:
        raise UsageError(f"--share {args.share:g}: must be more than 0, at most 1")
    output = Path(args.output)
    from rich.console import Console

    from matese.encoder import checkpoint

    is_model = (output / checkpoint.CONFIG).is_file()
    if output.exists() and not is_model and (output.is_file() or any(output.iterdir())):
        raise UsageError(f"--output {output}: must be new, empty or a model directory")
    directory = checkpoint.resolve(args.model)
    try:
        from matese.training import calibration
    except ModuleNotFoundError as error:
        missing = (error.name or "a package").split(".")[0]
        raise UsageError(f"{missing} is not installed: calibrating needs pip install 'matese[train]'") from error

    paths = [Path(name) for name in args.ratings]
    with Console(stderr=True).status("") as status:
        found = calibration.calibrate(
            directory, paths, output, share=args.share, progress=status.update, with_blends=not args.no_blend
        )
    print(f"calibration error\t{found.error_before:.4f}\t{found.error_after:.4f}")
    print("min_confidence\tprecision\trecall\tmacro_f1")
    for point in found.points:
        mark = "\tchosen" if point == found.chosen else ""
        row = (point.precision, point.recall, point.macro_f1)
        print(f"{point.min_confidence:g}\t" + "\t".join(f"{value:.3f}" for value in row) + mark)
    if found.blends:
        print("expected_score\thead\ttags\tchrf\toffset")
    for blend in found.blends:
        print(f"{blend.inputs}\t{blend.head:.4f}\t{blend.tags:.4f}\t{blend.chrf:.4f}\t{blend.offset:.4f}")
    print(f"model\t{output}")
    return 0
