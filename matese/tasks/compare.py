"""Two or more systems, compared by the errors in their translations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, TextIO

from matese.evaluation.systems.sampling import Sampling
from matese.tasks import annotators, models, notices, rated, sinks
from matese.tasks.annotators import Asking
from matese.tasks.request import function
from matese.tasks.tables import Report
from matese.validation.options import File, group, option

if TYPE_CHECKING:
    from matese.evaluation.metrics.lexical_metrics import Baseline
    from matese.evaluation.systems.comparison import SystemComparison
    from matese.evaluation.systems.preferences import PairPreferences
    from matese.evaluation.systems.segment_filters import Filter

_TOP = 10
"""Segments with the largest differences that are listed."""


def _as_list(value: object) -> tuple[object, ...]:
    """Returns names, or what they stand for, as a list; one alone stands for a list of one."""
    return (value,) if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)


@dataclass(frozen=True, kw_only=True)
class ComparisonOutput(Report):
    """How a comparison is written.

    Attributes:
        html: write a page with charts and all segments.
    """

    html: File | None = None


@dataclass(frozen=True)
class Request(rated.Rated):
    """Compare systems.

    Attributes:
        baseline: compare all others with this system, a name or a file (default: compare any two systems).
        filter: compare only the segments that pass all these filters, listed below.
        metrics: compute metrics from the texts: bleu, chrf or ter with sacrebleu, also with parameters
            (bleu:tok=intl,lc or chrf:beta=3); wer or eed with torchmetrics; bertscore, bertscore-idf or yisi with an
            encoder; sentinel-src or sentinel-mt, the length of one text; sentinel-src-fit or sentinel-mt-fit, a
            regression on it (correlate only); any model that scores (embedded, a directory or a hub id); or a file of
            scores.
    """

    _: KW_ONLY
    filter: Sequence[Filter | str] = option((), take_all=_as_list, metavar="FILTER")
    metrics: Sequence[str | Baseline] = option((), take_all=_as_list)
    sampling: Sampling = group(Sampling)
    asking: Asking = group(Asking)
    output: ComparisonOutput = group(ComparisonOutput)


def run(request: Request, stream: TextIO | None = None) -> SystemComparison:
    """Compares systems that translated the same segments: all others with a baseline, or any two.

    The report is written to `stream`, if there is one.

    Raises:
        InputError: if the systems cannot be compared.
    """
    files = request.files
    with sinks.results(request.output.json, files, request.output.html, stream=stream) as outputs:
        from matese.evaluation.systems import comparison, segment_filters
        from matese.render import comparison_page, comparison_report
        from matese.tasks import baselines

        # Before the model works for an hour.
        filters = [segment_filters.parse(each) if isinstance(each, str) else each for each in request.filter]
        rated_systems = rated.find(request, command="compare")
        with annotators.scoring([metric for metric in request.metrics if isinstance(metric, str)]):
            compared = comparison.compare(
                rated_systems.systems,
                weights=request.penalties,
                selected_by=filters,
                sampling=request.sampling,
                basis=request.by,
                baseline=rated_systems.baseline,
                metrics=baselines.make_baselines(
                    request.metrics, weights=request.penalties, loading={"device": request.marking.computing.device}
                ),
            )
        preferred = _preferences(request, compared) if request.asking.annotator is not None else {}
        blind_spots = models.blind_spots(rating for ratings in rated_systems.systems.values() for rating in ratings)
        notices.info(*comparison_report.notices(compared), *blind_spots)
        sentences = [f"{comparison_report.preference(*names, of_pair)}\n" for names, of_pair in preferred.items()]
        text = comparison_report.text(compared, _TOP, is_all=request.output.all)
        outputs.write_text(*sentences, *text, look=request.output.look)
        outputs.write_json(comparison_report.to_json(compared, files, preferred))
        if outputs.html is not None:
            outputs.html.write(comparison_page.render(compared, files, notes=[*rated_systems.warnings, *blind_spots]))
    return compared


def _preferences(request: Request, compared: SystemComparison) -> dict[tuple[str, str], PairPreferences]:
    """Returns which of two systems a language model prefers, for each pair that is compared."""
    from matese.evaluation.systems import preferences

    by_pair = {}
    with annotators.asked_model(request.asking, weights=request.weights) as model:
        for first, second in compared.pairs:
            ratings = [compared.ratings[name] for name in (first, second)]
            pairs = ((left.segment, right.segment) for left, right in zip(*ratings, strict=True))
            judged = [(answer.better, answer.is_steady) for answer in model.preferences(pairs)]
            by_pair[first, second] = preferences.summarise(judged, ratings[0], compared.sampling)
    return by_pair


compare = function(Request, run)
