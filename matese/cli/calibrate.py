"""`matese calibrate`: fit a model's confidences and operating point to human ratings."""

from __future__ import annotations

import argparse
from pathlib import Path

from matese.cli import messages, model, output
from matese.errors import check_installed
from matese.formats.row_issues import IssueCounts

SUMMARY = "write a copy of a model with calibrated confidences"
EPILOG = """examples:
  matese calibrate runs/mini/model data/prepared/dev.jsonl --output runs/mini/calibrated
  matese calibrate runs/mini/model dev.jsonl --error-free esa.jsonl --output runs/mini/calibrated

Prints the calibration error before and after, and a table of error probabilities with the precision, recall and F1 of
erroneous tokens and the macro-F1 of the five tags. The probability with the best F1 determines the spans. The
confidence of a span becomes the probability that it overlaps a rater's span; a second table shows the precision and
recall of spans by minimum confidence. The default minimum marks as many segments as the raters marked, if the
model has as many spans; --min-confidence of matese tag overrides it. As many spans are Major as of the raters.

With enough segments of both kinds, a logistic regression for matese tag --error-free is fitted to whether the raters
found nothing to correct. The last table shows its Matthews correlation coefficient and its threshold for each kind of
input, the number of language pairs that have a threshold of their own, and the language pairs that it decides on. With
--error-free there are two of them: one for the language pairs of the ratings, and one for all others.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    model.add_new_model(parser)
    parser.add_argument("ratings", nargs="+", metavar="FILE", help="ratings that were not used in training")
    text = (
        "more such ratings, for the detection of error-free segments only: it is fitted to them for the language pairs "
        "that the others lack; for ratings that were made in another way, such as ESA beside MQM"
    )
    parser.add_argument("--error-free", nargs="+", default=[], metavar="FILE", help=text)


def run(args: argparse.Namespace) -> None:
    check_installed("matese calibrate", "torchmetrics", extra="train")
    from rich.console import Console

    from matese.model import annotator
    from matese.model.storage import checkpoint

    target = output.model_directory(args.output)
    directory = checkpoint.resolve(args.model)
    from matese.training import calibration
    from matese.training.confidences import Annotate

    def load_annotate(calibrated: Path) -> Annotate:
        return annotator.load(calibrated).annotate_tokens

    paths = [Path(name) for name in args.ratings]
    issues = IssueCounts()
    with Console(stderr=True).status("") as status:
        result = calibration.calibrate(
            directory,
            paths,
            target,
            error_free_paths=[Path(name) for name in args.error_free],
            progress=status.update,
            load_annotate=load_annotate,
            report=issues,
        )
    messages.info(*issues.messages())
    print(f"calibration error\t{result.error_before:.4f}\t{result.error_after:.4f}")
    print("min_probability\tprecision\trecall\tf1\tmacro_f1")
    for token_point in result.token_points:
        mark = "\tchosen" if token_point == result.chosen else ""
        shares = (token_point.precision, token_point.recall, token_point.f1, token_point.macro_f1)
        print(f"{token_point.min_probability:g}", *(f"{share:.3f}" for share in shares), sep="\t", end=f"{mark}\n")
    print("min_confidence\tprecision\trecall")
    for point in result.span_points:
        print(f"{point.min_confidence:g}\t{point.precision:.3f}\t{point.recall:.3f}")
    print(f"chosen\t{result.min_confidence:g}")
    if result.error_free_fits:
        print("error_free\tsegments\tfree\tmcc\tthreshold\tpairs\tfor")
        with_own = {fit.detector.inputs for fit in result.error_free_fits if fit.detector.lang_pairs}
        for fit in result.error_free_fits:
            figures = (fit.detector.inputs, fit.n, fit.n_free, f"{fit.mcc:.3f}", f"{fit.detector.threshold:.3f}")
            others = "all others" if fit.detector.inputs in with_own else "all"
            decides_on = ",".join(fit.detector.lang_pairs) or others
            print(*figures, len(fit.detector.thresholds), decides_on, sep="\t")
    print(f"model\t{target}")
