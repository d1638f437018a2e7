"""The score of a hypothesis against another translation."""

from __future__ import annotations

from matese.model.heads.quality.decoding import Quality


class Preference(Quality):
    """Says the score of a row: above 0 if the hypothesis is better than the text beside it."""

    name = "preference"
    part = "preference_head"
