"""What a model learns that compares a hypothesis with a reference: how good people find the hypothesis."""

from __future__ import annotations

from matese.model.heads.quality.targets import QualityTargets


class PreferenceTargets(QualityTargets):
    """Learns "scores", as `QualityTargets` does."""

    name = "preference"
