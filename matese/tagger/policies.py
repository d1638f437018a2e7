"""Rules that override the model.

All are on unless the user switches them off; the signature names those that are on.

copy: a hypothesis that equals a reference the model reads has no errors, and the highest expected score.
script: a source in a script that is not in the model's vocabulary is not read beside a reference.
blank: a hypothesis without text is not read. It is a non-translation with the lowest expected score, unless there is
    nothing to translate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from matese import mqm
from matese.annotation import UnplacedError
from matese.encoder.encoding import Inputs, Tokens
from matese.errors import UsageError, near_miss, one_of
from matese.mqm import LOWEST_SCORE
from matese.tagger.prediction import Prediction
from matese.tagger.request import Request, contexts
from matese.tagger.tags import TAGS

Policy = Literal["copy", "script", "blank"]
POLICIES: tuple[Policy, ...] = get_args(Policy)

_NO_ERROR = np.log(np.array([1 - 4e-6 if tag == "O" else 1e-6 for tag in TAGS]))
"""Of a token without error: (tags,). No probability is 0, so that all logarithms are finite."""


def check(names: Iterable[str]) -> tuple[Policy, ...]:
    """Returns the policies with these names, in the order of `POLICIES`.

    Raises:
        UsageError: for an unknown name.
    """
    chosen = set(names)
    for name in sorted(chosen - set(POLICIES)):
        raise UsageError(f"unknown policy {name!r}{near_miss(name, POLICIES)} must be {one_of(POLICIES)}")
    return tuple(name for name in POLICIES if name in chosen)


def is_copy(request: Request) -> bool:
    """Returns whether the hypothesis equals a reference that is read, apart from white space around it."""
    references = [text.strip() for reading in request.readings for text in reading.references]
    return request.segment.hypothesis.strip() in references


def without_error(prediction: Prediction) -> Prediction:
    """Returns the prediction for a copy: no errors and the highest score."""
    rows = np.broadcast_to(_NO_ERROR, prediction.log_probabilities.shape)
    return replace(prediction, log_probabilities=rows, score=0.0, missing=None)


def without_unknown_source(usable: Sequence[Inputs], *, is_source_known: bool) -> Sequence[Inputs]:
    """Returns the kinds of input to choose from: not the source with a reference if its script is unknown.

    To the model such a source is noise. It is still read if there is no reference, or if the model needs it.
    """
    if not is_source_known and "reference" in usable:
        return [inputs for inputs in usable if inputs != "source+reference"]
    return usable


def is_blank(hypothesis: str, tokens: Tokens) -> bool:
    """Returns whether there is nothing to read: only white space, or only characters that the tokenizer drops."""
    return not hypothesis.strip() or len(tokens.ids) == 0


def for_blank(request: Request) -> Prediction:
    """Returns the prediction for a blank hypothesis: the lowest score, unless there was nothing to translate."""
    has_context = any(text.strip() for reading in request.readings for text in contexts(reading))
    score = LOWEST_SCORE if has_context else 0.0
    return Prediction(request.segment.hypothesis, np.zeros((0, 2), np.int32), np.zeros((0, len(TAGS))), score)


def errors_of_blank(prediction: Prediction) -> tuple[UnplacedError, ...]:
    """Returns the error of a blank hypothesis; none for another one, or if there was nothing to translate."""
    is_non_translation = len(prediction.ranges) == 0 and prediction.score == LOWEST_SCORE
    return (mqm.NON_TRANSLATION,) if is_non_translation else ()
