"""What omissions learn: whether the hypothesis lacks each token of the other texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from matese.annotation import Omission, Rating, UnplacedError
from matese.model.heads import losses
from matese.model.heads.learning import IGNORED, ExampleWindow, HeadTargets, LabelColumns, LossInputs, Ragged, within
from matese.model.heads.omissions.network import OmissionLogits
from matese.model.texts.encoding import Encoding, Tokens

_SOURCE = -1
"""Stands for the source in place of the number of a reference."""


class OmissionTargets(HeadTargets):
    """Learns "omissions": (batch, tokens), int64, 1 for tokens of the last context that the hypothesis lacks.

    0 for its other tokens, IGNORED elsewhere and where unknown.
    """

    name = "omissions"
    output = OmissionLogits

    def columns(self, ratings: Sequence[Rating], tokens: Mapping[str, Tokens], skipped: Counter[str]) -> LabelColumns:
        """Returns the labels of each known text of a segment, and which text it is: (texts, 2), segment and number."""
        labelled = list(_labelled_texts(ratings, tokens))
        return {
            "omissions": Ragged.of((labels for _, labels in labelled), np.zeros(0, np.int8)),
            "omission_places": np.array([place for place, _ in labelled], dtype=np.int64).reshape(-1, 2),
        }

    def missing(self, columns: LabelColumns) -> str | None:
        """Returns what is missing if no text has an omission."""
        return None if columns["omissions"].values.any() else "no rating has an omission"

    def example(self, columns: LabelColumns, place: ExampleWindow) -> Mapping[str, Any]:
        """Returns the labels of the last context of a whole segment; None where unknown."""
        context = place.encoding.context
        if context is None or not place.is_whole:
            return {"omissions": None}
        labels = labels_of(columns, place.segment, place.reference)
        # A context that is much longer than the hypothesis is cut.
        cut = None if labels is None else labels[context.start : context.start + len(context.ranges)].astype(np.int32)
        return {"omissions": cut}

    def collate(self, examples: Sequence[Mapping[str, Any]], encodings: Sequence[Encoding]) -> Mapping[str, Tensor]:
        """Returns the labels at the places of the last contexts."""
        targets = torch.full((len(encodings), max(len(encoding.ids) for encoding in encodings)), IGNORED)
        for row, (example, encoding) in enumerate(zip(examples, encodings, strict=True)):
            labels = example["omissions"]
            if labels is not None and encoding.context is not None:
                first = encoding.context.first
                targets[row, first : first + len(labels)] = torch.from_numpy(labels)
        return {"omissions": targets}

    def weights(self, training: Any) -> Mapping[str, float]:  # noqa: ANN401
        """Returns 1."""
        return {"omission": 1.0}

    def losses(self, output: OmissionLogits, targets: Mapping[str, Tensor], batch: LossInputs) -> Mapping[str, Tensor]:
        """Returns the binary cross-entropy."""
        return {"omission": losses.binary(output.logits, targets["omissions"])}


def labels_of(columns: LabelColumns, segment: int, reference: int | None) -> npt.NDArray[np.signedinteger] | None:
    """Returns whether the hypothesis lacks each token of a text; None where unknown."""
    places = columns["omission_places"]  # in order of the segments
    number = _SOURCE if reference is None else reference
    first, last = np.searchsorted(places[:, 0], [segment, segment + 1])
    rows = [row for row in range(first, last) if places[row, 1] == number]
    labels: Ragged = columns["omissions"]
    return labels[rows[0]] if rows else None


def _labelled_texts(
    ratings: Sequence[Rating], tokens: Mapping[str, Tokens]
) -> Iterator[tuple[tuple[int, int], npt.NDArray[np.int8]]]:
    """Yields each text of each segment with known labels, and these; none if no rating has an omission."""
    if not any(rating.omissions for rating in ratings):
        return
    for number, rating in enumerate(ratings):
        source = rating.segment.source
        texts: list[tuple[int | None, str]] = [] if source is None else [(None, source)]
        for reference, text in [*texts, *enumerate(rating.segment.references)]:
            missing = omission_labels(rating, reference, tokens[text])
            if missing is not None:
                yield (number, _SOURCE if reference is None else reference), missing


def omission_labels(rating: Rating, reference: int | None, tokens: Tokens) -> npt.NDArray[np.int8] | None:
    """Returns whether the hypothesis lacks each token of a context; None if the rating leaves it unknown.

    In a rating without omissions, nothing is missing, unless one of its errors may be an omission. A rating with
    omissions leaves the texts without any unknown. The context is a reference, or the source if its number is None.
    """
    if rating.errors is None:
        return None
    omissions = [omission for omission in rating.omissions if omission.reference == reference]
    other_errors = [error for error in rating.all_errors if not isinstance(error, Omission)]
    is_open = any(isinstance(error, UnplacedError) or "mission" in (error.category or "") for error in other_errors)
    if len(omissions) < len(rating.omissions[:1]) or (not rating.omissions and is_open):
        return None
    missing = np.zeros(len(tokens.ids), dtype=np.int8)
    for omission in omissions:
        missing[within(omission, tokens)] = 1
    return missing
