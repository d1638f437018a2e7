"""Tags of MQM in tables, as translate5 exports them."""

from __future__ import annotations

from pathlib import Path

import pytest

from matese.errors import FormatError
from matese.formats import detection
from tests.formats.reading import marks


def start(number: int, *, agent: str = "anna", note: str = "", severity: str = "minor") -> str:
    kind = f'type="Style/Odd" severity="{severity}" note="{note}" agent="{agent}"'
    return f'<mqm:startIssue {kind} id="{number}"/>'


def end(number: int) -> str:
    return f'<mqm:endIssue id="{number}"/>'


def table(path: Path, target: str, source: str = "A house") -> Path:
    cells = [text.replace('"', '""') for text in (source, target)]
    path.write_text(f'source,target\n"{cells[0]}","{cells[1]}"\n', encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("target", "source", "expected"),
    [
        ("Ein Haus", "A house", ["None: no spans"]),
        (f"{start(1)}Ein{end(1)} Haus", "A house", ["anna: 0-3 minor Style/Odd"]),
        (f"Ein {start(1)}Haus", f"A {start(1)}house", None),
        (
            f"Ein {start(1)}H{start(2)}au{end(1)}s{end(2)}",
            "A house",
            ["anna: 4-7 minor Style/Odd, 5-8 minor Style/Odd"],
        ),
        (f"Ein{start(1, severity='critical')}{end(1)}", "A house", ["anna: - critical Style/Odd"]),
        ("Ein", f"A {start(7)}house{end(7)}", ["anna: source 2-7 minor Style/Odd"]),
        (
            f"{start(1, agent='ben')}Ein{end(1)} {start(2)}Haus{end(2)}",
            "A house",
            ["ben: 0-3 minor Style/Odd", "anna: 4-8 minor Style/Odd"],
        ),
        (f"Ein Haus{end(3)}", "A house", None),
        (f"{start(1, severity='odd')}Ein{end(1)} Haus", "A house", None),
    ],
)
def test_each_agent_is_a_rater(tmp_path: Path, target: str, source: str, expected: list[str] | None) -> None:
    path = table(tmp_path / "a.csv", target, source)
    if expected is None:
        with pytest.raises(FormatError) as raised:
            list(detection.read(path))
        assert raised.value.line == 2
        return
    ratings = list(detection.read(path))
    assert [f"{rating.rater}: {marks(rating)}" for rating in ratings] == expected
    assert not any("mqm:" in f"{rating.segment.hypothesis}{rating.segment.source}" for rating in ratings)


def test_a_note_is_a_reason(tmp_path: Path) -> None:
    (rating,) = detection.read(table(tmp_path / "a.csv", f"{start(1, note='a &amp; b')}Ein{end(1)}"))
    assert [error.reason for error in rating.errors or ()] == ["a & b"]
