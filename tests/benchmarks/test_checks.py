"""The bench of false alarms: what it counts."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from benchmarks import checks as bench
from matese.annotation import Segment, SegmentKey
from matese.checks import checker, rules
from matese.checks.chosen import choose

KEY = SegmentKey("ntrex", "eng-deu", None, None, 0)
SOURCE = "In 1999, the 17 members met on Monday, and 3.5 million people read about it for 2.75 in the papers."
TEXT = "Im Jahr 1999 trafen sich die 17 Mitglieder am Montag, und 3,5 Millionen lasen davon für 2,75 in den Blättern."
OTHER = "En 1999, les dix-sept membres se sont réunis lundi, et trois millions de personnes l'ont lu dans les journaux."
SEGMENT = Segment(TEXT, SOURCE, (), KEY)


@pytest.mark.parametrize("fault", bench.FAULTS)
def test_each_fault_is_one_and_its_rule_finds_it(fault: str) -> None:
    kind = bench.FAULTS[fault]
    pair = kind.put(SEGMENT, random.Random(1), OTHER)
    assert pair is not None
    assert checker.check(pair.correct).all_errors == ()
    assert checker.check(pair.faulty, choose(kind.rule).rules).all_errors != ()


@pytest.mark.parametrize("fault", ["digit changed", "word three times", "sentence twice", "in another language"])
def test_texts_without_room_for_a_fault_are_left_out(fault: str) -> None:
    assert bench.FAULTS[fault].put(Segment("", "", (), KEY), random.Random(1), "") is None


def test_a_slip_of_the_translator_is_no_false_alarm() -> None:
    text = bench.Text("deu", 7, replace(SEGMENT, hypothesis=TEXT.replace("17", "18")))
    category = "Accuracy/Mistranslation/Number"
    for slips, alarms, n_slips in (((), 1, 0), ({("deu", 7, category)}, 0, 1), ({("deu", -1, category)}, 0, 1)):
        counts = bench.Counts()
        false_alarms = bench.measure(text, counts, has_faults=False, slips=slips)
        assert (counts.alarms, counts.slips) == (Counter(numbers=alarms), Counter(numbers=n_slips))
        assert false_alarms == ({("numbers", category): "18"} if alarms else {})


def test_few_texts_may_have_two_alarms() -> None:
    assert [bench.most_alarms(n) for n in (0, 1, 3_999, 4_000, 6_000, 20_000)] == [2, 2, 2, 2, 3, 10]
    counts = {"de": bench.Counts(2_000, Counter(numbers=3)), "fr": bench.Counts(2_000, Counter(numbers=2))}
    (row,) = bench.by_rule(counts, choose("numbers").rules)[2:]
    assert row == "| `numbers` | 0 | 5 | 1 in 800 | de 3 of 2,000, fr 2 of 2,000 | 1 of 2 (de) |"


def test_slips_name_what_there_is() -> None:
    categories = {category for rule in rules.TABLE for category in rule.categories}
    assert {category for _, _, category in bench.read_slips()} <= categories
