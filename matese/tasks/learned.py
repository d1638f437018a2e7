"""Notices about texts that a model has learned from, where figures compare it with people."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from matese.errors import counted
from matese.model.storage import checkpoint
from matese.tasks import notices

_MODELS = re.compile(r"\|model:([^|]+)")
_FEWEST = 3
_LEAST_SHARE = 0.2
"""Of the sources. Fewer are chance, greetings and headings: the hashes of texts that differ can be the same."""


def tell(sources_by_rater: Mapping[str | None, Collection[str]], *, models: Iterable[str] = ()) -> None:
    """Tells how many of the sources the models have learned from that rated them.

    Args:
        sources_by_rater: the sources that each has rated; of models that signatures name, embedded ones are known.
        models: names or directories of further models, which rated all sources.
    """
    every = set().union(*sources_by_rater.values())
    rated: dict[str, set[str]] = dict.fromkeys(models, every)
    for rater, sources in sources_by_rater.items():
        titles = [title for joined_titles in _MODELS.findall(rater or "") for title in joined_titles.split("+")]
        for name in {title.rpartition("@")[0] for title in titles}.intersection(checkpoint.embedded()):
            rated[name] = rated.get(name, set()).union(sources)
    for name, texts in rated.items():
        learned = checkpoint.read_training_data(checkpoint.resolve(name)).learned(texts)
        if len(learned) >= max(_FEWEST, _LEAST_SHARE * len(texts)):
            n_sources = counted(len(texts), "source")
            notices.info(f"{name} has learned from {len(learned):,} of these {n_sources}: its figures are too good")
