"""The settings of all heads, each of a type in the head's own folder."""

from __future__ import annotations

from dataclasses import dataclass, fields

from matese.errors import InputError, one_of
from matese.model.heads.categories.settings import CategorySettings
from matese.model.heads.meaning.settings import MeaningSettings
from matese.model.heads.omissions.settings import OmissionSettings
from matese.model.heads.preference.settings import PreferenceSettings
from matese.model.heads.quality.settings import QualitySettings
from matese.model.heads.ranking.settings import RankingSettings
from matese.model.heads.score.settings import ScoreSettings
from matese.model.heads.tags.settings import TagSettings
from matese.model.heads.word_labels.settings import WordLabelSettings
from matese.model.texts.settings import TextSettings

_MAIN = ("tags", "quality", "ranking", "preference")
"""Heads that judge the segment: a model has one of them."""
_BESIDE_TAGS = ("score", "omissions", "categories", "meaning")
"""Heads of taggers."""


@dataclass(frozen=True)
class HeadSettings:
    """The heads of a model; null for one that it lacks.

    Attributes:
        tags: marks errors by BIO tags, as a tagger does.
        score: predicts the MQM score of the segment.
        omissions: finds words that the hypothesis lacks.
        categories: predicts the main MQM category of each error.
        meaning: judges whether the hypothesis says something else than the other texts.
        word_labels: marks errors by labels of severity, as models of the COMET family do.
        quality: scores the segment by feed-forward layers, as models of the COMET family do.
        ranking: scores the segment by distances of embeddings.
        preference: scores the segment against another translation, as PEAR does.
    """

    tags: TagSettings | None = None
    score: ScoreSettings | None = None
    omissions: OmissionSettings | None = None
    categories: CategorySettings | None = None
    meaning: MeaningSettings | None = None
    word_labels: WordLabelSettings | None = None
    quality: QualitySettings | None = None
    ranking: RankingSettings | None = None
    preference: PreferenceSettings | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The heads that the model has."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) is not None)

    def check(self, texts: TextSettings) -> None:
        """Raises an InputError unless exactly one head judges the segment, and the others and the texts fit to it.

        The settings of a head may name settings of the texts that it needs (`of_texts`), or `check` them.
        """
        main_heads = [name for name in self.names if name in _MAIN]
        if len(main_heads) != 1:
            problem = f"{' and '.join(main_heads)} are set" if main_heads else "none is set"
            raise InputError(f"heads: {problem}; must have exactly one of {one_of(_MAIN)}")
        for name in self.names:
            if name in _BESIDE_TAGS and self.tags is None:
                raise InputError(f"heads.{name}: must be null without heads.tags")
            settings = getattr(self, name)
            for setting, needed in getattr(settings, "of_texts", {}).items():
                if (value := getattr(texts, setting)) != needed:
                    allowed = f"must be {_in_words(needed)} for heads.{name}"
                    raise InputError(f"texts.{setting} {_in_words(value)}: {allowed}")
            if hasattr(settings, "check"):
                settings.check(texts, self.names)


def _in_words(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else ", ".join(value)
