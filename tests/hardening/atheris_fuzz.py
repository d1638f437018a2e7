"""Damages one file under the guidance of coverage: inputs that reach new lines are kept and damaged further.

    pip install atheris
    python -m tests.hardening.atheris_fuzz po -runs=10000

The target is one of `tests.hardening.fuzz` that is a file; options are those of libFuzzer. It stops at the first fault.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["matese"]):
    from matese.cli import messages
    from tests.hardening import fuzz


def _main() -> None:
    name, *options = sys.argv[1:]
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        work, corpus = Path(folder, "work"), Path(folder, "corpus")
        for made in (work, work / "formats", work / "others", corpus):
            made.mkdir()
        found = {one.name: one for one in (*fuzz.formats(work / "formats"), *fuzz.others(work / "others"))}
        target = found[name]
        (corpus / "whole").write_bytes(target.path.read_bytes())

        def attack(content: bytes) -> None:
            target.path.write_bytes(content)
            try:
                target.read(target.path)
            except Exception as error:
                if messages.describe(error) is None:
                    raise

        atheris.Setup([sys.argv[0], *options, str(corpus)], attack)
        atheris.Fuzz()


if __name__ == "__main__":
    _main()
