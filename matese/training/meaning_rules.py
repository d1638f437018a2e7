"""Fit how errors of meaning change the score: as people's ratings allow, and as contrasts of short texts say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from matese.model.heads import gold_scores
from matese.model.heads.meaning.decoding import MeaningLogits, words_of_longest
from matese.model.heads.meaning.settings import MeaningRule, score_odds
from matese.mqm import LOWEST_SCORE
from matese.training.judged import Judged
from matese.training.logistic_regression import minimise

PRICE = 0.01
"""Most of Pearson's correlation with people's scores that the rule may cost, mean over test sets and language pairs.

People see few errors of meaning in real translations, so that most of what the rule finds there is a false alarm.
"""
ALARMS = 0.1
"""Most right contrasts of short texts whose score may be below `RIGHT`."""
RIGHT = -1.0
RIGHT_SHORT = 3.0
"""Weight of a right contrast, since there are more right short texts in use than wrong ones."""
_FEWEST = 100
"""Least number of scored segments of a test set and a language pair, and of right and of wrong contrasts."""
_THRESHOLDS = (np.arange(40, -17, -1) / 4).tolist()
"""In logits, from the one that hardly any segment reaches."""


@dataclass(frozen=True)
class MeaningFit:
    """A rule, and what it costs.

    Attributes:
        rule: the rule.
        n: number of segments that it was fitted on, without contrasts.
        before: mean of Pearson's correlation without the rule.
        after: with it.
        lowered: share of the segments whose score it lowers by half a point or more.
        right: share of the right contrasts of short texts whose score is below `RIGHT`; None without contrasts.
        wrong: the same of the wrong ones.
    """

    rule: MeaningRule
    n: int
    before: float
    after: float
    lowered: float
    right: float | None = None
    wrong: float | None = None


@dataclass(frozen=True, slots=True)
class _Scored:
    """A segment, people's score of it and what the network says."""

    n_words: int
    gold: float
    score: float
    logit: float

    def after(self, rule: MeaningRule) -> float:
        """Returns the score after the rule."""
        return rule.score(self.score, self.logit, self.n_words)


def fit(judged: Sequence[Judged], further: Sequence[Judged], contrasts: Sequence[Judged]) -> MeaningFit | None:
    """Returns the rule for one kind of input; None without enough scored segments.

    Args:
        judged: what people and the model say.
        further: the same in another manner of annotation, for long texts only: its scores differ in scale.
        contrasts: the same of right and wrong short texts.
    """
    rule = MeaningRule(threshold=_THRESHOLDS[0])
    short_contrasts = list(filter(None, (_scored(contrast) for contrast in contrasts if contrast.is_short)))
    short_ratings = list(filter(None, (_scored(segment) for segment in judged if segment.is_short)))
    right = [contrast for contrast in short_contrasts if contrast.gold == 0]
    wrong = [contrast for contrast in short_contrasts if contrast.gold < 0]
    has_short = min(len(right), len(wrong)) >= _FEWEST
    if has_short:
        rule = _of_short(rule, right, wrong, short_ratings)
    groups = list(_groups([*judged, *further]))
    if not groups:
        return None
    before = _correlation(groups, None)
    fitted = rule
    for threshold in _THRESHOLDS:
        stricter = replace(rule, threshold=threshold)
        if before - _correlation(groups, stricter) > PRICE:
            break
        fitted = stricter
    falls = np.array([segment.score - segment.after(fitted) for group in groups for segment in group])
    return MeaningFit(
        fitted,
        n=len(falls),
        before=before,
        after=_correlation(groups, fitted),
        lowered=float((falls >= 0.5).mean()),
        right=_share_below(right, fitted) if has_short else None,
        wrong=_share_below(wrong, fitted) if has_short else None,
    )


def _of_short(
    rule: MeaningRule, right: Sequence[_Scored], wrong: Sequence[_Scored], people: Sequence[_Scored]
) -> MeaningRule:
    """Returns the rule whose scores of short texts have the least squared error, with few right ones below `RIGHT`.

    Contrasts and people's ratings count the same.
    """
    texts = [*right, *wrong, *people]
    shares = [RIGHT_SHORT] * len(right) + [1.0] * len(wrong)
    of_people = [1.0 / max(1, len(people))] * len(people)
    weights = torch.tensor([*(share / sum(shares) for share in shares), *of_people], dtype=torch.float64)
    odds = torch.tensor([score_odds(segment.score) for segment in texts], dtype=torch.float64)
    logits = torch.tensor([segment.logit for segment in texts], dtype=torch.float64)
    golds = torch.tensor([segment.gold for segment in texts], dtype=torch.float64)
    roots = torch.tensor([0.7, 0.7], dtype=torch.float64, requires_grad=True)  # of the weights, which are not negative
    offset = torch.tensor(-2.0, dtype=torch.float64, requires_grad=True)

    def loss() -> Tensor:
        changed = odds * roots[0].square() + logits * roots[1].square() + offset
        return (weights * (LOWEST_SCORE * changed.sigmoid() - golds).square()).sum()

    minimise([roots, offset], loss)
    of_score, of_meaning = roots.detach().square().tolist()
    fitted = replace(
        rule, score_of_short=round(of_score, 4), meaning_of_short=round(of_meaning, 4), offset_of_short=0.0
    )
    odds_of_right = [fitted.odds_of_short(segment.score, segment.logit) for segment in right]
    highest = score_odds(RIGHT) - float(np.quantile(odds_of_right, 1 - ALARMS))
    return replace(fitted, offset_of_short=round(min(offset.item(), highest), 4))


def _share_below(texts: Sequence[_Scored], rule: MeaningRule) -> float:
    return float(np.mean([segment.after(rule) < RIGHT for segment in texts]))


def _scored(judged: Judged) -> _Scored | None:
    """Returns a segment with people's score; None if there is none."""
    gold = gold_scores.score_of(judged.rating)
    said = judged.prediction.outputs.get(MeaningLogits)
    if said is None or judged.prediction.score is None or not np.isfinite(gold):
        return None
    return _Scored(words_of_longest(judged.model_input.readings), gold, judged.prediction.score, said.segment)


def _groups(judged: Sequence[Judged]) -> Iterator[list[_Scored]]:
    """Yields the segments that are not short, of each test set and language pair that has enough."""
    groups: dict[tuple[str | None, str | None], list[_Scored]] = defaultdict(list)
    for segment in judged:
        if not segment.is_short and (scored := _scored(segment)) is not None:
            key = segment.rating.segment.key
            groups[(key.test_set, key.lang_pair) if key else (None, None)].append(scored)
    for group in groups.values():
        if len(group) >= _FEWEST and np.std([scored.gold for scored in group]) > 0:
            yield group


def _correlation(groups: Sequence[Sequence[_Scored]], rule: MeaningRule | None) -> float:
    """Returns the mean of Pearson's correlation with people's scores, after a rule or without one."""
    correlations = []
    for group in groups:
        scores = [segment.score if rule is None else segment.after(rule) for segment in group]
        golds = [segment.gold for segment in group]
        correlations.append(float(np.corrcoef(golds, scores)[0, 1]) if np.std(scores) > 0 else 0.0)
    return float(np.mean(correlations))
