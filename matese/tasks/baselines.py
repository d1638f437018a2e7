"""Makes metrics from their names, for `correlate` and `compare`: of sacrebleu, of an encoder, or any model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from matese import mqm
from matese.choosing import preferences
from matese.errors import UsageError, check_list, one_of, unknown
from matese.evaluation.metrics import lexical_metrics, sentinels
from matese.evaluation.metrics.correlation_options import (
    BASELINES,
    EDIT_BASELINES,
    EMBEDDING_BASELINES,
    FITTED_BASELINES,
    SACREBLEU_BASELINES,
    SENTINEL_BASELINES,
    FittedName,
    base_name,
)
from matese.evaluation.metrics.lexical_metrics import Baseline, BaselineScores, FittedBaseline, SystemTexts
from matese.evaluation.statistics.arrays import FloatArray

if TYPE_CHECKING:
    from matese.annotation import Rating
    from matese.model.annotator import Annotator
    from matese.model.bertscore import BertScore, BertscoreVariant

MAKERS: Mapping[str, Callable[[str, str], Baseline]] = dict.fromkeys(
    (*SACREBLEU_BASELINES, *EDIT_BASELINES, *SENTINEL_BASELINES), lexical_metrics.make
)
"""What makes each baseline of texts from its name and parameters; those of an encoder are made together."""


def make_baselines(
    metrics: Sequence[str | Baseline],
    *,
    encoder: str | None = None,
    layer: int | None = None,
    weights: mqm.AnyWeights = "matese",
    loading: Mapping[str, object] | None = None,
) -> list[Baseline]:
    """Returns metrics, with their models loaded.

    Metrics that need an encoder name it: "BERTScore (mini)". A model that marks errors gives the MQM score of its spans
    under its name. If it also gives an expected score, that is NAME.expected.

    Args:
        metrics: `BASELINES`, embedded models, directories of models, hub ids, or files of scores; metrics that are made
            already stay.
            Those of sacrebleu may have parameters: "bleu:tok=intl,lc", "chrf:beta=3".
        encoder: for `bertscore`, `bertscore-idf` and `yisi`: a model, or a directory that transformers can load; None
            for the embedded model.
        layer: of the encoder, 0 for its embeddings; None for the one that `BertScore` chooses.
        weights: of the errors that models mark, or the name of a preset.
        loading: arguments of `matese.load` for models.

    Raises:
        InputError: if a parameter of a metric is unknown.
        UsageError: if there is no such metric, or the encoder is not needed.
        ModelError: if a model or the encoder cannot be loaded.

    >>> ", ".join(baseline.title for baseline in make_baselines(["chrf", "ter"]))
    'chrF, TER'
    >>> make_baselines(["chrff"])
    Traceback (most recent call last):
    matese.errors.UsageError: unknown metric 'chrff', did you mean 'chrf'? must be bleu, chrf, ter, wer, eed, \
