"""Several predictions for a segment: where they come from, what they say together, and how sure that is."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import matese
from matese.annotation import ErrorSpan, Estimate, Rating, Segment, SegmentKey, Severity, Votes
from matese.errors import ModelError, UsageError
from matese.formats.tables import jsonl
from matese.model import uncertainty
from tests.conftest import TinyModelFactory

COMET = Path(__file__).parent / "released" / "comet"
SEGMENTS = [
    Segment("Das ist gut.", "this", ("Das ist schlecht.",)),
    Segment("the hund ist good and the cat", "that", ("der Hund ist gut",)),
    Segment("Das ist gut.", "this", ("Das ist schlecht.",)),
    Segment("", "x", ("y",)),
]


def load(model: str | Path = "mini", **options: Any) -> matese.Annotator:
    return matese.load(model, device="cpu", precision="float32", **options)


def estimates(annotator: matese.Annotator, segments: list[Segment] = SEGMENTS) -> list[Estimate]:
    return [rating.estimate for rating in annotator.annotate_segments(segments) if rating.estimate is not None]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "uncertainty ''"),
        ("dropout", "must be dropout:N"),
        ("dropout:", "must be dropout:N"),
        ("dropout:0", "dropout:0"),
        ("dropout:1", "dropout:1"),
        ("dropout:-3", "must be dropout:N"),
        ("dropout:3:0", "0 must be a share greater than 0"),
        ("dropout:3:1", "1 must be a share"),
        ("dropout:3:1e", "must be dropout:N"),
        ("models:", "must name 2 models or more"),
        ("models:a", "must name 2 models or more"),
        ("models:a,,b", "must name 2 models or more"),
        ("models:a,b,a", "a is named twice"),
        ("references:2", "must be dropout:N"),
    ],
)
def test_what_asks_for_nothing_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        uncertainty.parse(text)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("inf"), float("nan")])
def test_a_scale_is_positive_and_finite(scale: float) -> None:
    with pytest.raises(UsageError, match="interval scale"):
        uncertainty.parse("references", scale=scale)


def test_two_directories_of_the_same_model_are_refused(tiny_model_factory: TinyModelFactory) -> None:
    first, second = (tiny_model_factory(name) for name in ("one", "other"))
    with pytest.raises(UsageError, match=r"one and .*other are the same; an ensemble needs different models"):
        load(uncertainty=f"models:{first},{second}")


@pytest.mark.parametrize("kind", ["xlm-roberta", "mbart"])
def test_dropout_makes_an_interval_that_does_not_depend_on_batches(
    kind: str, tiny_model_factory: TinyModelFactory
) -> None:
    model = tiny_model_factory("dropped", kind=kind, score={}, inputs=["reference"])
    together = estimates(load(model, uncertainty="dropout:4"))
    alone = [estimates(load(model, uncertainty="dropout:4", batch_tokens=1), [segment])[0] for segment in SEGMENTS]
    np.testing.assert_allclose(
        [estimate.value for estimate in together], [estimate.value for estimate in alone], atol=2e-4
    )
    assert [estimate.low for estimate in together] == pytest.approx([estimate.low for estimate in alone], abs=1e-3)
    assert together[0] == together[2]
    assert together[0].low < together[0].value < together[0].high  # type: ignore[operator]
    assert together[3] == Estimate(-25.0, "mqm", -25.0, -25.0, 0.0), "a blank hypothesis is not read"


def test_more_dropout_spreads_more_and_none_is_left_over(tiny_model_factory: TinyModelFactory) -> None:
    model = tiny_model_factory("spread", score={})
    plain = estimates(load(model))
    little, much = (estimates(load(model, uncertainty=f"dropout:8:{p}"))[0] for p in (0.001, 0.4))
    assert little.value == pytest.approx(plain[0].value, abs=0.05)
    assert (little.deviation or 0) < (much.deviation or 0)
    annotator = load(model, uncertainty="dropout:3")
    first = estimates(annotator)
    assert estimates(annotator) == first
    assert estimates(matese.Annotator(annotator.predictor._predictors[0], annotator.decoding, name="")) == plain  # type: ignore[attr-defined]


def test_the_signature_states_passes_share_and_scale() -> None:
    annotator = load(uncertainty="dropout:3:0.2", interval_scale=2.5)
    assert "|uncertainty:dropout3p0.2*2.5|" in annotator.signature("reference")
    assert "uncertainty" not in load().signature("reference")


def test_a_scale_widens_the_interval() -> None:
    segment = [Segment("Er kommt nicht heute.", None, ("Er kommt morgen.",))]
    (plain,) = estimates(load(uncertainty="dropout:3"), segment)
    (scaled,) = estimates(load(uncertainty="dropout:3", interval_scale=2.0), segment)
    assert scaled.value == plain.value
    assert scaled.deviation == pytest.approx(2 * (plain.deviation or 0), abs=2e-6)


def test_models_have_the_median_score_and_mean_probabilities(tiny_model_factory: TinyModelFactory) -> None:
    models = [tiny_model_factory(f"model{number}", score={}, extra=number) for number in range(3)]
    annotators = [load(model) for model in models]
    ensemble = load(uncertainty=f"models:{','.join(map(str, models))}")
    together = list(ensemble.annotate_tokens(SEGMENTS[:2]))
    alone = [list(annotator.annotate_tokens(SEGMENTS[:2])) for annotator in annotators]
    for number, (rating, tokens) in enumerate(together):
        scores = [of_model[number][0].estimate.value for of_model in alone]  # type: ignore[union-attr]
        assert rating.estimate is not None
        assert rating.estimate.value == pytest.approx(statistics.median(scores), abs=1e-4)
        assert rating.estimate.deviation == pytest.approx(statistics.stdev(scores), abs=2e-4)
        mean = np.mean([of_model[number][1].probabilities for of_model in alone], axis=0)
        np.testing.assert_allclose(tokens.probabilities, mean, atol=2e-6)
        assert rating.errors
        assert rating.estimate.deviation
        assert all(error.votes is not None for error in rating.errors)
    assert ensemble.name == "+".join(annotator.name for annotator in annotators)
    assert "|uncertainty:models3-median|" in (together[0][0].rater or "")
    by_spans = load(uncertainty=f"span-models:{','.join(map(str, models))}")
    for number, rating in enumerate(by_spans.annotate_segments(SEGMENTS[:2])):
        scores = [matese.score(of_model[number][0]) for of_model in alone]
        assert rating.estimate is not None
        assert rating.estimate.value == pytest.approx(statistics.median(scores), abs=1e-4)
        assert [error.severity for error in rating.errors or ()] == [
            error.severity for error in together[number][0].errors or ()
        ]
        assert "|uncertainty:models3-median-of-spans|" in (rating.rater or "")


def test_models_that_do_not_fit_together_are_refused(tiny_model_factory: TinyModelFactory) -> None:
    tiny = tiny_model_factory("tiny")
    with pytest.raises(ModelError, match="differ in kind"):
        load(uncertainty=f"models:{tiny},{COMET / 'estimator'}")
    with pytest.raises(ModelError, match="differ in inputs"):
        load(uncertainty=f"models:{tiny},{tiny_model_factory('source', inputs=['source'])}")
    with pytest.raises(ModelError, match="differ in vocabulary"):
        load(uncertainty=f"models:mini,{tiny_model_factory('all', inputs=['reference', 'source'])}")
    with pytest.raises(UsageError, match="leave out the model, or name one of the ensemble"):
        load(tiny, uncertainty=f"models:mini,{tiny}")
    estimator = load(COMET / "estimator")
    twice = uncertainty.Ensemble(
        uncertainty.parse("span-models:a,b"), [estimator.predictor] * 2, [estimator.decoding] * 2
    )
    with pytest.raises(ModelError, match="span-models needs models that mark errors"):
        estimates(matese.Annotator(twice, estimator.decoding, name="twice"))


def test_dropout_needs_the_weights_in_torch() -> None:
    small = matese.load("mini", n_segments=1)  # computed by numpy
    with pytest.raises(ModelError, match="dropout needs the weights in torch"):
        uncertainty.Ensemble(uncertainty.parse("dropout:2"), [small.predictor], [small.decoding])


def test_each_reference_is_a_prediction_and_their_mean_stays() -> None:
    references = ("Er kommt heute nicht.", "Er wird morgen kommen.")
    segment = Segment("Er kommt heute nicht, sagt er.", None, references)
    (rating,) = load(uncertainty="references").annotate_segments([segment])
    (plain,) = load().annotate_segments([segment])
    alone = [estimates(load(), [Segment(segment.hypothesis, None, (reference,))])[0].value for reference in references]
    assert rating.estimate is not None
    assert plain.estimate is not None
    assert rating.estimate.value == plain.estimate.value
    assert rating.estimate.deviation == pytest.approx(statistics.stdev(alone), abs=2e-4)
    assert [(error.start, error.end) for error in rating.errors or ()] == [
        (error.start, error.end) for error in plain.errors or ()
    ]


@pytest.mark.parametrize("segment", [Segment("a", "b", ("c",)), Segment("a", "b")])
def test_one_reference_has_no_spread(segment: Segment) -> None:
    with pytest.raises(UsageError, match="needs 2 references or more for each segment"):
        list(load(uncertainty="references").annotate_segments([segment]))


@pytest.mark.parametrize("name", ["estimator", "xcomet"])
def test_models_of_comet_have_an_interval(name: str) -> None:
    ratings = list(load(COMET / name, uncertainty="dropout:5").annotate_segments(SEGMENTS[:3]))
    assert ratings[0].estimate == ratings[2].estimate
    assert ratings[0].estimate is not None
    assert ratings[0].estimate.low < ratings[0].estimate.value < ratings[0].estimate.high  # type: ignore[operator]
    assert (ratings[0].errors is None) == (name == "estimator")
    assert all(error.votes for rating in ratings for error in rating.errors or ())


def test_votes_count_the_predictions_that_mark_some_of_an_error() -> None:
    error = ErrorSpan(2, 6, Severity.MAJOR)
    marked = [
        [ErrorSpan(0, 3, Severity.MINOR), ErrorSpan(3, 6, Severity.MAJOR)],
        [ErrorSpan(5, 9, Severity.MINOR)],
        [ErrorSpan(6, 9, Severity.MAJOR)],
        [],
    ]
    assert uncertainty._votes(error, marked) == Votes(0.5, 0.5)
    assert uncertainty._votes(error, [[], []]) == Votes(0.0, 0.0)


def test_an_interval_ends_where_the_scale_does() -> None:
    assert uncertainty.with_interval(Estimate(-24.0, "mqm"), 2.0) == Estimate(-24.0, "mqm", -25.0, -20.0801, 2.0)
    assert uncertainty.with_interval(Estimate(0.9, "comet"), 1.0).high == pytest.approx(2.86)


@pytest.mark.parametrize("scale", [0.5, 8.0, 60.0])
def test_a_scale_does_the_same_in_tagging_and_in_evaluation(scale: float, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    gold = [
        Rating(Segment("Das Haus", key=SegmentKey(index=index)), "r", (ErrorSpan(0, 3, Severity.MINOR),) * (index % 7))
        for index in range(60)
    ]
    values = rng.uniform(-25, 0, 60)
    deviations = rng.uniform(0.1, 1.5, 60)

    def written(factor: float) -> str:
        """As `matese tag --interval-scale FACTOR` writes the file."""
        path = tmp_path / f"{factor}.jsonl"
        estimates = [
            uncertainty.with_interval(Estimate(round(value, 4), "mqm"), factor * deviation)
            for value, deviation in zip(values.tolist(), deviations.tolist(), strict=True)
        ]
        lines = [
            jsonl.dumps(Rating(rating.segment, "m", (), estimate=estimate))
            for rating, estimate in zip(gold, estimates, strict=True)
        ]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return str(path)

    in_tagging = matese.evaluate(gold, written(scale)).figures
    in_evaluation = matese.evaluate(gold, written(1.0), figures=matese.SpanFigures(interval_scale=scale)).figures
    for name in ("pps", "ups", "nll", "ece", "sharpness", "scale"):
        tagged, evaluated = (figures[f"uncertainty.{name}"].value for figures in (in_tagging, in_evaluation))
        assert tagged == pytest.approx(evaluated, rel=1e-4), name


def test_votes_and_intervals_are_shown() -> None:
    from matese.render import terminal

    error = ErrorSpan(0, 3, Severity.MAJOR, confidence=0.7, votes=Votes(0.8, 0.25))
    rating = Rating(Segment("Das Haus"), None, (error,), estimate=Estimate(-2.0, "mqm", -3.0, -1.0))
    shown = terminal.draw(rating, width=100).plain
    assert "expected score -2.00 [-3.00, -1.00]" in shown
    assert "Major (80 % of the predictions, 25 % of these with another severity)" in shown
