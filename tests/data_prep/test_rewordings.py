from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from data_prep import rewordings, synthesis, translations
from data_prep.__main__ import main
from matese.annotation import ErrorSpan, Overall, Rating, Segment, SegmentKey, Severity
from matese.files import write_lines
from matese.formats.tables import jsonl

SOURCE = "Die alte Brücke ist seit 1950 nicht mehr offen."
REFERENCE = "The old bridge has not been open since 1950."
CORRECT = "Since 1950, the ancient bridge is no longer open."
WRONG = "The old bridge is open since 1950."


def ratings() -> list[Rating]:
    made = []
    for system, text, errors in (("A", CORRECT, ()), ("B", WRONG, (ErrorSpan(15, 22, Severity.MAJOR),))):
        segment = Segment(text, SOURCE, (REFERENCE,), SegmentKey("set", "de-en", system, index=0))
        made.append(Rating(segment, "human", errors, overall=Overall(-5.0 * len(errors), "mqm")))
    return made


def test_correct_are_references_and_translations_without_errors() -> None:
    [correct] = rewordings.group(ratings())
    assert set(correct.texts) == {REFERENCE, CORRECT}
    assert correct.texts[CORRECT] == "A"
    assert rewordings.group(ratings()[1:]) == []
    by_system = replace(ratings()[0], rater=translations.SYSTEM_REFERENCE)
    assert rewordings.group([by_system]) == [], "the translation of a system may be wrong"


def test_rewordings_are_free_of_errors_and_damaged_texts_are_not(tmp_path: Path) -> None:
    given = tmp_path / "in.jsonl"
    output = tmp_path / "out.jsonl"
    write_lines(given, map(jsonl.dumps, ratings() * 3))
    assert main(["rewordings", str(given), "--output", str(output)]) == 0
    made = list(jsonl.read(output))
    clean, damaged = ([one for one in made if bool(one.all_errors) is has_error] for has_error in (False, True))
    assert {(one.segment.hypothesis, one.segment.references) for one in clean} == {
        (REFERENCE, (CORRECT,)),
        (CORRECT, (REFERENCE,)),
    }
    # Of each reference, the rewording and the copy.
    assert len(damaged) == 2 * len(clean)
    names = {error.category for one in damaged for error in (*(one.errors or ()), *one.unplaced)}
    assert names <= {"Accuracy/Omission", *(f"Synthetic/{kind}" for kind in synthesis.MEANING)}
    for one in damaged:
        assert one.segment.hypothesis not in (REFERENCE, CORRECT)
        assert one.overall is not None
        assert one.overall.value < 0
        assert one.segment.source == SOURCE


def test_another_language_and_a_copy_of_the_source_are_wrong() -> None:
    texts = {"de-en": REFERENCE, "de-fr": "Le vieux pont n'est plus ouvert depuis 1950."}
    given = [
        Rating(Segment(text, f"{SOURCE} {number}", (), SegmentKey("set", pair, "human", index=number)), "human", ())
        for number in range(20)
        for pair, text in texts.items()
    ]
    made = list(rewordings.foreign(given, seed=1))
    others = [one for one in made if one.segment.source is None]
    copies = [one for one in made if one.segment.source is not None]
    assert others
    assert copies
    assert all({one.segment.hypothesis, *one.segment.references} == set(texts.values()) for one in others)
    assert all(one.segment.hypothesis == one.segment.source for one in copies)
    for one in made:
        assert one.overall == Overall(-25.0, "mqm")
        assert one.errors == (ErrorSpan(0, len(one.segment.hypothesis), Severity.MAJOR),)
