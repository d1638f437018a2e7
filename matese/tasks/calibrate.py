"""A copy of a model whose confidences and operating point are fitted to human ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from matese.errors import check_installed
from matese.tasks import models, notices
from matese.tasks.models import NewModel
from matese.validation.options import Count, File, option

if TYPE_CHECKING:
    from matese.training.calibration import Calibration, InputFit


@dataclass(frozen=True)
class Request(NewModel):
    """Write a copy of a model with calibrated confidences.

    Attributes:
        ratings: ratings that were not used in training.
        error_free: more such ratings, for errors of meaning and the detection of error-free segments only, which is
            fitted to them alone; for ratings that were made in another way, such as ESA beside MQM.
        contrasts: right and wrong translations, to which the marks and scores of texts of up to six words, and the
            marks in texts of several sentences, are fitted.
        every: read every N-th rating of the first two.
    """

    ratings: Sequence[File] = option(metavar="FILE")
    _: KW_ONLY
    error_free: Sequence[File] = ()
    contrasts: Sequence[File] = ()
    every: Count = 1


def run(request: Request, stream: TextIO | None = None) -> Calibration:
    """Calibrates a model; returns the figures, and writes them to `stream` as tables of tabs."""
    check_installed("matese calibrate", "torchmetrics", extra="train")
    from matese.formats.row_issues import IssueCounts
    from matese.model.storage import checkpoint

    target = models.directory(request.output)
    directory = checkpoint.resolve(request.model)
    from matese.training import calibration

    issues = IssueCounts()
    with notices.status() as say:
        result = calibration.calibrate(
            directory,
            [Path(name) for name in request.ratings],
            target,
            error_free_paths=[Path(name) for name in request.error_free],
            contrast_paths=[Path(name) for name in request.contrasts],
            every=request.every,
            progress=say,
            report=issues,
        )
    notices.info(*issues.messages())
    if unfitted := [each.inputs for each in result.inputs if each.marking is None]:
        notices.info(f"too few ratings to fit marks by {', '.join(unfitted)}: {target} has no thresholds for them")
    if stream is not None:
        stream.writelines(f"{line}\n" for line in (*report(result), _line("model", str(target))))
    return result


def report(result: Calibration) -> Iterator[str]:
    """Yields the lines of the tables, with tabs between the cells."""
    yield _line("marks", "words", "threshold", "precision", "recall", "major", "major of raters", "for interface")
    for each in result.inputs:
        yield from _marks(each)
    yield _line("min_confidence", "precision", "recall")
    for point in result.span_points:
        yield _line(f"{point.min_confidence:g}", _share(point.precision), _share(point.recall))
    yield _line("pieces", "whole", "pieces", "good", "power")
    for each in result.inputs:
        if (pieces := each.pieces) is not None:
            yield _line(each.inputs, *map(_share, (pieces.whole, pieces.pieces, pieces.good, pieces.power)))
    yield _line("meaning", "segments", "threshold", "lowered", "pearson without", "with", "short right", "short wrong")
    for each in result.inputs:
        if (fit := each.meaning) is not None:
            figures = (fit.lowered, fit.before, fit.after, fit.right, fit.wrong)
            yield _line(each.inputs, str(fit.n), f"{fit.rule.threshold:g}", *map(_share, figures))
    yield _line("error_free", "segments", "free", "mcc", "threshold")
    for each in result.inputs:
        if (free := each.error_free) is not None:
            yield _line(each.inputs, str(free.n), str(free.n_free), _share(free.mcc), _share(free.rule.threshold))


def _marks(each: InputFit) -> Iterator[str]:
    from matese.model.heads.tags.marking import SHORT

    if (fit := each.marking) is not None:
        for words, point in ((f"over {SHORT}", fit.of_long), (f"up to {SHORT}", fit.of_short)):
            figures = (point.min_confidence, point.precision, point.recall, fit.major, fit.major_of_raters)
            yield _line(each.inputs, words, *map(_share, (*figures, fit.marking.least_of_interface)))


def _line(*cells: str) -> str:
    return "\t".join(cells)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
