"""Error annotation for machine translation: spans, severities and scores in the manner of MQM."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from matese.annotation import (
    ErrorSpan,
    Estimate,
    Omission,
    Overall,
    Rating,
    Segment,
    SegmentKey,
    Severity,
    TokenScores,
    UnplacedError,
)
from matese.errors import FormatError, InputError, ModelError, UsageError
from matese.mqm import Weights
from matese.version import __version__

if TYPE_CHECKING:
    from matese.choosing.mbr import mbr
    from matese.choosing.reranking import rerank, tune_reranking
    from matese.evaluation.metrics.correlation_options import CorrelationFigures
    from matese.evaluation.spans.span_figures import SpanFigures
    from matese.evaluation.spans.span_hit_metric import SpanHit
    from matese.evaluation.systems.gate_limits import GateLimits
    from matese.evaluation.systems.sampling import Sampling
    from matese.explanation.explainer import explain
    from matese.language_model.llm_annotator import LanguageModel
    from matese.language_model.prompts import Question
    from matese.model.annotator import Annotator, annotate, load, operating_points
    from matese.model.decoding_choice import DecodingChoice
    from matese.render.rating_list import Ratings
    from matese.render.results import tables
    from matese.tasks.agreement import agreement
    from matese.tasks.annotators import Asking, Marking
    from matese.tasks.compare import ComparisonOutput, compare
    from matese.tasks.convert import ConvertReading, ConvertWriting, convert
    from matese.tasks.correlate import CorrelationOutput, MetricSelection, correlate
    from matese.tasks.evaluate import evaluate
    from matese.tasks.files import ratings_from_quotes, read, write
    from matese.tasks.gate import GateChanges, GateOutput, gate
    from matese.tasks.info import info
    from matese.tasks.prepare import prepare
    from matese.tasks.report import report
    from matese.tasks.reward import reward
    from matese.tasks.scores import corpus_score, expected_score, score, worst_first
    from matese.tasks.tables import Report
    from matese.tasks.tag import LargeJobs, TagSelection, tag
    from matese.tasks.texts import JoinedTexts, Raters, TextFiles
    from matese.tasks.train import train

__all__ = [
    "Annotator",
    "Asking",
    "ComparisonOutput",
    "ConvertReading",
    "ConvertWriting",
    "CorrelationFigures",
    "CorrelationOutput",
    "DecodingChoice",
    "ErrorSpan",
    "Estimate",
    "FormatError",
    "GateChanges",
    "GateLimits",
    "GateOutput",
    "InputError",
    "JoinedTexts",
    "LanguageModel",
    "LargeJobs",
    "Marking",
    "MetricSelection",
    "ModelError",
    "Omission",
    "Overall",
    "Question",
    "Raters",
    "Rating",
    "Ratings",
    "Report",
    "Sampling",
    "Segment",
    "SegmentKey",
    "Severity",
    "SpanFigures",
    "SpanHit",
    "TagSelection",
    "TextFiles",
    "TokenScores",
    "UnplacedError",
    "UsageError",
    "Weights",
    "__version__",
    "agreement",
    "annotate",
    "compare",
    "convert",
    "corpus_score",
    "correlate",
    "evaluate",
    "expected_score",
    "explain",
    "gate",
    "info",
    "load",
    "mbr",
    "operating_points",
    "prepare",
    "ratings_from_quotes",
    "read",
    "report",
    "rerank",
    "reward",
    "score",
    "tables",
    "tag",
    "train",
    "tune_reranking",
    "worst_first",
    "write",
]
_LAZY = {
    **dict.fromkeys(("Annotator", "annotate", "load", "operating_points"), "model.annotator"),
    "DecodingChoice": "model.decoding_choice",
    "explain": "explanation.explainer",
    "LanguageModel": "language_model.llm_annotator",
    "Question": "language_model.prompts",
    "mbr": "choosing.mbr",
    "Ratings": "render.rating_list",
    "SpanHit": "evaluation.spans.span_hit_metric",
    "tables": "render.results",
    "Asking": "tasks.annotators",
    "Marking": "tasks.annotators",
    "ComparisonOutput": "tasks.compare",
    "Sampling": "evaluation.systems.sampling",
    "ConvertReading": "tasks.convert",
    "ConvertWriting": "tasks.convert",
    "CorrelationFigures": "evaluation.metrics.correlation_options",
    "CorrelationOutput": "tasks.correlate",
    "MetricSelection": "tasks.correlate",
    "SpanFigures": "evaluation.spans.span_figures",
    "GateChanges": "tasks.gate",
    "GateLimits": "evaluation.systems.gate_limits",
    "GateOutput": "tasks.gate",
    "LargeJobs": "tasks.tag",
    "TagSelection": "tasks.tag",
    "Report": "tasks.tables",
    "JoinedTexts": "tasks.texts",
    "Raters": "tasks.texts",
    "TextFiles": "tasks.texts",
    **dict.fromkeys(("ratings_from_quotes", "read", "write"), "tasks.files"),
    **dict.fromkeys(("corpus_score", "expected_score", "score", "worst_first"), "tasks.scores"),
    **dict.fromkeys(("rerank", "tune_reranking"), "choosing.reranking"),
}
"""The modules of names that are imported on first use; without a row, that of the task."""


def __getattr__(name: str) -> object:
    """Imports heavy modules on first use, so that `import matese` loads neither torch nor numpy."""
    if name in __all__:
        return getattr(importlib.import_module(f"matese.{_LAZY.get(name, f'tasks.{name}')}"), name)
    raise AttributeError(f"module 'matese' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Returns all public names, also those that are not imported yet; `help` and editors list them."""
    return __all__
