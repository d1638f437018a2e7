"""The choice of one translation of a source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from matese.annotation import Rating
from matese.errors import UsageError, counted
from matese.formats import candidates as candidate_lists
from matese.formats.candidates import Candidates


@dataclass(frozen=True, slots=True)
class Choice:
    """The translation that is taken.

    Attributes:
        candidates: all translations of the source.
        index: the number of the one that is taken, from 0; the first one of equally good ones.
        scores: of each candidate, higher is better; None for one that was pruned.
        features: of each candidate, by name; () of minimum Bayes risk.
    """

    candidates: Candidates
    index: int
    scores: tuple[float | None, ...]
    features: tuple[dict[str, float], ...] = ()

    @property
    def text(self) -> str:
        """The translation that is taken."""
        return self.candidates.texts[self.index]

    def to_json(self, number: int, signature: str) -> dict[str, object]:
        """Returns the object that stands for the choice in JSONL; the key of the segment precedes its number."""
        candidates = self.candidates
        columns: dict[str, Sequence[object]] = {
            "text": candidates.texts,
            "system": candidates.systems,
            "score": self.scores,
            "model_score": candidates.model_scores,
            "features": self.features,
        }
        return {
            "index": number if candidates.key is None or candidates.key.index is None else candidates.key.index,
            "source": candidates.source,
            "choice": self.index,
            "text": self.text,
            "system": candidates.systems[self.index] if candidates.systems else None,
            "candidates": [
                {name: values[place] if values else None for name, values in columns.items()}
                for place in range(len(candidates.texts))
            ],
            "signature": signature,
        }


def best(candidates: Candidates, scores: Sequence[float | None], features: Iterable[dict[str, float]] = ()) -> Choice:
    """Returns the choice of the candidate with the highest score; the first of those that have it."""
    scored = [(score, -index) for index, score in enumerate(scores) if score is not None]
    return Choice(candidates, -max(scored)[1], tuple(scores), tuple(features))


def make_candidates(
    texts: Sequence[Sequence[str]],
    sources: Sequence[str] | None,
    model_scores: Sequence[Sequence[float]] | None = None,
) -> list[Candidates]:
    """Returns the candidates of each source.

    Raises:
        TypeError: if a str is given in place of a sequence of strings, or something else in place of a str.
        UsageError: if the sequences differ in length.
        InputError: if a source has no candidate.
    """
    for name, sequence in (("candidates", texts), ("sources", sources)):
        if isinstance(sequence, str) or (sequence is texts and any(isinstance(text, str) for text in texts)):
            raise TypeError(f"{name} is a str: must be {'lists of strings' if sequence is texts else 'strings'}")
    lists = [tuple(translations) for translations in texts]
    for number, translations in enumerate(lists):
        if not all(isinstance(text, str) for text in translations):
            raise TypeError(f"candidates {translations!r} of source {number}: must be strings, which may be empty")
    for number, source in enumerate(() if sources is None else sources):
        if not isinstance(source, str):
            raise TypeError(f"source {number} is {source!r}: must be a string")
    for name, values in (("sources", sources), ("model_scores", model_scores)):
        if values is not None and len(values) != len(texts):
            raise UsageError(
                f"candidates of {counted(len(texts), 'source')} and {len(values)} {name}: one for each source"
            )
    sources_or_none = [None] * len(texts) if sources is None else sources
    scores_or_none = [()] * len(texts) if model_scores is None else model_scores
    return [
        Candidates(translations, source, model_scores=tuple(scores))
        for translations, source, scores in zip(lists, sources_or_none, scores_or_none, strict=True)
    ]


def of_ratings(systems: Mapping[str, Sequence[Rating]]) -> list[tuple[Candidates, list[Rating]]]:
    """Returns the candidates of each segment, one per system, with their ratings.

    Raises:
        InputError: if there is a single system, or the systems do not have the same segments.
    """
    from matese.evaluation import alignment

    if len(systems) < 2:
        raise UsageError(f"{', '.join(systems)} is a single candidate of each source; give two systems or more")
    aligned = alignment.align(systems)
    rows = [(name, [rating.segment for rating in ratings]) for name, ratings in aligned.items()]
    lists = candidate_lists.from_systems(rows)
    columns = zip(*aligned.values(), strict=True)
    return [(candidates, list(column)) for candidates, column in zip(lists, columns, strict=True)]
