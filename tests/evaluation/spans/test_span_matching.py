from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese import mqm
from matese.annotation import ErrorSpan
from matese.evaluation.spans import span_matching
from matese.evaluation.spans.rating_pairs import RatingPair
from matese.evaluation.spans.span_matching import MatchingRules
from matese.evaluation.statistics import bootstrap
from tests.evaluation.material import WORKED, minor, pair, pairs


def figures(given_pairs: list[RatingPair], rules: MatchingRules = MatchingRules()) -> dict[str, float]:  # noqa: B008
    found = span_matching.statistic(given_pairs, rules).figures(bootstrap.whole_sample(len(given_pairs)))
    return {name: float(values[0]) for name, values in found.items()}


def rates(found: dict[str, float], name: str) -> list[float]:
    return [found[f"{name}.{rate}"] for rate in ("precision", "recall", "f1")]


def credit(gold: ErrorSpan, predicted: ErrorSpan, kind: str, rules: MatchingRules) -> tuple[float, float]:
    shared = len(set(range(gold.start, gold.end)) & set(range(predicted.start, predicted.end)))
    is_same_place = (gold.start, gold.end) == (predicted.start, predicted.end)
    precision, recall = {
        "em": (float(is_same_place),) * 2,
        "mp": (float(shared > 0),) * 2,
        "mpp": (shared / (predicted.end - predicted.start), shared / (gold.end - gold.start)),
    }[kind]
    reward = 1.0 if gold.severity is predicted.severity else 1.0 - rules.severity_penalty
    weight = min(rules.weight(gold), rules.weight(predicted))
    return precision * reward * weight, recall * reward * weight


def harmonic(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def matchings(n_gold: int, n_predicted: int) -> Iterator[list[tuple[int, int]]]:
    """All ways to pair gold with predicted spans, those that leave spans alone included."""
    for partners in product([None, *range(n_predicted)], repeat=n_gold):
        chosen = [one for one in partners if one is not None]
        if len(set(chosen)) == len(chosen):
            yield [(gold, one) for gold, one in enumerate(partners) if one is not None]


def best_rates(one: RatingPair, kind: str, rules: MatchingRules) -> tuple[float, float]:
    """Precision and recall of a segment by sted19/span-mt-metrics-eval: the best of all matchings, tried one by one."""
    golds = one.gold_spans
    predictions = one.predicted_spans
    n_gold, n_predicted = (sum(map(rules.weight, spans)) for spans in (golds, predictions))
    found = []
    for matching in matchings(len(golds), len(predictions)):
        found_credits = [credit(golds[i], predictions[k], kind, rules) for i, k in matching]
        precision = sum(p for p, _ in found_credits) / n_predicted if n_predicted else 1.0
        recall = sum(r for _, r in found_credits) / n_gold if n_gold else 1.0
        found.append((harmonic(precision, recall), precision + recall, precision, recall))
    *_, precision, recall = max(tuple(round(value, 11) for value in values) for values in found)
    return precision, recall


def test_worked_case() -> None:
    found = figures([WORKED])
    assert rates(found, "mp.micro") == pytest.approx([2 / 3, 1.0, 0.8])
    assert rates(found, "mpp.micro") == pytest.approx([1.25 / 3, 0.5, 0.4545454545])
    assert rates(found, "em.micro") == [0.0, 0.0, 0.0]


def test_worked_case_with_severities() -> None:
    # The Major is predicted as Minor: half of what that pair gave is left.
    assert rates(figures([WORKED], MatchingRules(0.5)), "mp.micro") == pytest.approx([0.5, 0.75, 0.6])
    assert rates(figures([WORKED], MatchingRules(1.0)), "mpp.micro") == pytest.approx([0.25 / 3, 0.25, 0.125])
    weighted = figures([WORKED], MatchingRules(weights=mqm.MATESE))
    # Predicted: Minor 1, Minor 1, Major 5; gold: Major 5, Minor 1.
    # Both pairs are of a Major and a Minor or of two Minors: each counts once.
    assert rates(weighted, "mp.micro")[:2] == pytest.approx([2 / 7, 2 / 6])
    assert rates(weighted, "mpp.micro")[:2] == pytest.approx([1.25 / 7, 1.0 / 6])


RULES = [MatchingRules(), MatchingRules(0.5), MatchingRules(1.0), MatchingRules(weights=mqm.MATESE)]


@given(pairs, st.sampled_from(span_matching.KINDS), st.sampled_from(RULES))
def test_matching_is_the_best_of_all(one: RatingPair, kind: str, rules: MatchingRules) -> None:
    precision, recall = best_rates(one, kind, rules)
    expected = [precision, recall, harmonic(precision, recall)]
    assert rates(figures([one], rules), f"{kind}.micro") == pytest.approx(expected, abs=1e-10)


@given(pairs, st.sampled_from(span_matching.KINDS), st.sampled_from([0.0, 0.5, 1.0]))
def test_matching_is_one_to_one(one: RatingPair, kind: str, penalty: float) -> None:
    found = span_matching.match(one.gold_spans, one.predicted_spans, kind, MatchingRules(penalty))
    assert len({match.gold for match in found}) == len({match.predicted for match in found}) == len(found)
    for match in found:
        gold = one.gold_spans[match.gold]
        predicted = one.predicted_spans[match.predicted]
        assert (match.precision, match.recall) == pytest.approx(credit(gold, predicted, kind, MatchingRules(penalty)))
        assert match.precision > 0


def test_the_largest_sum_of_single_pairs_is_not_the_best() -> None:
    # As a pair, the longer of the overlapping predicted spans is better (F1 8/11 against 6/11). But of five predicted
    # spans and one gold span, precision is the scarcer: the shorter one gives 1 to it.
    others = [minor(20, 21), minor(25, 26), minor(30, 31)]
    found = figures([pair([minor(0, 8)], [minor(0, 3), minor(0, 14), *others])])
    assert rates(found, "mpp.micro")[:2] == pytest.approx([1 / 5, 3 / 8])


def test_many_spans_that_all_overlap_are_matched_at_once() -> None:
    many = [minor(start, start + 20) for start in range(14)]
    other = [minor(start, start + 9) for start in range(0, 28, 2)]
    assert len(span_matching.match(many, other)) == 14


def test_greedy_would_be_worse() -> None:
    # The best single pair (5..10 with 4..10) would leave one span on either side alone, for they share nothing.
    gold = [minor(0, 5), minor(5, 10)]
    predicted = [minor(3, 10), minor(8, 10)]
    found = span_matching.match(gold, predicted)
    assert {(match.gold, match.predicted) for match in found} == {(0, 0), (1, 1)}


def test_macro_is_the_mean_over_segments_and_rewards_silence() -> None:
    found = figures([pair([], []), pair([minor(0, 4)], [minor(0, 2)]), pair([minor(0, 4)], [])])
    assert rates(found, "mpp.macro") == pytest.approx([1.0, 0.5, (1 + 2 / 3 + 0) / 3])
    silent = [pair([], []), pair([minor(0, 4)], [])]
    bold = [pair([], [minor(0, 4)]), pair([minor(0, 4)], [minor(0, 4)])]
    assert figures(silent)["mpp.macro.f1"] >= figures(bold)["mpp.macro.f1"]
    assert figures(silent)["mpp.micro.f1"] < figures(bold)["mpp.micro.f1"]


def test_bad_rules() -> None:
    with pytest.raises(ValueError, match=r"severity penalty 1\.5: must be between 0 and 1"):
        MatchingRules(1.5)
    with pytest.raises(ValueError, match="kind 'exact': must be one of em, mp, mpp"):
        span_matching.match([], [], "exact")
