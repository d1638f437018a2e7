"""Minimum Bayes risk: the candidate with the highest expected utility, with all candidates as references."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matese import mqm
from matese.choosing import choice, reranking, utilities
from matese.choosing.choice import Choice
from matese.errors import UsageError
from matese.formats.candidates import Candidates
from matese.streams import grouped

if TYPE_CHECKING:
    from matese.choosing.utilities import Utility, WeightedTexts
    from matese.model.annotator import Annotator

CHRF = "chrf"


def mbr(
    candidates: Sequence[Sequence[str]],
    sources: Sequence[str] | None = None,
    *,
    utility: str | Path = CHRF,
    aggregate: bool = False,
    prune: int | None = None,
    prune_model: str | Path = "mini",
) -> list[Choice]:
    """Returns the translation of each source with the highest expected utility.

    Each candidate is compared with all candidates of its source, itself included. Equal candidates are computed once
    and count as often as they occur.

    Args:
        candidates: the translations of each source.
        sources: one text for each list of candidates; None if the utility needs none.
        utility: "chrf", or what `matese.load` takes: a model that reads a reference.
        aggregate: compare with the average of the references, in time linear in the number of candidates: for chrF
            and for COMET estimators.
        prune: first keep the best N candidates of each source by the expected score of a reference-free model.
        prune_model: this model.

    Raises:
        InputError: if the numbers of texts do not match, or a model cannot be used.

    >>> (choice,) = mbr([["ein Hut", "eine Katze", "die Katze", "eine Katze"]])
    >>> choice.text, choice.index
    ('eine Katze', 1)
    """
    from matese.model.annotator import load

    if prune is not None and prune < 1:
        raise UsageError(f"prune {prune}: must be 1 or more")
    lists = choice.make_candidates(candidates, sources)
    if str(utility) == CHRF:
        metric = utilities.of_chrf(is_aggregated=aggregate)
    else:
        metric = utilities.of_model(load(utility), is_aggregated=aggregate)
    pruned = without_pruning(lists) if prune is None else pruning(lists, load(prune_model), prune)
    return list(choose(pruned, metric))


def choose(lists: Iterable[tuple[Candidates, Sequence[int]]], utility: Utility) -> Iterator[Choice]:
    """Yields the choice of each source, in order.

    Args:
        lists: the candidates of each source, and the numbers of those that are compared.
        utility: what is maximised.
    """

    def sources() -> Iterator[tuple[tuple[Candidates, Sequence[int], WeightedTexts], list[WeightedTexts]]]:
        for candidates, kept in lists:
            translations = utilities.weighted_texts([candidates.texts[number] for number in kept], candidates.source)
            yield (candidates, kept, translations), [translations]

    for (candidates, kept, translations), (expected,) in grouped(utility.expected, sources()):
        by_text = dict(zip(translations.texts, expected.tolist(), strict=True))
        compared = set(kept)
        scores = [by_text[text] if number in compared else None for number, text in enumerate(candidates.texts)]
        yield choice.best(candidates, scores)


def without_pruning(lists: Iterable[Candidates]) -> Iterator[tuple[Candidates, Sequence[int]]]:
    """Yields all candidates of each source."""
    return ((candidates, range(len(candidates.texts))) for candidates in lists)


def pruning(
    lists: Iterable[Candidates], annotator: Annotator, n_kept: int
) -> Iterator[tuple[Candidates, Sequence[int]]]:
    """Yields the candidates of each source with the numbers of the best by the score of a reference-free model.

    Equal candidates count as one, so that they are all kept or all pruned. Fernandes et al. 2022 ("Quality-Aware
    Decoding for Neural Machine Translation") choose in two such stages.

    Raises:
        UsageError: if a source is not known.
    """

    def checked() -> Iterator[Candidates]:
        for candidates in lists:
            if candidates.source is None:
                raise UsageError("pruning needs the sources of the candidates")
            yield candidates

    for candidates, ratings in reranking.rated(checked(), annotator):
        scores = {rating.segment.hypothesis: mqm.ranking_score(rating) for rating in ratings}
        best = set(sorted(scores, key=lambda text: -scores[text])[:n_kept])
        yield candidates, [number for number, text in enumerate(candidates.texts) if text in best]
