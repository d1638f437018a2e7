"""Adds the sources of files to what the directory of a model says that it has learned from.

    python -m data_prep.training_sources matese/models/mini data/prepared/{train,bio,esa,gemba,remedy}.jsonl

`matese train` does so itself; this is for models of earlier versions, and for texts that were seen in another way.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from matese import files
from matese.model.storage import checkpoint
from matese.model.training_data import hashed
from matese.training.reading import read


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes `training_data.json`; everything else in it stays."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="the directory")
    parser.add_argument("files", nargs="+", help="ratings that the model has learned from")
    options = parser.parse_args(arguments)
    earlier_sources = checkpoint.read_training_data(options.model).sources
    sources = {rating.segment.source for rating in read(options.files)} - {None}
    path = options.model / checkpoint.TRAINING_DATA
    values = checkpoint.read_json(path) if path.is_file() else {}
    values["sources"] = hashed(filter(None, sources), earlier_sources)
    with files.replacing(path) as temporary:
        temporary.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
