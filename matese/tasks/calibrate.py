"""A copy of a model whose confidences and operating point are fitted to human ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from matese.errors import check_installed
from matese.tasks import models, notices
from matese.tasks.models import NewModel
from matese.tasks.request import option
from matese.tasks.values import Several

if TYPE_CHECKING:
    from matese.training.calibration import Calibration
    from matese.training.confidences import Annotate


@dataclass(frozen=True)
class Request(NewModel):
    """Write a copy of a model with calibrated confidences.

    Attributes:
        ratings: ratings that were not used in training.
        error_free: more such ratings, for the detection of error-free segments only: it is fitted to them for the
            language pairs that the others lack; for ratings that were made in another way, such as ESA beside MQM.
    """

    ratings: Sequence[str] = option((), Several())
    error_free: Sequence[str] = option((), Several())


def run(request: Request, stream: TextIO | None = None) -> Calibration:
    """Calibrates a model; returns the figures, and writes them to `stream` as tables of tabs."""
    check_installed("matese calibrate", "torchmetrics", extra="train")
    from matese.formats.row_issues import IssueCounts
    from matese.model import annotator
    from matese.model.storage import checkpoint

    target = models.directory(request.output)
    directory = checkpoint.resolve(request.model)
    from matese.training import calibration

    def load_annotate(calibrated: Path) -> Annotate:
        return annotator.load(calibrated).annotate_tokens

    issues = IssueCounts()
    with notices.status() as say:
        result = calibration.calibrate(
            directory,
            [Path(name) for name in request.ratings],
            target,
            error_free_paths=[Path(name) for name in request.error_free],
            progress=say,
            load_annotate=load_annotate,
            report=issues,
        )
    notices.info(*issues.messages())
    if stream is not None:
        _write(result, target, stream)
    return result


def _write(result: Calibration, target: Path, stream: TextIO) -> None:
    rows: list[Sequence[object]] = [("calibration error", f"{result.error_before:.4f}", f"{result.error_after:.4f}")]
    rows.append(("min_probability", "precision", "recall", "f1", "macro_f1"))
    for token_point in result.token_points:
        shares = (token_point.precision, token_point.recall, token_point.f1, token_point.macro_f1)
        mark = ("chosen",) if token_point == result.chosen else ()
        rows.append((f"{token_point.min_probability:g}", *(f"{share:.3f}" for share in shares), *mark))
    rows.append(("min_confidence", "precision", "recall"))
    rows += [(f"{one.min_confidence:g}", f"{one.precision:.3f}", f"{one.recall:.3f}") for one in result.span_points]
    rows.append(("chosen", f"{result.min_confidence:g}"))
    if result.error_free_fits:
        rows.append(("error_free", "segments", "free", "mcc", "threshold", "pairs", "for"))
        with_own = {fit.detector.inputs for fit in result.error_free_fits if fit.detector.lang_pairs}
        for fit in result.error_free_fits:
            figures = (fit.detector.inputs, fit.n, fit.n_free, f"{fit.mcc:.3f}", f"{fit.detector.threshold:.3f}")
            others = "all others" if fit.detector.inputs in with_own else "all"
            decides_on = ",".join(fit.detector.lang_pairs) or others
            rows.append((*figures, len(fit.detector.thresholds), decides_on))
    rows.append(("model", target))
    stream.write("".join("\t".join(map(str, row)) + "\n" for row in rows))
