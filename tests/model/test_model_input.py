from __future__ import annotations

import pytest

from matese.annotation import Segment, SegmentKey
from matese.model.model_input import ModelInput, Reading, Row, usable_inputs, with_inputs
from matese.model.texts.encoding import InputKind
from matese.model.texts.settings import Layout

SEGMENT = Segment("h", "s", ("r1", "r2"), SegmentKey(index=3))


def test_there_is_a_reading_for_each_reference_that_is_read() -> None:
    readings = {inputs: ModelInput.of(SEGMENT, inputs).readings for inputs in usable_inputs(SEGMENT, ALL)}
    assert readings == {
        "source+reference": (Reading("h", "s", "r1"), Reading("h", "s", "r2")),
        "reference": (Reading("h", None, "r1"), Reading("h", None, "r2")),
        "source": (Reading("h", "s"),),
    }
    assert all(reading.inputs == inputs for inputs, of_inputs in readings.items() for reading in of_inputs)
    assert [of_inputs[-1].contexts for of_inputs in readings.values()] == [("s", "r2"), ("r2",), ("s",)]
    assert [of_inputs[-1].segment.references for of_inputs in readings.values()] == [("r2",), ("r2",), ()]


BOTH = Reading("h", "s", "")
SOURCE = Reading("h", "")


@pytest.mark.parametrize(
    ("reading", "layout", "rows"),
    [
        (BOTH, "together", [Row(("h", "s", ""), "source+reference")]),
        (
            BOTH,
            "combinations",
            [Row(("h", "s"), "source"), Row(("h", ""), "reference"), Row(("h", "s", ""), "source+reference")],
        ),
        (SOURCE, "combinations", [Row(("h", ""), "source")]),
        (BOTH, "alone", [Row(("h",)), Row(("s",)), Row(("",))]),
        (SOURCE, "alone", [Row(("h",)), Row(("",))]),
    ],
)
def test_rows_of_a_reading(reading: Reading, layout: Layout, rows: list[Row]) -> None:
    assert list(reading.rows(layout)) == rows


ALL: tuple[InputKind, ...] = ("reference", "source", "source+reference")


def test_inputs_with_most_texts_come_first_and_incomplete_ones_are_left_out() -> None:
    assert usable_inputs(SEGMENT, ALL) == ["source+reference", "reference", "source"]
    assert usable_inputs(SEGMENT, ("source", "reference")) == ["reference", "source"]
    assert usable_inputs(Segment("h", "s"), ALL) == ["source"]
    assert usable_inputs(Segment("h", "", ("",)), ALL)[0] == "source+reference", "empty texts are texts"
    assert usable_inputs(Segment("h"), ALL) == []


def test_restricting_keeps_the_first_reference_and_the_key() -> None:
    assert with_inputs(SEGMENT, "reference") == Segment("h", None, ("r1",), SEGMENT.key)
    assert with_inputs(SEGMENT, "source") == Segment("h", "s", (), SEGMENT.key)
