"""A field that errors get tomorrow: formats that lose nothing hold it, and all others count it."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
TYPES = "matese.annotation.rating"
LAST = "    reason: str | None = None\n"


class WithField:
    """Finds and loads the module of the types, in which errors have a `mood`."""

    def find_spec(self, name: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(name, self) if name == TYPES else None  # type: ignore[arg-type]

    def create_module(self, spec: object) -> None: ...

    def exec_module(self, module: ModuleType) -> None:
        text = (ROOT / f"{TYPES.replace('.', '/')}.py").read_text(encoding="utf-8")
        assert text.count(LAST) >= 2
        exec(text.replace(LAST, f"{LAST}    mood: str | None = None\n"), vars(module))


def lose_it() -> None:
    """Raises AssertionError for the first format that neither holds nor counts the field."""
    from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey
    from matese.formats.capabilities import EVERYTHING
    from tests.formats import test_round_trips as round_trips

    mood: Any = {"mood": "indicative"}  # which the types as they are do not have
    span = ErrorSpan(0, 1, None, **mood)
    omission = Omission("source", None, 0, 1, None, **mood)
    segment = Segment("a", "b", key=SegmentKey(None, "en-de", "A", "d", 0))
    rating = Rating(segment, "r", (span,), (span,), (omission,))
    holding = []
    forms: list[Any] = [case.values[0] for case in round_trips.BOTH]
    for form in forms:
        reduced, losses = round_trips.fitted(form, [rating])
        if form.capabilities.details == EVERYTHING.details:
            holding.append(form.name)
            with tempfile.TemporaryDirectory() as folder:
                assert round_trips.read(form, round_trips.write(form, reduced, Path(folder))) == [rating], form.name
        else:
            assert losses["moods"] >= 1, form.name
    sys.stdout.write(" ".join(holding))


def test_no_format_loses_a_new_field_in_silence() -> None:
    program = f"import sys; from {__name__} import WithField, lose_it; sys.meta_path.insert(0, WithField()); lose_it()"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.stdout.split(), ran.stderr) == (["tsv", "csv", "xlsx", "parquet", "hf-dataset", "json", "jsonl"], "")
