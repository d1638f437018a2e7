"""A few damaged inputs of every reader; `python -m tests.hardening.fuzz` tries more."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from matese.errors import FormatError
from matese.formats import detection
from tests.formats.localisation.test_translation_files import PO
from tests.hardening import fuzz

FOUND = [("po", PO.replace("Ein", "Ein \\9"))]
"""Files that ended in a traceback once."""


def test_damaged_input_is_read_or_refused(tmp_path: Path, tiny_model_dir: Path) -> None:
    n_targets = 0
    for n_targets, target in enumerate(fuzz.targets(tmp_path, tiny_model_dir), start=1):  # noqa: B007
        fuzz.search(target)
    assert n_targets >= 30


def test_offsets_beyond_the_buffer(tmp_path: Path) -> None:
    """Arrow would read other memory, or end the process."""
    pyarrow = pytest.importorskip("pyarrow")
    datasets = pytest.importorskip("datasets")
    offsets = pyarrow.py_buffer(struct.pack("<3i", 0, 1 << 30, 3))
    texts = pyarrow.StringArray.from_buffers(2, offsets, pyarrow.py_buffer(b"abc"))
    datasets.Dataset.from_dict({"hypothesis": ["a", "bc"], "source": ["x", "y"]}).save_to_disk(str(tmp_path / "set"))
    table = pyarrow.table({"hypothesis": texts, "source": ["x", "y"]})
    (file,) = (tmp_path / "set").glob("*.arrow")
    with pyarrow.ipc.new_stream(str(file), table.schema) as stream:
        stream.write_table(table)
    with pytest.raises(FormatError, match=r"no data set \(.*\); fetch or write the file again"):
        list(detection.read(tmp_path / "set"))


@pytest.mark.parametrize(("name", "content"), FOUND)
def test_what_was_a_fault(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / f"file.{name}").write_text(content, encoding="utf-8")
    assert list(detection.read(tmp_path / f"file.{name}", name=name))
