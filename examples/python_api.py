"""Marks the errors of the example translations and prints the worst: `python examples/python_api.py [MODEL]`."""

from __future__ import annotations

import sys
from pathlib import Path

import matese
from matese.files import read_lines


def main() -> None:
    """Annotates `mt.txt` in this folder, compared with `ref.txt`, with the embedded model or the one given."""
    folder = Path(__file__).parent
    annotator = matese.load(*sys.argv[1:2])
    ratings = annotator.annotate(list(read_lines(folder / "mt.txt")), references=list(read_lines(folder / "ref.txt")))

    for rating in sorted(ratings, key=matese.score)[:5]:
        hypothesis = rating.segment.hypothesis
        print(f"{matese.score(rating):5g}  {hypothesis}")
        for error in rating.errors or ():
            marked = hypothesis[error.start : error.end]
            severity = error.severity and error.severity.value
            print(f"       {severity}: {marked!r}, confidence {error.confidence}")
    print(f"{matese.corpus_score(map(matese.score, ratings)):5.2f}  the mean of all {len(ratings)} segments")


if __name__ == "__main__":
    main()
