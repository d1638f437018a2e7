"""Predicted errors and scores, compared with those of people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, TextIO

from matese.errors import counted
from matese.evaluation.spans.span_figures import SpanFigures
from matese.tasks import learned, notices, rated, sinks, texts
from matese.tasks.request import function
from matese.tasks.tables import Report
from matese.tasks.texts import JoinedTexts, Raters, check_stdin
from matese.tasks.weights import Weighted
from matese.validation.options import group, option

if TYPE_CHECKING:
    from matese.evaluation.spans.evaluation import Evaluation, Grouping, NamedRatings
    from matese.tasks.texts import RatingsOrFile


def _groupings() -> Sequence[Grouping]:
    from matese.evaluation.spans.evaluation import GROUPINGS

    return GROUPINGS


@dataclass(frozen=True)
class Request(Weighted):
    """Compare a prediction with gold ratings.

    Attributes:
        gold: human ratings, which count as correct.
        predicted: predicted ratings of the same segments.
        versus: another prediction, to compare PRED with.
        by: also show figures of each severity, category, lang-pair, system, domain or length.
        sentinels: also show figures of predictions that are bad by construction: all, none, random, extended and
            dropped spans.
        common: compare only the segments that all files have, and report how many of each file are left out.
        lang_pair: language pair, such as en-de or english-german, in place of what files state.
    """

    gold: RatingsOrFile = option(take=rated.ratings_given, metavar="GOLD")
    predicted: RatingsOrFile = option(take=rated.ratings_given, metavar="PRED")
    _: KW_ONLY
    versus: RatingsOrFile | None = option(None, take=rated.ratings_given, metavar="FILE")
    by: Sequence[Grouping] = option((), names=_groupings, metavar="GROUP")
    sentinels: bool = False
    common: bool = False
    lang_pair: str | None = option(None, metavar="PAIR")
    figures: SpanFigures = group(SpanFigures)
    raters: Raters = group(Raters)
    joined: JoinedTexts = group(JoinedTexts)
    output: Report = group(Report)


def run(request: Request, stream: TextIO | None = None) -> Evaluation:
    """Compares predicted ratings with gold ones; `figures` of the result has all figures by name.

    With `rater` or `merge`, ratings of an edited text are moved to the text of the prediction; with `merge`, each rater
    against the others is the human ceiling. The report is written to `stream`, if there is one.

    Raises:
        InputError: if the ratings cannot be compared.

    >>> from matese import ErrorSpan, Rating, Segment, Severity
    >>> gold, predicted = ([Rating(Segment("Das Haus"), None, (ErrorSpan(4, end, Severity.MAJOR),))] for end in (8, 6))
    >>> round(evaluate(gold, predicted).figures["mpp.micro.f1"].value, 3)
    0.667
    """
    inputs = [request.gold, request.predicted, *([] if request.versus is None else [request.versus])]
    files = [value for value in inputs if isinstance(value, str)]
    check_stdin([*files, *request.joined.files])
    with sinks.results(request.output.json, files, stream=stream) as outputs:
        from matese.evaluation.spans import evaluation
        from matese.evaluation.systems import raters
        from matese.render import evaluation_report, tables
        from matese.tasks import tag_units

        options = tag_units.figure_options(request.figures, request.penalties)
        gold, predicted, *versus = _read(request)
        if request.common:
            gold, predicted, *versus = _common([_of_rater(gold, request.raters.rater), predicted, *versus])
        single = texts.one_per_segment(
            gold.ratings, request.raters, name=gold.name, weights=request.penalties, predicted=predicted.ratings
        )
        golds, predicted, *versus = _with_gold_spans(replace(gold, ratings=single), predicted, *versus)
        if request.raters.given():
            predicted, *versus = (_on_texts_of(golds, named) for named in (predicted, *versus))
        evaluated = evaluation.evaluate(
            golds,
            predicted,
            options,
            by=request.by,
            versus=versus[0] if versus else None,
            sentinels=request.sentinels,
            humans=raters.against_others(gold.ratings, request.raters.merge),
        )
        evaluated = replace(evaluated, merge=request.raters.merge)
        outputs.write_text(*evaluation_report.text(evaluated, is_all=request.output.all), look=request.output.look)
        shown = evaluated.figures if request.output.all else evaluation_report.main_figures(evaluated)
        notices.info(*tables.undefined(shown))
        learned.tell(_sources([predicted, *versus]))
        outputs.write_json(evaluation_report.to_json(evaluated))
    return evaluated


evaluate = function(Request, run)


def _read(request: Request) -> list[NamedRatings]:
    """Returns the gold ratings, with the texts of their test set, and the predictions."""
    from matese.formats.format import ReadOptions

    options = ReadOptions(lang_pair=request.lang_pair, naming="")
    gold = rated.named(request.gold, "gold", options)
    gold = replace(gold, ratings=list(texts.with_texts(gold.ratings, request.joined, request.lang_pair)), tokens=None)
    predicted = rated.named(request.predicted, "prediction", options)
    if request.versus is None:
        return [gold, predicted]
    return [gold, predicted, rated.named(request.versus, "other prediction", options)]


def _sources(predictions: Iterable[NamedRatings]) -> dict[str | None, set[str]]:
    """Returns the sources of the predicted ratings, by rater."""
    sources: dict[str | None, set[str]] = {}
    for rating in (rating for predicted in predictions for rating in predicted.ratings):
        if rating.segment.source is not None:
            sources.setdefault(rating.rater, set()).add(rating.segment.source)
    return sources


def _of_rater(gold: NamedRatings, rater: str | None) -> NamedRatings:
    """Returns the ratings of a rater; all if none is chosen, or if there is no such rater, which is refused later."""
    kept = [number for number, rating in enumerate(gold.ratings) if rater in (None, rating.rater)]
    return gold.select(kept) if kept else gold


def _common(sides: Sequence[NamedRatings]) -> list[NamedRatings]:
    """Returns the ratings of the segments that all have; tells how many each has."""
    from matese.evaluation.spans import evaluation

    in_common = evaluation.common(sides)
    for before, kept in zip(sides, in_common, strict=True):
        notices.info(f"{before.name}: {len(kept.ratings):,} of {counted(len(before.ratings), 'rating')} compared")
    return in_common


def _with_gold_spans(golds: NamedRatings, *predictions: NamedRatings) -> list[NamedRatings]:
    """Returns all sides without the segments whose gold rating has no spans while others have; tells how many.

    They are not reviewed, or have a score alone, as prepared ratings of a Non-translation.
    """
    from matese.evaluation import alignment

    without = [number for number, rating in enumerate(golds.ratings) if rating.errors is None]
    if not 0 < len(without) < len(golds.ratings):
        return [golds, *predictions]
    notices.info(f"{golds.name}: left out {counted(len(without), 'rating')} without spans")
    left_out = [golds.ratings[number] for number in without]
    kept = [golds.select(sorted({*range(len(golds.ratings))} - {*without}))]
    for named in predictions:
        _, numbers = alignment.common([left_out, named.ratings])
        kept.append(named.select(sorted({*range(len(named.ratings))} - {*numbers})))
    return kept


def _on_texts_of(golds: NamedRatings, predicted: NamedRatings) -> NamedRatings:
    """Returns the predictions of the raters' texts; tells how many are left out."""
    from matese.evaluation.systems import raters

    kept = raters.on_texts_of(golds.ratings, predicted)
    if n_others := len(predicted.ratings) - len(kept.ratings):
        notices.info(f"{predicted.name}: {counted(n_others, 'rating')} of another rater's text left out")
    return kept
