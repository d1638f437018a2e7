"""The ratings of several raters, compared with each other."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, TextIO

from matese.evaluation.spans.span_figures import SpanFigures
from matese.tasks import notices, rated, sinks
from matese.tasks.request import function
from matese.tasks.tables import Report
from matese.tasks.weights import Weighted
from matese.validation.options import group, option

if TYPE_CHECKING:
    from matese.evaluation.systems.agreement import RaterAgreement
    from matese.tasks.texts import RatingsOrFile


@dataclass(frozen=True)
class Request(Weighted):
    """Compare raters.

    Attributes:
        ratings: one file with the ratings of all raters.
        lang_pair: language pair, such as en-de or english-german, in place of what files state.
    """

    ratings: RatingsOrFile = option(take=rated.ratings_given, metavar="RATINGS")
    _: KW_ONLY
    lang_pair: str | None = option(None, metavar="PAIR")
    figures: SpanFigures = group(SpanFigures)
    output: Report = group(Report)


def run(request: Request, stream: TextIO | None = None) -> RaterAgreement:
    """Compares the ratings of two raters or more with each other.

    The report is written to `stream`, if there is one.

    Raises:
        InputError: if a rating has no rater, or no segment has two raters.

    >>> from matese import ErrorSpan, Rating, Segment, Severity
    >>> segment = Segment("Das Haus ist alt.")
    >>> span = ErrorSpan(4, 8, Severity.MAJOR)
    >>> result = agreement([Rating(segment, "anna", (span,)), Rating(segment, "ben", (span,))])
    >>> result.pooled["mpp.micro.f1"].value, result.alpha["alpha.severity"].value
    (1.0, 1.0)
    """
    files = [request.ratings] if isinstance(request.ratings, str) else []
    with sinks.results(request.output.json, files, stream=stream) as outputs:
        from matese.evaluation.systems import agreement as raters
        from matese.formats.format import ReadOptions
        from matese.render import agreement_report, tables
        from matese.tasks import tag_units

        named = rated.named(request.ratings, "ratings", ReadOptions(lang_pair=request.lang_pair, naming=""))
        measured = raters.measure(named.ratings, tag_units.figure_options(request.figures, request.penalties))
        shown = {**measured.pooled, **measured.alpha} if request.output.all else measured.alpha
        notices.info(*measured.notices, *tables.undefined(shown))
        outputs.write_text(*agreement_report.text(measured, is_all=request.output.all), look=request.output.look)
        outputs.write_json(agreement_report.to_json(measured, name=named.name))
    return measured


agreement = function(Request, run)
