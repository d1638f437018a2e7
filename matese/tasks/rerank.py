"""Chooses the best candidate of each source with a reference-free model, and fits the weights of the features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import KW_ONLY, asdict, dataclass, make_dataclass, replace
from typing import TYPE_CHECKING, TextIO

from matese.errors import FormatError, UsageError, counted
from matese.tasks import annotators, notices, sinks, texts
from matese.tasks.annotators import Loading
from matese.tasks.texts import CandidateTexts, require
from matese.validation.options import File, group, option

if TYPE_CHECKING:
    from matese.choosing.choice import Choice
    from matese.choosing.reranking import FeatureWeights, RatedCandidates


@dataclass(frozen=True)
class Request(sinks.ChoiceOutput):
    """Choose among candidates, or fit the weights with which they are chosen.

    Attributes:
        ratings: files of ratings, instead of candidates.
        more_models: further models, whose features expected_score_2, minor_2, major_2, ... can have weights.
        feature_weights: a YAML file of weights, or NAME=WEIGHT for some features (default: the expected score alone).
        tune: fit weights and write them to a YAML file, or those of --feature-weights if they choose better on these
            data; choose nothing.
        ref: --tune: a reference for chrF; it is never used to choose; repeatable.
        gold: --tune: human ratings of the candidates.
    """

    ratings: Sequence[File] = option((), metavar="RATINGS")
    _: KW_ONLY
    candidates: CandidateTexts = group(CandidateTexts)
    loading: Loading = group(Loading)
    more_models: Sequence[str] = option((), metavar="MODEL")
    feature_weights: Sequence[str] | None = option(None, metavar="FILE|NAME=WEIGHT")
    tune: File | None = None
    ref: Sequence[File] = option((), flags=["-r"], is_repeated=True)
    gold: File | None = option(None, metavar="RATINGS")

    @property
    def files(self) -> list[str]:
        """The files that are read."""
        return [*self.ratings, *self.candidates.files, *self.ref, *([self.gold] if self.gold else [])]


def run(request: Request, stream: TextIO | None = None) -> tuple[Choice, ...] | FeatureWeights:
    """Chooses the best translation of each source; with `tune`, returns weights instead.

    The choices are written to `output` or `stream`, if there is one.
    """
    require(bool(request.tune) or not (request.ref or request.gold), "--ref and --gold are for --tune only")
    for name, path in (("--output", request.output), ("--tune", request.tune)):
        sinks.check_apart(path, request.files, name)
    if request.tune:
        require(not (request.output or request.format), "--tune writes weights: leave out --output and --format")
        return _tune(request, request.tune, stream)
    form = sinks.text_format(request.output, request.format)
    weights = _weights(request)
    with sinks.opened_if_wanted(request.output, stream) as results, _rated(request) as (rated, n_sources, signature):
        from matese.choosing import reranking

        name = "+".join(f"{key}*{value:g}" for key, value in (weights or {}).items()) or "default"
        choices = (reranking.choose(candidates, ratings, weights) for candidates, ratings in rated)
        if results is None:
            return tuple(choices)
        signature = f"{signature}|choice:rerank|features:{name}"
        sinks.write_choices(choices, n_sources, results, form, signature)
    return ()


@contextmanager
def _rated(request: Request) -> Iterator[tuple[Iterator[RatedCandidates], int, str]]:
    """Yields candidates with their ratings, the number of sources, and the signature of the ratings."""
    if request.ratings:
        is_alone = not request.candidates.files
        require(is_alone, "RATINGS are used as they are: give them without texts")
        require(not request.more_models, "--more-models: RATINGS are used as they are, without a model")
        from matese.choosing import choice

        rated = choice.of_ratings(texts.systems(request.ratings, texts.read_options(request.candidates)))
        yield ((candidates, [ratings]) for candidates, ratings in rated), len(rated), rated[0][1][0].rater or "matese"
        return
    lists = texts.candidates(request.candidates, request.ref)
    no_source = "the candidates have no sources; give --src FILE, or `source` in JSON"
    require(all(candidates.source is not None for candidates in lists), no_source)
    n_texts = sum(len(candidates.texts) for candidates in lists)
    with ExitStack() as stack:
        models = [replace(request.loading, model=name) for name in (request.loading.model, *request.more_models)]
        used = [stack.enter_context(annotators.loaded(model, n_texts)) for model in models]
        from matese.choosing import preferences, reranking

        compares = preferences.compares(used[0])
        inputs = "source+reference" if compares else used[0].choose_inputs(lists[0].segments()[0])
        signature = "".join([used[0].signature(inputs), *(f"|with:{annotator.name}" for annotator in used[1:])])
        yield reranking.rated_by(lists, used), len(lists), signature
        for annotator in used:
            notices.info(*annotator.counts.notices)


def _weights(request: Request) -> FeatureWeights | None:
    """Returns the weights in a file, or the weights given by name; None without either."""
    from matese.choosing.reranking import feature_names, make_weights
    from matese.validation import settings

    n_models = 1 + len(request.more_models)
    values = request.feature_weights
    if values is None:
        return None
    if len(values) == 1 and "=" not in values[0]:
        of_file = make_dataclass(
            "FeatureWeights", [(name, float, 0.0) for name in feature_names(n_models)], frozen=True
        )
        return make_weights(asdict(settings.read(values[0], of_file)), n_models)
    weights = {}
    for item in values:
        name, _, value = item.partition("=")
        try:
            weights[name] = float(value)
        except ValueError:
            allowed = "must be a YAML file, or NAME=WEIGHT with a number"
            raise UsageError(f"--feature-weights {item}: {allowed}") from None
    return make_weights(weights, n_models)


def _tune(request: Request, path: str, stream: TextIO | None) -> FeatureWeights:
    require(bool(request.ref or request.gold), "--tune needs --ref FILE or --gold RATINGS")
    with sinks.opened(path, stream, "--tune") as results, _rated(request) as (rated, n_sources, _):
        from matese.choosing import reranking

        pairs = list(notices.progress(rated, n_sources, "sources"))
        lists = [candidates for candidates, _ in pairs]
        if request.gold:
            gold = reranking.scores_of(lists, texts.ratings(request.gold, texts.read_options(request.candidates)))
            _check_gold(request.gold, [value for values in gold for value in values])
        else:
            gold = reranking.chrf_of(lists)
        tuned = reranking.tune(reranking.features(pairs), gold)
        kept, weights, n_counted, means = reranking.keep_best(pairs, gold, tuned, _weights(request))
        lines = [f"{name}: {value:g}\n" for name, value in weights.items()]
        results.write("".join(lines or ["length: 0\n"]))  # without a weight, the first candidate is chosen
        what = "score of the ratings" if request.gold else "chrF"
        shown = ", ".join(f"{name} {value:.4g}" for name, value in means.items())
        notices.info(f"mean {what} of the candidates chosen for {counted(n_counted, 'source')}: {shown}")
        if kept != "tuned":
            order = "weights that keep the given order" if kept == "first" else f"the {kept} weights"
            notices.info(f"the tuned weights choose worse than that on these data: {order} are written")
    return weights


def _check_gold(path: str, values: Sequence[float | None]) -> None:
    """Tells how many candidates have no rating; raises a FormatError if none has one."""
    n_missing = values.count(None)
    if n_missing == len(values):
        raise FormatError(path, None, "rates none of the candidates; it needs their sources and translations")
    if n_missing:
        notices.info(f"{path} does not rate {n_missing:,} of {len(values):,} candidates: not used")
