"""One system's translations in three files, for the tests of tasks and of commands."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import write


def write_files(folder: Path) -> None:
    write(folder / "a.csv", "source,target", "One 1,Eins 2")
    write(folder / "c.po", 'msgid "Two 2"', 'msgstr "Zwei 3"')
    unit = '<trans-unit id="t"><source>Three 3</source><target>Drei 4</target></trans-unit>'
    head = '<xliff version="1.2"><file source-language="en" target-language="de"><body>'
    write(folder / "b.xlf", f"{head}{unit}</body></file></xliff>")
