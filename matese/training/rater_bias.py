"""How groups of raters differ from the others: learned beside the tagger, and left out of the model."""

from __future__ import annotations

from torch import Tensor, nn

from matese.model.heads.networks import NetworkOutput
from matese.model.heads.score.network import ScoreTensor
from matese.model.heads.tags.bio import TAGS
from matese.model.heads.tags.network import TagLogits


class RaterBias(nn.Module):
    """Adjusts the output to groups of raters who mark or score differently from the others.

    A group has one number for each tag, added to the logits, and a factor and an offset for scores. The bias is trained
    with the tagger but is not part of the model. Group 0 has no bias.
    """

    def __init__(self, n_groups: int) -> None:
        super().__init__()
        self.tags = nn.Embedding(n_groups + 1, len(TAGS), padding_idx=0)
        self.scores = nn.Embedding(n_groups + 1, 2, padding_idx=0)
        for embedding in (self.tags, self.scores):
            nn.init.zeros_(embedding.weight)

    def forward(self, output: NetworkOutput, rater_groups: Tensor) -> NetworkOutput:
        """Returns the output adjusted to the raters of each segment; `rater_groups` is (batch,)."""
        changed = output.changed(TagLogits(output[TagLogits].logits + self.tags(rater_groups).unsqueeze(1)))
        score = output.get(ScoreTensor)
        if score is None:
            return changed
        spread, offset = self.scores(rater_groups).unbind(-1)
        return changed.changed(ScoreTensor(score.values * spread.exp() + offset))
