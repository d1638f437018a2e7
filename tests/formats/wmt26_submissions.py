"""A test set of WMT 2026 made by hand, and a validator of submissions written from the pages of the task.

https://www2.statmt.org/wmt26/mteval-subtask1.html: errors are start and end indices with the severity minor or major;
https://www2.statmt.org/wmt26/mteval-subtask2.html: scores are from 0 to 100, one for each segment and system;
https://www2.statmt.org/wmt26/mteval-subtask3.html: the label is 1 for error-free, 0 for contains errors. The keys are
those of public submissions (Ammonsh/WMT26-QE-baselines).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GERMAN = "official_###_eng_Latn_###_deu_Latn_###_news_###_paper.7_###_0"
CHINESE = "official_###_eng_Latn_###_zho_Hant_TW_###_speech_###_talk_###_3_###_1"
CHALLENGE = "challenge_###_en_###_de_DE_###_numbers_###_set_###_12"
TEST_SET: list[dict[str, Any]] = [
    {
        "item_id": GERMAN,
        "src": "The shop closes at six.",
        "ref": {"text": "Der Laden schließt um sechs.", "type": "postedit"},
        "hyps": {"Big One": "Der Laden öffnet um sechs.", "tiny": ""},
    },
    {"item_id": CHINESE, "src": "Hello 😀 there.", "ref": None, "hyps": {"Big One": "😀 哈囉。"}},
    {"item_id": CHALLENGE, "src": "12 apples", "hyps": {"Big One": "21 Äpfel", "tiny": "12 Äpfel"}},
]


def write_test_set(path: Path) -> Path:
    path.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in TEST_SET), encoding="utf-8")
    return path


def problems(submission: str, *, tasks: tuple[int, ...] = (1, 2, 3)) -> Iterator[str]:
    """Yields what a submission to some tasks has wrong."""
    lines = [json.loads(line) for line in submission.splitlines()]
    if [line["item_id"] for line in lines] != [line["item_id"] for line in TEST_SET]:
        yield "item_ids differ from those of the test set"
    for line, segment in zip(lines, TEST_SET, strict=False):
        if line.keys() != {"item_id", *(f"task{task}_pred" for task in tasks)}:
            yield f"keys {list(line)}"
        for task in tasks:
            predicted = line.get(f"task{task}_pred", {})
            if predicted.keys() != segment["hyps"].keys():
                yield f"task {task}: systems {list(predicted)}"
            for system, value in predicted.items():
                yield from (_errors, _score, _label)[task - 1](value, segment["hyps"].get(system, ""))


def _errors(value: Any, hypothesis: str) -> Iterator[str]:
    if value.keys() != {"errors", "omission", "instruction_fault"}:
        yield f"keys of errors {list(value)}"
    for error in value["errors"]:
        is_place = type(error["start"]) is type(error["end"]) is int and 0 <= error["start"] < error["end"]
        if not is_place or error["end"] > len(hypothesis):
            yield f"place {error}"
        if error["severity"] not in ("minor", "major") or not isinstance(error["category"], str):
            yield f"severity or category {error}"
    for name in ("omission", "instruction_fault"):
        if value[name] not in (None, "minor", "major"):
            yield f"{name} {value[name]!r}"


def _score(value: Any, hypothesis: str) -> Iterator[str]:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 100:
        yield f"score {value!r}"


def _label(value: Any, hypothesis: str) -> Iterator[str]:
    if type(value) is not int or value not in (0, 1):
        yield f"label {value!r}"
