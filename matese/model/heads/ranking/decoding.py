"""The score of a ranking model: how close the embeddings of a reading's texts are."""

from __future__ import annotations

from matese.model.heads.quality.decoding import Quality


class Ranking(Quality):
    """Says the embedding of a text, (width,), as `Quality` does where texts are read alone; other layers score them."""

    name = "ranking"
    part = "ranking_head"
