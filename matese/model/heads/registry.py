"""The heads that a network can have, in the order in which they are computed and mark.

Each is a folder: `settings` has its settings, `decoding` has no torch, `network` has the layers, and `targets` has what
the head learns. A new head is a row in each table, and a field of `HeadSettings` in `settings` beside this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    return tuple(kind(config) for kind in HEADS if kind.is_in(config))


def networks() -> dict[str, type[HeadNetwork]]:
    """Returns the layers of each head, by its name."""
    from matese.model.heads.categories.network import CategoryHead
    from matese.model.heads.meaning.network import MeaningHead
    from matese.model.heads.omissions.network import OmissionHead
    from matese.model.heads.preference.network import PreferenceHead
    from matese.model.heads.quality.network import QualityHead
    from matese.model.heads.ranking.network import RankingHead
    from matese.model.heads.score.network import ScoreHead
    from matese.model.heads.tags.network import TagHead
    from matese.model.heads.word_labels.network import WordLabelHead

    return {
        "tags": TagHead,
        "score": ScoreHead,
        "omissions": OmissionHead,
        "categories": CategoryHead,
        "meaning": MeaningHead,
        "word_labels": WordLabelHead,
        "quality": QualityHead,
        "ranking": RankingHead,
        "preference": PreferenceHead,
    }


def targets(config: ModelConfig) -> tuple[HeadTargets, ...]:
    """Returns what the heads of a model with these settings learn."""
    from matese.model.heads.categories.targets import CategoryTargets
    from matese.model.heads.meaning.targets import MeaningTargets
    from matese.model.heads.omissions.targets import OmissionTargets
    from matese.model.heads.preference.targets import PreferenceTargets
    from matese.model.heads.quality.targets import QualityTargets
    from matese.model.heads.ranking.targets import RankingTargets
    from matese.model.heads.score.targets import ScoreTargets
    from matese.model.heads.tags.targets import TagTargets
    from matese.model.heads.word_labels.targets import WordLabelTargets

    kinds = (
        *(TagTargets, ScoreTargets, OmissionTargets, CategoryTargets, MeaningTargets),
        *(WordLabelTargets, QualityTargets, RankingTargets, PreferenceTargets),
    )
    names = {head.name for head in heads(config)}
    return tuple(kind(config) for kind in kinds if kind.name in names)
