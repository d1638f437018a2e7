"""The heads that a network can have, in the order in which they are computed and mark.

Each is a folder: `settings` has its settings, `decoding` has no torch, `network` has the layers, and `targets` has what
the head learns. A new head is one of `HEADS`, and a field of `HeadSettings` in `settings` beside this module.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from matese.model.heads.categories.decoding import Categories
from matese.model.heads.meaning.decoding import Meaning
from matese.model.heads.omissions.decoding import Omissions
from matese.model.heads.preference.decoding import Preference
from matese.model.heads.quality.decoding import Quality
from matese.model.heads.ranking.decoding import Ranking
from matese.model.heads.score.decoding import Score
from matese.model.heads.tags.decoding import Tags
from matese.model.heads.word_labels.decoding import WordLabels

if TYPE_CHECKING:
    from matese.model.config import ModelConfig
    from matese.model.heads.head import Head
    from matese.model.heads.learning import HeadTargets
    from matese.model.heads.networks import HeadNetwork

HEADS: tuple[type[Head], ...] = (Tags, Score, Omissions, Categories, Meaning, WordLabels, Quality, Ranking, Preference)


def heads(config: ModelConfig) -> tuple[Head, ...]:
    """Returns the heads of a model with these settings."""
    return tuple(kind(config) for kind in HEADS if kind.name in config.heads.names)


def networks() -> dict[str, type[HeadNetwork]]:
    """Returns the layers of each head, by its name."""
    from matese.model.heads.networks import HeadNetwork

    return {head.name: _class(head, "network", HeadNetwork) for head in HEADS}


def targets(config: ModelConfig) -> tuple[HeadTargets, ...]:
    """Returns what the heads of a model with these settings learn."""
    from matese.model.heads.learning import HeadTargets

    return tuple(_class(head, "targets", HeadTargets)(config) for head in HEADS if head.name in config.heads.names)


def _class(head: type[Head], module: str, kind: type) -> Any:  # noqa: ANN401  (a class of this kind)
    """Returns the class of this kind that a module in a head's folder defines."""
    loaded = importlib.import_module(f"matese.model.heads.{head.name}.{module}")
    classes = (value for value in vars(loaded).values() if isinstance(value, type) and issubclass(value, kind))
    return next(defined for defined in classes if defined.__module__ == loaded.__name__)
