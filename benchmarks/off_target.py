"""Measure how often the check of languages marks translations by people, and sources that were left as they are.

    python -m benchmarks.off_target --data data/prepared/human.jsonl

The file holds human translations of WMT (`python -m data_prep translations`). Of each language pair, `--limit`
translations are drawn; pairs whose target language py3langid does not know are left out.
"""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

import matese
from benchmarks import markdown
from matese.annotation import Segment
from matese.checks import language
from matese.errors import InputError
from matese.text import languages_of


def drawn(path: Path, limit: int) -> dict[str, list[Segment]]:
    """Returns at most `limit` segments of each language pair."""
    by_pair: dict[str, list[Segment]] = defaultdict(list)
    for rating in matese.read(path):
        if rating.segment.key is not None and rating.segment.key.lang_pair is not None:
            by_pair[rating.segment.key.lang_pair].append(rating.segment)
    rng = random.Random(1)
    return {pair: rng.sample(rows, min(limit, len(rows))) for pair, rows in sorted(by_pair.items())}


def count(segments: list[Segment]) -> tuple[int, int]:
    """Returns how many of the translations, and how many of their sources, are marked."""
    source_lang, target_lang = languages_of(segments[0].key)

    def is_marked(text: str) -> bool:
        return any(language.off_target(text, source_lang=source_lang, target_lang=target_lang))

    n_translations = sum(is_marked(segment.hypothesis) for segment in segments)
    return n_translations, sum(is_marked(segment.source or "") for segment in segments)


def main() -> None:
    """Prints the table."""
    parser = markdown.parser(__doc__, "--data")
    parser.add_argument("--limit", type=int, default=300, metavar="N", help="of each language pair; default: 300")
    arguments = parser.parse_args()
    if not language.is_available():
        raise InputError("py3langid is not installed: install the extra 'languages'")
    rows = []
    for pair, segments in drawn(arguments.data, arguments.limit).items():
        _, target_lang = languages_of(segments[0].key)
        if language.knows(target_lang):
            rows.append((pair, len(segments), *count(segments)))
    total = ("all", *(sum(column) for column in list(zip(*rows, strict=True))[1:]))
    cells = [[str(value) for value in row] for row in (*rows, total)]
    print(*markdown.table(["", "translations", "marked", "sources marked"], cells), sep="\n")


if __name__ == "__main__":
    main()
