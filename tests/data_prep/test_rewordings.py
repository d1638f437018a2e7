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
    source = tmp_path / "in.jsonl"
    output = tmp_path / "out.jsonl"
    write_lines(source, map(jsonl.dumps, ratings() * 3))
    assert main(["rewordings", str(source), "--output", str(output)]) == 0
    made = list(jsonl.read(output))
    clean, damaged = (
        [rating for rating in made if bool(rating.all_errors) is has_error] for has_error in (False, True)
    )
    assert {(rating.segment.hypothesis, rating.segment.references) for rating in clean} == {
        (REFERENCE, (CORRECT,)),
        (CORRECT, (REFERENCE,)),
    }
    # Of each reference, the rewording and the copy.
    assert len(damaged) == 2 * len(clean)
    names = {error.category for rating in damaged for error in rating.all_errors}
    assert names <= {"Accuracy/Omission", *(f"Synthetic/{kind}" for kind in synthesis.MEANING)}
    for rating in damaged:
        assert rating.segment.hypothesis not in (REFERENCE, CORRECT)
        assert rating.overall is not None
        assert rating.overall.value < 0
        assert rating.segment.source == SOURCE


def test_another_language_and_a_copy_of_the_source_are_wrong() -> None:
    texts = {"de-en": REFERENCE, "de-fr": "Le vieux pont n'est plus ouvert depuis 1950."}
    clean = [
        Rating(Segment(text, f"{SOURCE} {number}", (), SegmentKey("set", pair, "human", index=number)), "human", ())
        for number in range(20)
        for pair, text in texts.items()
    ]
    made = list(rewordings.foreign(clean, seed=1))
    foreign = [rating for rating in made if rating.segment.source is None]
    copies = [rating for rating in made if rating.segment.source is not None]
    assert foreign
    assert copies
    assert all({rating.segment.hypothesis, *rating.segment.references} == set(texts.values()) for rating in foreign)
    assert all(rating.segment.hypothesis == rating.segment.source for rating in copies)
    for rating in made:
        assert rating.overall == Overall(-25.0, "mqm")
        assert rating.errors == (ErrorSpan(0, len(rating.segment.hypothesis), Severity.MAJOR),)
