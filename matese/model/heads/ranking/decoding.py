"""The score of a ranking model: how close the embeddings of a reading's texts are."""

from __future__ import annotations

from matese.model.config import AnyConfig, RegressionConfig
from matese.model.heads.quality.decoding import Quality


class Ranking(Quality):
    """Says the embedding of a text, (width,), as `Quality` does where texts are read alone; other layers score them."""

    name = "ranking"
    part = "ranking"

    @classmethod
    def is_in(cls, config: AnyConfig) -> bool:
        """Whether a model with these settings has the head."""
        return isinstance(config, RegressionConfig) and config.architecture == "ranking"
