"""What languages write differently is no finding; what differs is one."""

from __future__ import annotations

from decimal import Decimal

import pytest

from matese.checks import numbers


def compared(source: str, hypothesis: str, pair: str = "", *references: str) -> tuple[list[str], list[str]]:
    """What was changed, as it stands in the hypothesis, and what is missing, as it stands in the source."""
    source_lang, _, target_lang = pair.partition("-")
    changed, missing = numbers.compare(source, hypothesis, references, source_lang=source_lang, target_lang=target_lang)
    return [hypothesis[span.start : span.end] for span in changed], [source[span.start : span.end] for span in missing]


@pytest.mark.parametrize(
    ("pair", "source", "hypothesis"),
    [
        ("", "", ""),
        ("en-de", "1,234.56 and 1,234", "1.234,56 und 1.234"),
        ("en-de", "1,234,567 people", "1 234 567 Menschen"),
        ("en-de", "10,000 francs", "10'000 Franken"),
        ("de-en", "3,5 Millionen", "3.5 million"),
        ("en-fr", "10,000.5 m", "10\u202f000,5 m"),
        ("en-ru", "The 21st century, the 1990s", "XXI век, 90-е годы"),
        ("en-hi", "100,000 rupees", "1,00,000 रुपये"),
        ("en-ar", "12.5 and 2023", "١٢٫٥ و ٢٠٢٣"),
        ("", "1,234", "1.234"),
        ("", "1,5", "1.5"),
        # Written as words, or with words.
        ("en-de", "I have 2 dogs and 12 cats", "Ich habe zwei Hunde und zwölf Katzen"),
        ("en-de", "100 people, 3 dogs", "hundert Menschen, 3 Hunde"),
        ("en-zh", "30 million and 350,000", "3000万和35万"),
        ("zh-en", "有3亿5000万人", "There are 350 million people"),
        ("zh-en", "多存两成，6成是男性", "saved 20% more, 60% are men"),
        ("en-de", "for 30 years", "seit 3 Jahrzehnten"),
        ("en-zh", "21 of 35 per cent", "百分之三十五中的二十一"),
        ("zh-en", "二〇二三年有15人", "In 2023 there were 15 people"),
        ("en-de", "$1.5bn", "1500 Millionen $"),
        ("ko-en", "15만 명", "150,000 people"),
        ("zh-en", "1.5亿人", "150 million people"),
        # Times, dates, decades.
        ("en-de", "at 10:30 p.m.", "um 22.30 Uhr"),
        ("de-en", "um 22:15 Uhr", "at 10:15 pm"),
        ("en-de", "on 5/12/2023", "am 12.05.2023"),
        ("en-de", "2023-05-12", "12. Mai 2023"),
        ("en-de", "the 1980s", "die 80er"),
        # Copied as they stand, and names.
        ("en-de", "Version 3.5 of 1.234", "Version 3.5 von 1.234"),
        ("en-zh", "COVID-19, H2O, B-52", "新冠病毒，水，轰炸机"),
        ("en-de", "in 2020 300 people", "2020 waren es 300 Menschen"),
        ("en-de", "pages 13-17", "Seiten 13–17"),
        # Of placeholders.
        ("en-de", "%25$s, {14}, <x id='33'/>", "nichts"),
    ],
)
def test_no_false_alarms(pair: str, source: str, hypothesis: str) -> None:
    assert compared(source, hypothesis, pair) == ([], [])


@pytest.mark.parametrize(
    ("pair", "source", "hypothesis", "changed", "missing"),
    [
        ("en-de", "1,500 km", "1,5 km", ["1,5"], []),
        ("en-de", "1.5 km", "1.500 km", ["1.500"], []),
        ("en-de", "in 1999", "im Jahr 1989", ["1989"], []),
        ("en-de", "in 1999, 17 people", "17 Menschen", [], ["1999"]),
        ("en-de", "500 people", "1.500 Menschen", ["1.500"], []),
        ("en-de", "3 apples", "4 Äpfel", ["4"], []),
        ("en-zh", "30 million", "3000亿", ["3000亿"], []),
        ("en-zh", "37 apples", "三十八个苹果", [], ["37"]),
        ("en-de", "17 😀 and 18", "😀 18", [], ["17"]),
        ("", "17", "18", ["18"], []),
    ],
)
def test_findings(pair: str, source: str, hypothesis: str, changed: list[str], missing: list[str]) -> None:
    assert compared(source, hypothesis, pair) == (changed, missing)


def test_references_know_better() -> None:
    assert compared("5.5 feet, 1999", "168 cm", "en-de", "168 cm, 1999") == ([], ["1999"])
    assert compared("5.5 feet, 1999", "168 cm", "en-de", "168 cm") == ([], [])


def test_readings() -> None:
    (number,) = numbers.find("1,234 million", "en")
    assert number.readings == {"1,234", Decimal(1234), Decimal(1_234_000_000)}
    assert {value for value in next(numbers.find("1,234")).readings if value != "1,234"} == {
        Decimal(1234),
        Decimal("1.234"),
    }
