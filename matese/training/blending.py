"""Fit the weights of the score head and the tags in the expected score, on dev data after training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from matese.annotation import Rating, Segment, TokenScores
from matese.encoder.encoding import InputKind
from matese.errors import InputError
from matese.inference import overrides
from matese.inference.model_input import ModelInput, with_inputs
from matese.tagger.prediction import Blend, score_of_tags
from matese.training.labels import score_of

_LARGEST_GAP = 5.0
"""Largest weight of a pair of translations, in MQM points: one Major error."""
_DECAY = 1e-3
_PRIOR_SOURCES = 100
"""Strength of the prior for equal weights of standardised parts; a few sources cannot outweigh it."""
_FEWEST_PAIRS = 50
"""Least number of comparable pairs of translations that a blend is fitted to."""
Array = npt.NDArray[np.float64]
Annotate = Callable[[Iterable[Segment]], Iterable[tuple[Rating, TokenScores]]]
"""Yields each segment's rating, with the expected score as its `estimate`, and tag probabilities, in order."""


@dataclass(frozen=True)
class Evidence:
    """Parts of the expected score, and human scores.

    Attributes:
        parts: (segments, 2), scores of the score head and of the tags.
        human: (segments,), MQM scores.
        items: (segments,), the same number for translations of the same source.
    """

    parts: Array
    human: Array
    items: Sequence[object]


def fit_all(annotate: Annotate, ratings: Sequence[Rating], model_inputs: Sequence[InputKind]) -> tuple[Blend, ...]:
    """Returns a blend for each kind of input that has at least 50 comparable pairs of translations.

    Args:
        annotate: runs the model, which has a score head and no blends.
        ratings: gold ratings that the model was not trained on, several for each source.
        model_inputs: the kinds of input that the model reads.
    """
    blends = []
    for inputs in model_inputs:
        evidence = collect(annotate, ratings, inputs)
        if len(_pairs(evidence)[0]) >= _FEWEST_PAIRS:
            blends.append(fit(evidence, inputs))
    return tuple(blends)


def collect(annotate: Annotate, ratings: Sequence[Rating], inputs: InputKind) -> Evidence:
    """Annotates the hypotheses whose texts allow these inputs; only the first reference is read.

    Blank hypotheses and copies of the reference are left out because rules determine their score.
    """
    chosen = usable(ratings, inputs)
    segments = [with_inputs(rating.segment, inputs) for rating in chosen]
    parts = [_parts(*prediction) for prediction in annotate(segments)]
    items = [_item(rating) for rating in chosen]
    human = np.array([score_of(rating) for rating in chosen])
    return Evidence(np.array(parts, dtype=np.float64).reshape(-1, 2), human, items)


def usable(ratings: Iterable[Rating], inputs: InputKind) -> list[Rating]:
    """Returns the ratings whose texts allow these inputs and whose score and marks are not determined by rules."""
    return [
        rating
        for rating in ratings
        if rating.segment.hypothesis.strip()
        and (inputs == "reference" or rating.segment.source is not None)
        and (inputs == "source" or rating.segment.references)
        and not overrides.is_copy(ModelInput.of(with_inputs(rating.segment, inputs), inputs))
    ]


def fit(evidence: Evidence, inputs: InputKind) -> Blend:
    """Returns the blend that ranks translations of one source best.

    The weights are non-negative and minimise the logistic loss over pairs of translations of one source, weighted by
    the difference of the human scores. Their common scale and the offset minimise the squared error of the score.

    Raises:
        InputError: if no two translations of the same source differ in score.
    """
    gaps, weights = (torch.from_numpy(array) for array in _pairs(evidence))
    if not len(gaps):
        raise InputError("no two translations of the same source differ in score; a blend needs such pairs")
    scale = torch.from_numpy(np.maximum(evidence.parts.std(0), 1e-6))
    prior = _PRIOR_SOURCES / len(set(evidence.items))
    raw = torch.zeros(2, dtype=torch.float64, requires_grad=True)

    def ranking() -> Tensor:
        part_weights = functional.softplus(raw)
        loss = (weights * functional.softplus(-(gaps / scale) @ part_weights)).sum() / weights.sum()
        inequality = (part_weights - part_weights.mean()).square().sum()
        return loss + _DECAY * part_weights.square().sum() + prior * inequality

    minimise([raw], ranking)
    fitted = functional.softplus(raw).detach() / scale
    combined = torch.from_numpy(evidence.parts) @ fitted
    human = torch.from_numpy(evidence.human)
    affine = torch.tensor([0.0, 0.0], dtype=torch.float64, requires_grad=True)
    standard = (combined - combined.mean()) / combined.std().clamp(min=1e-6)

    def error() -> Tensor:
        return (-functional.softplus(-(functional.softplus(affine[0]) * standard + affine[1])) - human).square().mean()

    minimise([affine], error)
    factor = functional.softplus(affine[0]).detach() / combined.std().clamp(min=1e-6)
    head, tags = (round(value, 6) for value in (factor * fitted).tolist())
    offset = round(float(affine[1].detach() - factor * combined.mean()), 6)
    return Blend(inputs, head, tags, offset)


def _parts(rating: Rating, tokens: TokenScores) -> tuple[float, float]:
    """Returns the two parts of the expected score."""
    assert rating.estimate is not None
    probabilities = np.maximum(np.array(tokens.probabilities), 1e-9)
    return rating.estimate.value, score_of_tags(np.log(probabilities))


def _item(rating: Rating) -> tuple[object, ...]:
    segment = rating.segment
    text = segment.references if segment.source is None else segment.source
    return (text,) if segment.key is None else (segment.key.test_set, segment.key.lang_pair, text)


def _pairs(evidence: Evidence) -> tuple[Array, Array]:
    """Returns the better minus the worse translation's parts, (pairs, 2), and the weights of the pairs, (pairs,)."""
    groups: dict[object, list[int]] = defaultdict(list)
    for number, item in enumerate(evidence.items):
        groups[item].append(number)
    gaps, weights = [np.zeros((0, 2))], [np.zeros(0)]
    for numbers in groups.values():
        first, second = (np.array(numbers)[chosen] for chosen in np.triu_indices(len(numbers), 1))
        human = evidence.human[first] - evidence.human[second]
        gaps.append(((evidence.parts[first] - evidence.parts[second]) * np.sign(human)[:, None])[human != 0])
        # A source's weight is its number of translations, not its number of pairs.
        weights.append(np.minimum(np.abs(human), _LARGEST_GAP)[human != 0] / max(1, len(numbers) - 1))
    return np.concatenate(gaps), np.concatenate(weights)


def minimise(parameters: list[Tensor], loss: Callable[[], Tensor]) -> None:
    """Minimises a function of the parameters in place, by L-BFGS."""
    optimizer = torch.optim.LBFGS(parameters, max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> float:
        optimizer.zero_grad()
        value = loss()
        torch.autograd.backward(value)
        return value.item()

    optimizer.step(closure)  # type: ignore[no-untyped-call]
