"""A copy of a model whose confidences and operating point are fitted to human ratings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from matese.errors import check_installed
from matese.tasks import models, notices
from matese.tasks.models import NewModel
from matese.tasks.request import option
from matese.tasks.values import Several, Whole

if TYPE_CHECKING:
    from matese.training.calibration import Calibration


@dataclass(frozen=True)
class Request(NewModel):
    """Write a copy of a model with calibrated confidences.

    Attributes:
        ratings: ratings that were not used in training.
        error_free: more such ratings, for errors of meaning and the detection of error-free segments only, which is
            fitted to them for the language pairs that the others lack; for ratings that were made in another way, such
            as ESA beside MQM.
        short_texts: more ratings, such as contrasts, of which only texts of up to six words are read: the threshold of
            their marks is fitted to them, too.
        every: read every N-th rating of the first two, and all of texts of up to six words.
    """

    ratings: Sequence[str] = option((), Several())
    error_free: Sequence[str] = option((), Several())
    short_texts: Sequence[str] = option((), Several())
    every: int = option(1, Whole(1))


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
            short_paths=[Path(name) for name in request.short_texts],
            every=request.every,
            progress=say,
            report=issues,
        )
    notices.info(*issues.messages())
    if stream is not None:
        stream.writelines(f"{line}\n" for line in (*report(result), _line("model", str(target))))
    return result


def report(result: Calibration) -> Iterator[str]:
    """Yields the lines of the tables, with tabs between the cells."""
    from matese.model.heads.tags.confidence import SHORT

    yield _line("calibration error", f"{result.error_before:.4f}", f"{result.error_after:.4f}")
    yield _line("min_probability", "precision", "recall", "f1", "macro_f1")
    for token_point in result.token_points:
        agreement = (token_point.precision, token_point.recall, token_point.f1, token_point.macro_f1)
        chosen = ["chosen"] if token_point == result.chosen else []
        yield _line(f"{token_point.min_probability:g}", *map(_share, agreement), *chosen)
    if result.meaning_fits:
        yield _line("meaning", "segments", "threshold", "lowered", "pearson without", "with")
        for found in result.meaning_fits:
            cells = (_share(found.lowered), _share(found.before), _share(found.after))
            yield _line(found.rule.inputs, str(found.n), f"{found.rule.threshold:g}", *cells)
    yield _line("min_confidence", "precision", "recall")
    for point in result.span_points:
        yield _line(f"{point.min_confidence:g}", _share(point.precision), _share(point.recall))
    yield _line("marks", "words", "threshold", "precision", "recall", "major", "major of raters")
    for span_fit in result.span_fits:
        of_lengths = ((f"over {SHORT}", span_fit.of_long), (f"up to {SHORT}", span_fit.of_short))
        for words, length_point in of_lengths:
            if length_point is not None:
                shares = (length_point.min_confidence, length_point.precision, length_point.recall)
                majors = (span_fit.major, span_fit.major_of_raters)
                yield _line(span_fit.confidence.inputs, words, *map(_share, (*shares, *majors)))
    if result.error_free_fits:
        yield _line("error_free", "segments", "free", "mcc", "threshold", "pairs", "for")
        with_own = {fit.detector.inputs for fit in result.error_free_fits if fit.detector.lang_pairs}
        for fit in result.error_free_fits:
            figures = (str(fit.n), str(fit.n_free), _share(fit.mcc), _share(fit.detector.threshold))
            others = "all others" if fit.detector.inputs in with_own else "all"
            decides_on = ",".join(fit.detector.lang_pairs) or others
            yield _line(fit.detector.inputs, *figures, str(len(fit.detector.thresholds)), decides_on)


def _line(*cells: str) -> str:
    return "\t".join(cells)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
