"""The bench of false alarms: what it counts, and where it makes rules silent."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from benchmarks import checks as bench
from matese.annotation import Segment, SegmentKey
from matese.checks import checker, measured, numbers, repetition, rules

KEY = SegmentKey("ntrex", "eng-deu", None, None, 0)
SOURCE = "In 1999, the 17 members met on Monday, and 3.5 million people read about it in the papers of the country."
TEXT = "Im Jahr 1999 trafen sich die 17 Mitglieder am Montag, und 3,5 Millionen Menschen lasen davon in den Zeitungen."
OTHER = "En 1999, les dix-sept membres se sont réunis lundi, et trois millions de personnes l'ont lu dans les journaux."
CHINESE = Segment("他们的房子很大。", "Their house is large.", (), SegmentKey("ntrex", "eng-zho", None, None, 0))
ALL = [replace(rule, silent={}) for rule in rules.TABLE]


@pytest.mark.parametrize("fault", bench.FAULTS)
def test_each_fault_is_one_and_its_rule_finds_it(fault: str) -> None:
    kind = bench.FAULTS[fault]
    segment = CHINESE if fault == "particle doubled" else Segment(TEXT, SOURCE, (), KEY)
    pair = kind.put(segment, random.Random(1), OTHER)
    assert pair is not None
    assert checker.check(pair.correct, ALL).all_errors == ()
    assert kind.category in {error.category for error in checker.check(pair.faulty, ALL).all_errors}


def test_a_slip_of_the_translator_is_no_false_alarm() -> None:
    segments = [Segment(TEXT.replace("17", "18"), SOURCE, (), KEY)]
    how = {"indices": [0], "fault_every": 0, "chosen": ALL, "name": "deu"}
    counts = bench.measure(segments, lambda _: OTHER, **how)  # type: ignore[arg-type]
    assert (counts.alarms, counts.slips) == (Counter(numbers=1), Counter())
    counts = bench.measure(segments, lambda _: OTHER, slips={("deu", 0, numbers.CHANGED)}, **how)  # type: ignore[arg-type]
    assert (counts.alarms, counts.slips) == (Counter(), Counter(numbers=1))


def counted(**more: Counter[object]) -> bench.Counts:
    return bench.Counts(1000, **more)  # type: ignore[arg-type]


FOUND = frozenset({numbers.CHANGED})


@pytest.mark.parametrize(
    ("rule", "counts", "silent"),
    [
        ("numbers", counted(), set()),
        ("numbers", counted(categories=Counter({("numbers", numbers.CHANGED): 1})), set()),
        ("numbers", counted(categories=Counter({("numbers", numbers.CHANGED): 2})), {numbers.CHANGED}),
        (
            "numbers",
            counted(n_faults=Counter({"digit changed": 100}), found=Counter({("digit changed", FOUND): 93})),
            set(),
        ),
        (
            "numbers",
            counted(n_faults=Counter({"digit changed": 100}), found=Counter({("digit changed", FOUND): 90})),
            {numbers.CHANGED},
        ),
        # Found by another category only, which is silent.
        (
            "numbers",
            counted(
                categories=Counter({("numbers", numbers.MISSING): 2}),
                n_faults=Counter({"digit changed": 100}),
                found=Counter({("digit changed", frozenset({numbers.MISSING})): 100}),
            ),
            {numbers.CHANGED, numbers.MISSING},
        ),
        ("repetition", counted(words=Counter({(repetition.DOUBLED_SHORT, "nous"): 2})), {repetition.DOUBLED_SHORT}),
        ("repetition", counted(words=Counter({(repetition.DOUBLED_SHORT, "nous"): 1})), set()),
    ],
)
def test_where_a_rule_is_silent(rule: str, counts: bench.Counts, silent: set[str]) -> None:
    (own,) = (one for one in ALL if one.name == rule)
    assert bench.unsure_categories(own, counts) == silent


def test_chance_is_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for n_faults, n_found in ((20, 16), (20, 17), (100, 90), (100, 91), (100, 0)):
        assert bench.falls_short(n_faults, n_found) == (stats.binom.cdf(n_found, n_faults, 0.95) <= 0.05)
    for n_alarms in range(6):
        expected = stats.poisson.sf(n_alarms - 1, 1) <= 0.05
        assert bench.beyond_chance(bench.Counts(1000), n_alarms) == expected


def test_lists_and_slips_name_what_there_is() -> None:
    categories = {category for rule in rules.TABLE for category in rule.categories}
    assert {category for _, _, category in bench.read_slips()} <= categories
    for rule in rules.TABLE:
        for category, langs in measured.SILENT.get(rule.name, {}).items():
            assert category in rule.categories
            assert langs <= measured.LANGUAGES
