"""Writes real segments for `make.py` to standard output: JSONL of objects with `src`, `mt` and `ref`.

    python tests/model/released/comet/texts.py $MATESE_DATA/wmt/newstest2021.tar.xz > texts.jsonl

500 segments of WMT21 news in four language pairs, and 20 long ones, each of 12 neighbouring segments.
"""

from __future__ import annotations

import json
import sys
import tarfile
from collections.abc import Iterator

LANG_PAIRS = ("de-en", "en-de", "en-ru", "zh-en")
N_SEGMENTS = 125
N_LONG = 5
N_JOINED = 12


def main() -> None:
    """Writes the segments."""
    for lang_pair in LANG_PAIRS:
        rows = list(zip(*read(sys.argv[1], lang_pair), strict=True))
        sampled = [rows[number * len(rows) // N_SEGMENTS] for number in range(N_SEGMENTS)]
        for number in range(N_LONG):
            start = number * (len(rows) - N_JOINED) // N_LONG
            joined = zip(*rows[start : start + N_JOINED], strict=True)
            sampled.append(tuple(" ".join(texts) for texts in joined))
        for row in sampled:
            print(json.dumps(dict(zip(("src", "mt", "ref"), row, strict=True)), ensure_ascii=False))  # noqa: T201


def read(archive: str, lang_pair: str) -> Iterator[list[str]]:
    """Yields the lines of the source, of the first system by name, and of the reference A."""
    source, target = lang_pair.split("-")
    with tarfile.open(archive) as tar:
        names = tar.getnames()
        system = min(name for name in names if f"/system-outputs/newstest2021.{lang_pair}.hyp." in name)
        test_set = f"./txt/{{}}/newstest2021.{lang_pair}."
        for name in (
            f"{test_set.format('sources')}src.{source}",
            system,
            f"{test_set.format('references')}ref.A.{target}",
        ):
            file = tar.extractfile(name)
            assert file is not None
            yield file.read().decode("utf-8").splitlines()


if __name__ == "__main__":
    main()
