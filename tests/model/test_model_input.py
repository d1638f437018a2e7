from __future__ import annotations

from matese.annotation import Segment, SegmentKey
from matese.model.model_input import ModelInput, contexts, inputs_of, usable_inputs, with_inputs
from matese.model.texts.encoding import InputKind

SEGMENT = Segment("h", "s", ("r1", "r2"), SegmentKey(index=3))


def test_there_is_a_reading_for_each_reference_that_is_read() -> None:
    readings = {inputs: ModelInput.of(SEGMENT, inputs).readings for inputs in usable_inputs(SEGMENT, ALL)}
    assert readings == {
        "source+reference": (Segment("h", "s", ("r1",)), Segment("h", "s", ("r2",))),
        "reference": (Segment("h", None, ("r1",)), Segment("h", None, ("r2",))),
        "source": (Segment("h", "s"),),
    }
    assert all(inputs_of(reading) == inputs for inputs, own in readings.items() for reading in own)
    assert [contexts(own[-1]) for own in readings.values()] == [("s", "r2"), ("r2",), ("s",)]


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