per, cder, character, nist, sentinel-src, sentinel-mt, sentinel-src-fit, sentinel-mt-fit, bertscore, bertscore-idf, \
yisi, or a model: an embedded one, a directory or a hub id; or a file of scores
    """
    check_list(metrics=metrics)
    names = list(dict.fromkeys(metric for metric in metrics if isinstance(metric, str)))
    if fitted := [name for name in FITTED_BASELINES if name in names]:
        raise UsageError(f"{fitted[0]} is fitted to human scores, which only correlate has: must be another metric")
    variants = {name: title for name, title in EMBEDDING_BASELINES.items() if name in names}
    for option, value in (("encoder", encoder), ("layer", layer)):
        if value is not None and not variants:
            raise UsageError(f"--{option} is for the metrics {one_of(list(EMBEDDING_BASELINES))} only")
    files = [name for name in names if Path(name).is_file()]
    models = [name for name in names if base_name(name) not in BASELINES and name not in files]
    for name in models:
        _check_model(name)
    baselines = [metric for metric in metrics if not isinstance(metric, str)]
    for name, make in MAKERS.items():
        baselines += [make(name, metric.partition(":")[2]) for metric in names if base_name(metric) == name]
    if variants:
        baselines.append(_of_encoder(encoder or "mini", layer, variants))
    baselines += [_of_file(name) for name in files]
    for name, title in zip(models, titles(models), strict=True):
        baselines.append(_of_model(name, title, mqm.find_weights(weights), loading or {}))
    return baselines


def make_for_correlation(
    metrics: Sequence[str], *, encoder: str | None = None, layer: int | None = None, weights: mqm.AnyWeights = "matese"
) -> list[Baseline | FittedBaseline]:
    """Returns the metrics of `make_baselines` and sentinels that are fitted to human scores, which use the encoder too.

    Raises:
        UsageError, InputError, ModelError: as `make_baselines`.
    """
    fitted = [name for name in FITTED_BASELINES if name in metrics]
    unfitted = [name for name in metrics if name not in FITTED_BASELINES]
    is_for_unfitted = not fitted or any(name in EMBEDDING_BASELINES for name in unfitted)
    baselines = make_baselines(
        unfitted,
        encoder=encoder if is_for_unfitted else None,
        layer=layer if is_for_unfitted else None,
        weights=weights,
    )
    return [*baselines, *_sentinels(fitted, encoder or "mini", layer)]


def _sentinels(names: Sequence[FittedName], encoder: str, layer: int | None) -> list[FittedBaseline]:
    if not names:
        return []
    from matese.model.bertscore import BertScore
    from matese.model.storage import checkpoint

    states = BertScore(checkpoint.resolve(encoder), layer=layer)

    def scorer(name: FittedName) -> FittedBaseline:
        return FittedBaseline(
            FITTED_BASELINES[name],
            lambda systems, golds: [_score_by_fit(name, states, systems, golds)],
            lambda segment: lexical_metrics.has_text(segment, name),
        )

    return [scorer(name) for name in names]


def _score_by_fit(
    name: FittedName, states: BertScore, systems: SystemTexts, golds: Mapping[str, FloatArray]
) -> BaselineScores:
    segments = [segment for of_system in systems.values() for segment in of_system]
    vectors = states.mean_states([lexical_metrics.text_of(segment, name) for segment in segments])
    gold = np.concatenate([golds[system] for system in systems])
    scores = sentinels.cross_fit(vectors, gold, sentinels.folds(segments))
    ends = np.cumsum([len(of_system) for of_system in systems.values()])[:-1]
    by_system = dict(zip(systems, np.split(scores, ends), strict=True))
    return BaselineScores.of_means(name, f"{name}|{states.states}|folds:{sentinels.N_FOLDS}", by_system)


def is_model(name: str) -> bool:
    """Whether the name of a metric may be that of a model; the hub is not asked."""
    from matese.model.storage import checkpoint

    if base_name(name) in BASELINES or Path(name).is_file():
        return False
    return name in checkpoint.embedded() or "/" in name or (name != "" and Path(name).exists())


def _check_model(name: str) -> None:
    """Raises a UsageError if a name cannot be that of a model: it is probably a misspelt metric."""
    from matese.model.storage import checkpoint

    if not is_model(name):
        allowed = f"{', '.join(BASELINES)}, or a model: an embedded one, a directory or a hub id; or a file of scores"
        raise UsageError(unknown("metric", name, [*BASELINES, *checkpoint.embedded()], allowed=allowed))


def titles(models: Sequence[str]) -> list[str]:
    """Returns short names of models; the names as given where two would be the same, or that of another metric.

    >>> titles(["mini", "Unbabel/XCOMET-XL", "runs/small/model"]), titles(["a/x", "b/x", "runs/BLEU", "BLEU"])
    (['mini', 'XCOMET-XL', 'small'], ['a/x', 'b/x', 'runs/BLEU', './BLEU'])
    """
    taken = {*SACREBLEU_BASELINES.values(), *EDIT_BASELINES.values(), *EMBEDDING_BASELINES.values()}
    # `matese train` writes RUN/model.
    paths = [Path(name) for name in models]
    short = [path.parent.name if path.name == "model" and path.parent.name else path.name for path in paths]
    counts = Counter(short)
    names = [
        title if title and counts[title] == 1 and title not in taken else name
        for title, name in zip(short, models, strict=True)
    ]
    return [f"./{name}" if name in taken else name for name in names]


def _of_encoder(encoder: str, layer: int | None, variants: Mapping[BertscoreVariant, str]) -> Baseline:
    from matese.model.bertscore import BertScore
    from matese.model.storage import checkpoint

    (name,) = titles([encoder])
    named: dict[BertscoreVariant, str] = {variant: f"{title} ({name})" for variant, title in variants.items()}
    title = ", ".join(named.values())
    scorer = BertScore(checkpoint.resolve(encoder), layer=layer)
    has_reference = lexical_metrics.has_reference
    return Baseline(title, lambda systems: _score_by_encoder(scorer, named, title, systems), has_reference)


def _score_by_encoder(
    scorer: BertScore, variants: Mapping[BertscoreVariant, str], title: str, systems: SystemTexts
) -> list[BaselineScores]:
    """Returns the scores of each variant; the frequencies of tokens are those of the references of a language pair."""
    readable = lexical_metrics.with_references(title, systems)
    scores = {name: {system: np.zeros(len(segments)) for system, segments in systems.items()} for name in variants}
    places: dict[str | None, dict[str, list[int]]] = {}
    for system, segments in readable.items():
        for place, segment in enumerate(segments):
            of_pair = places.setdefault(segment.key.lang_pair if segment.key else None, {})
            of_pair.setdefault(system, []).append(place)
    for of_pair in places.values():
        texts = {system: [readable[system][place] for place in indices] for system, indices in of_pair.items()}
        for name, of_system in scorer.score(texts, list(variants)).items():
            for system, values in of_system.items():
                scores[name][system][of_pair[system]] = values
    return [
        BaselineScores.of_means(variants[name], scorer.signature(name), of_system) for name, of_system in scores.items()
    ]


def _of_file(path: str) -> Baseline:
    """Returns the metric whose scores of segments are in a file, such as SYSTEM SCORE for each segment in order."""
    from matese.formats.corpora import score_files

    scores = score_files.of_segments(path)

    def score(systems: SystemTexts) -> list[BaselineScores]:
        values = {
            system: np.array([scores.score_of(system, place, segment) for place, segment in enumerate(segments)])
            for system, segments in systems.items()
        }
        return [BaselineScores.of_means(scores.name, f"file:{Path(path).name}", values)]

    return Baseline(scores.name, score)


def _of_model(name: str, title: str, weights: mqm.Weights, loading: Mapping[str, object]) -> Baseline:
    from matese.model.annotator import load

    annotator = load(name, **{**loading, "weights": weights})  # type: ignore[arg-type]
    can_read = annotator.can_read if not preferences.compares(annotator) else lambda segment: segment.source is not None
    return Baseline(title, lambda systems: _score_by_model(annotator, title, weights, systems), can_read)


def _rated(annotator: Annotator, systems: SystemTexts) -> dict[str, list[Rating]]:
    """Returns the ratings of each system; a model that compares gets the other systems where references are missing."""
    has_references = all(segment.references for segments in systems.values() for segment in segments)
    if has_references or not preferences.compares(annotator):
        return {system: list(annotator.annotate_segments(segments)) for system, segments in systems.items()}
    of_segments = preferences.rate(annotator, list(zip(*systems.values(), strict=True)))
    return {system: list(of_system) for system, of_system in zip(systems, zip(*of_segments, strict=True), strict=True)}


def _score_by_model(
    annotator: Annotator, title: str, weights: mqm.Weights, systems: SystemTexts
) -> list[BaselineScores]:
    ratings = _rated(annotator, systems)
    every = [rating for of_system in ratings.values() for rating in of_system]
    signature = " ".join(dict.fromkeys(rating.rater or "" for rating in every))
    results = []
    if all(rating.errors is not None for rating in every):
        spans = {
            system: np.array([mqm.score(rating, weights) for rating in of_system])
            for system, of_system in ratings.items()
        }
        results.append(BaselineScores.of_means(title, signature, spans))
    if all(rating.estimate is not None for rating in every):
        expected = {
            system: np.array([rating.estimate.value for rating in of_system if rating.estimate is not None])
            for system, of_system in ratings.items()
        }
        name = f"{title}.expected" if results else title
        results.append(BaselineScores.of_means(name, signature, expected))
    return results
