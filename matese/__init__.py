"""Error annotation for machine translation: spans, severities and scores in the manner of MQM."""

from __future__ import annotations

import importlib
import inspect

from matese.annotation import Rating
from matese.mqm import Weights as Weights

_TASKS = "agreement compare convert correlate evaluate gate info prepare report reward tag train"
_MODULES = {
    "annotation": "ErrorSpan Estimate Omission Overall Rating Segment SegmentKey Severity TokenScores UnplacedError",
    "choosing.mbr": "mbr",
    "choosing.reranking": "rerank tune_reranking",
    "errors": "FormatError InputError ModelError UsageError",
    "evaluation.metrics.correlation_options": "CorrelationFigures",
    "evaluation.spans.span_figures": "SpanFigures",
    "evaluation.spans.span_hit_metric": "SpanHit",
    "evaluation.systems.gate_limits": "GateLimits",
    "evaluation.systems.sampling": "Sampling",
    "explanation.explainer": "explain",
    "language_model.llm_annotator": "LanguageModel",
    "language_model.prompts": "Question",
    "model.annotator": "Annotator annotate load operating_points",
    "model.decoding_choice": "DecodingChoice",
    "mqm": "Weights",
    "render.rating_list": "Ratings",
    "render.results": "tables",
    **{f"tasks.{name}": name for name in _TASKS.split()},
    "tasks.annotators": "Asking Computing Intervals Marking",
    "tasks.files": "ratings_from_quotes read write",
    "tasks.scores": "corpus_score expected_score score worst_first",
    "tasks.tables": "Report",
    "tasks.texts": "JoinedTexts Raters TextFiles",
    "version": "__version__",
}
_OPTIONS = {
    "compare": "ComparisonOutput",
    "convert": "ConvertReading ConvertWriting",
    "correlate": "CorrelationOutput MetricSelection",
    "gate": "GateChanges GateOutput",
    "tag": "LargeJobs TagSelection",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()} | {
    name: f"tasks.{task}" for task, names in _OPTIONS.items() for name in names.split()
}
"""The module of each name. Their types are in `__init__.pyi`, which `python -m docs.stub` writes."""
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """Imports modules on first use, so that `import matese` loads neither torch nor numpy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'matese' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"matese.{_HOMES[name]}"), name)
    if inspect.isfunction(value) and not hasattr(value, "__wrapped__"):  # as those of tasks have it already
        from matese.tasks import request

        value = request.public(value)
        value.__module__ = __name__  # so that it can be pickled
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Returns all public names, also those that are not imported yet; `help` and editors list them."""
    return __all__


def _as_html(rating: Rating) -> str:
    from matese.render import notebook

    return notebook.html(rating)


def _as_table(rating: Rating) -> object:
    """Returns a table of one row, as `Ratings.to_pandas` does."""
    from matese.render.rating_list import Ratings

    return Ratings([rating]).to_pandas()


# The types stand below all rooms, and know of neither HTML nor tables.
Rating._repr_html_ = _as_html  # type: ignore[method-assign]
Rating.to_pandas = _as_table  # type: ignore[method-assign]
