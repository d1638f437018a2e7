"""What annotates: a model, a language model, or checks; beside each other, and resumed.

All have one protocol, `Marker`. `beside_checks` and `resumed` return such an annotator around another one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matese import mqm
from matese.annotation import Rating, TokenScores
from matese.tasks import notices
from matese.tasks.request import Checked, option
from matese.tasks.texts import require
from matese.tasks.values import POSITIVE, PROBABILITY, Device, OneOf, Penalties, Several, Text, Whole

if TYPE_CHECKING:
    from matese.model.annotator import Annotator

Rated = Iterator[tuple[Rating, TokenScores | None]]
PRECISIONS = ("auto", "bf16", "float32")
_PREFIX = "openai:"


@dataclass(frozen=True, kw_only=True)
class Model(Checked):
    """A model that marks errors, with the options of `matese.load`.

    Attributes:
        model: name of an embedded model, a model directory, or a hub id (ORG/NAME) (default: mini).
        device: auto, cpu, cuda, cuda:N or mps (default: auto).
        weights: penalties of errors: matese, google, unbabel or no-omissions, or a YAML file (default: matese).
        batch_tokens: most padded tokens in a batch (default: chosen for the machine).
        min_confidence: mark every span with at least this confidence (between 0 and 1; default: the model's own
            minimum).
        precision: auto, bf16 or float32 (default: auto: float32 for small models, else bf16 if the hardware supports
            it).
        threads: CPU threads (default: the cores that the process may use).
        uncertainty: make several predictions, for intervals and votes: dropout:N (N passes with dropout; dropout:N:P
            switches off a share P of the units, default 0.1), models:DIR,DIR (several models instead of --model, median
            of the expected scores), span-models:DIR,DIR (median of the scores of their spans) or references (each
            reference alone).
        interval_scale: factor of the intervals of expected scores: uncertainty.scale of matese evaluate on dev data
            (default: 1).
        error_free: also decide which segments are free of errors; the model must be calibrated for that
            (docs/research/wmt.md).
    """

    model: str = option("mini", Text("MODEL"))
    device: str = option("auto", Device())
    weights: mqm.AnyWeights = option("matese", Penalties())
    batch_tokens: int | None = option(None, Whole(1))
    min_confidence: float | None = option(None, PROBABILITY)
    precision: str = option("auto", OneOf("precision", PRECISIONS))
    threads: int | None = option(None, Whole(1))
    uncertainty: str | None = option(None, Text("HOW"))
    interval_scale: float = option(1.0, POSITIVE)
    error_free: bool = False

    @property
    def penalties(self) -> mqm.Weights:
        """The weights that are named."""
        return mqm.find_weights(self.weights)


@dataclass(frozen=True, kw_only=True)
class Marking(Model):
    """What annotates: a model, a language model, or checks.

    Attributes:
        checks: run rule-based checks, with the model (also) or without it (only): empty, copied and repeated texts,
            wrong scripts, wrong languages (with the extra 'languages'), numbers, brackets, quotation marks and
            placeholders.
        annotator: openai:MODEL: ask a language model instead of --model; the key is in the environment,
            OPENAI_API_KEY.
        base_url: address of the endpoint, such as http://localhost:8080/v1 (default: that of OpenAI).
        set: prompt=mqm|esa, steps=2 (score of esa in a second request), judgements=N (mean score without outliers),
            max_tokens=N, requests_per_minute=N, concurrency=N, timeout=SECONDS, cache=DIR, or parameters.NAME=VALUE for
            a parameter of each request; repeatable.
        tokens: jsonl: add the probabilities of every token.
    """

    checks: str | None = option(None, OneOf("value", ("also", "only"), metavar="also|only"))
    annotator: str | None = option(None, Text())
    base_url: str | None = option(None, Text("URL"))
    set: Sequence[str] = option((), Several(Text("KEY=VALUE"), is_repeated=True))
    tokens: bool = False

    def check(self) -> None:
        """Raises a UsageError if the options do not fit together."""
        if self.annotator is None:
            for name in ("base_url", "set"):
                require(not getattr(self, name), f"--{name.replace('_', '-')} is for --annotator only")
            return
        is_named = self.annotator.startswith(_PREFIX) and self.annotator != _PREFIX
        require(is_named, f"--annotator {self.annotator}: must be openai:MODEL, the model as the endpoint names it")
        require(self.model == "mini", "--annotator and --model are both given; give one of them")
        require(self.checks != "only", "--annotator: leave out --checks only")
        for name in ("min_confidence", "batch_tokens", "threads", "tokens", "uncertainty"):
            is_given = getattr(self, name) not in (None, False)
            require(not is_given, f"--{name.replace('_', '-')} is for --model; leave out --annotator")

    @property
    def has_own_model(self) -> bool:
        """Whether the marks are those of a model of ours."""
        return self.checks != "only" and self.annotator is None


@contextlib.contextmanager
def loaded(options: Model, n_segments: int | None = None) -> Iterator[Annotator]:
    """Loads the model of a request; in the body, other libraries write nothing to standard error.

    Args:
        options: of the model.
        n_segments: number of segments to annotate; None if unknown.

    Raises:
        ModelError: if there is no such model or it cannot be loaded.
        UsageError: if the device is not available on this machine.
    """
    how = options.uncertainty
    names = [options.model]
    if how is not None:
        from matese.model import uncertainty

        names = list(uncertainty.parse(how, scale=options.interval_scale).models) or names
    tell_licences(names)
    with notices.quiet():
        with notices.undisturbed():  # torch is imported here, if the model needs it
            from matese.model.annotator import load

            annotator = load(
                options.model,
                device=options.device,
                precision=options.precision,
                batch_tokens=options.batch_tokens,
                threads=options.threads,
                min_confidence=options.min_confidence,
                weights=options.weights,
                uncertainty=options.uncertainty,
                interval_scale=options.interval_scale,
                error_free=options.error_free,
                n_segments=n_segments,
            )
        if options.min_confidence is not None:
            _tell_expectation(names[0], options.min_confidence)
        # Without dropout in training, its passes are not samples of the model's uncertainty.
        if how is not None and how.startswith("dropout") and annotator.config.layers.dropout == 0:
            advice = "its intervals need --interval-scale, see docs/explain.md"
            notices.info(f"the model was trained without dropout: {advice}")
        yield annotator


def _tell_expectation(model: str, min_confidence: float) -> None:
    """Tells precision and recall on the model's calibration data at a minimum confidence."""
    from matese.model.annotator import operating_points
    from matese.model.operating_point import nearest

    point = nearest(operating_points(model), min_confidence)
    if point is not None:
        measured = "" if point.min_confidence == min_confidence else f" (measured at {point.min_confidence:g})"
        notices.info(
            f"all spans from {min_confidence:g} on: on the calibration data{measured}, {100 * point.precision:.3g}% of "
            f"the marked spans overlap a span of a human rater, and {100 * point.recall:.3g}% of the raters' spans are "
            "found"
        )


def tell_licences(models: Iterable[str]) -> None:
    """Tells the licences of foreign models.

    Raises:
        ModelError: if a model does not exist; torch, which takes seconds to load, is not needed for that.
    """
    from matese.model.storage import checkpoint, model_card

    for name in models:
        directory = checkpoint.resolve(name)
        if not checkpoint.is_tagger(directory) and (licence := model_card.licence(directory)) is not None:
            notices.info(f"licence of {name}: {licence}")


@contextlib.contextmanager
def scoring(metrics: Sequence[str]) -> Iterator[None]:
    """Keeps other libraries quiet while metrics are computed in the body; tells the licences of their models.

    Raises:
        ModelError: if a model does not exist.
    """
    from matese import baselines
    from matese.evaluation.metrics.correlation_options import BASELINES, SACREBLEU_BASELINES, base_name

    names = {base_name(name) for name in metrics}
    tell_licences(name for name in metrics if base_name(name) not in BASELINES and baselines.is_model(name))
    with notices.quiet():
        if not names <= SACREBLEU_BASELINES.keys():
            with notices.undisturbed():
                import torch  # noqa: F401
        yield
