"""After training: what the score head, the tags and chrF are worth in the expected score, from dev data."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

import matese
from matese.annotation import Rating, TokenScores
from matese.encoder.encoding import Inputs
from matese.tagger import decoding, questions
from matese.tagger.blending import Blend, chrf
from matese.training.labels import score_of

_LARGEST_GAP = 5.0
"""Points of MQM by which a pair of translations counts at most: one Major error."""
_DECAY = 1e-3
_SOURCES_FOR_EQUAL = 100
"""As many sources as speak for equal weights of equally spread parts before any is looked at. Over halves of the dev
sources such weights order the translations of the other half better than those of the least loss do."""
_FEWEST_PAIRS = 50
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """What is known of some hypotheses.

    Attributes:
        parts: (segments, 3): score head, expected penalty of the tags, and chrF, which is 0 where no reference is read.
        human: (segments,), MQM scores.
        items: of each segment, what those that are translations of one source have in common.
    """

    parts: Array
    human: Array
    items: Sequence[object]


def fit_all(annotator: matese.Annotator, ratings: Sequence[Rating]) -> tuple[Blend, ...]:
    """Returns a blend for each input of a model with a score head of which there is enough to compare.

    Args:
        annotator: of the model without blends.
        ratings: that were not learned from, several of a source.
    """
    found = []
    for inputs in annotator.config.inputs:
        evidence = collect(annotator, ratings, inputs)
        if len(_pairs(evidence)[0]) >= _FEWEST_PAIRS:
            found.append(fit(evidence, inputs))
    return tuple(found)


def collect(annotator: matese.Annotator, ratings: Sequence[Rating], inputs: Inputs) -> Evidence:
    """Annotates the hypotheses whose texts allow these inputs, with the first reference where one is read.

    Blank ones and copies of the reference are left out: their score is a rule.
    """
    chosen = [
        rating
        for rating in ratings
        if rating.segment.hypothesis.strip()
        and (inputs == "reference" or rating.segment.source is not None)
        and (inputs == "source" or rating.segment.references)
        and not questions.is_copy(questions.reduced(rating.segment, inputs), inputs)
    ]
    segments = [questions.reduced(rating.segment, inputs) for rating in chosen]
    parts = [_parts(*prediction) for prediction in annotator.annotate_tokens(segments)]
    items = [_item(rating) for rating in chosen]
    human = np.array([score_of(rating) for rating in chosen])
    return Evidence(np.array(parts, dtype=np.float64).reshape(-1, 3), human, items)


def fit(evidence: Evidence, inputs: Inputs) -> Blend:
    """Returns the blend that best tells which of two translations of a source is better.

    The weights, none below 0, are of the least logistic loss over pairs of translations of one source, those that
    differ more counting more; their common scale and the offset are of the least squared error over all.

    Raises:
        ValueError: if there are no two translations of a source of different scores.
    """
    gaps, weights = (torch.from_numpy(array) for array in _pairs(evidence))
    if not len(gaps):
        raise ValueError("no two translations of a source with different scores: must be some to fit a blend")
    scale = torch.from_numpy(np.maximum(evidence.parts.std(0), 1e-6))
    likeness = _SOURCES_FOR_EQUAL / len(set(evidence.items))
    is_used = torch.tensor([True, True, inputs != "source"])
    raw = torch.zeros(3, dtype=torch.float64, requires_grad=True)

    def ranking() -> Tensor:
        worth = functional.softplus(raw)
        wrong = (weights * functional.softplus(-(gaps / scale) @ worth)).sum() / weights.sum()
        apart = (worth - worth[is_used].mean())[is_used].square().sum()
        return wrong + _DECAY * worth.square().sum() + likeness * apart

    _minimise([raw], ranking)
    worth = functional.softplus(raw).detach() / scale
    combined = torch.from_numpy(evidence.parts) @ worth
    human = torch.from_numpy(evidence.human)
    affine = torch.tensor([0.0, 0.0], dtype=torch.float64, requires_grad=True)
    standard = (combined - combined.mean()) / combined.std().clamp(min=1e-6)

    def error() -> Tensor:
        return (-functional.softplus(-(functional.softplus(affine[0]) * standard + affine[1])) - human).square().mean()

    _minimise([affine], error)
    factor = functional.softplus(affine[0]).detach() / combined.std().clamp(min=1e-6)
    head, tags, of_chrf = (round(value, 6) for value in (factor * worth).tolist())
    offset = round(float(affine[1].detach() - factor * combined.mean()), 6)
    return Blend(inputs, head, tags, of_chrf if inputs != "source" else 0.0, offset)


def _parts(rating: Rating, tokens: TokenScores) -> tuple[float, float, float]:
    """Returns the three parts of what a model says."""
    assert rating.overall is not None
    probabilities = np.maximum(np.array(tokens.probabilities), 1e-9)
    references = rating.segment.references
    likeness = chrf(rating.segment.hypothesis, references[0]) if references else 0.0
    return rating.overall.value, decoding.expected_score(np.log(probabilities)), likeness


def _item(rating: Rating) -> tuple[object, ...]:
    segment = rating.segment
    text = segment.references if segment.source is None else segment.source
    return (text,) if segment.key is None else (segment.key.test_set, segment.key.lang_pair, text)


def _pairs(evidence: Evidence) -> tuple[Array, Array]:
    """Returns the parts of the better translation minus those of the worse one (pairs, 3), and each pair's weight."""
    groups: dict[object, list[int]] = defaultdict(list)
    for number, item in enumerate(evidence.items):
        groups[item].append(number)
    gaps, weights = [np.zeros((0, 3))], [np.zeros(0)]
    for numbers in groups.values():
        one, other = (np.array(numbers)[chosen] for chosen in np.triu_indices(len(numbers), 1))
        human = evidence.human[one] - evidence.human[other]
        gaps.append(((evidence.parts[one] - evidence.parts[other]) * np.sign(human)[:, None])[human != 0])
        # Each source counts by its number of translations, not of pairs.
        weights.append(np.minimum(np.abs(human), _LARGEST_GAP)[human != 0] / max(1, len(numbers) - 1))
    return np.concatenate(gaps), np.concatenate(weights)


def _minimise(parameters: list[Tensor], loss: Callable[[], Tensor]) -> None:
    """Runs L-BFGS on a function of the parameters."""
    optimizer = torch.optim.LBFGS(parameters, max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> float:
        optimizer.zero_grad()
        value = loss()
        torch.autograd.backward(value)
        return value.item()

    optimizer.step(closure)  # type: ignore[no-untyped-call]
