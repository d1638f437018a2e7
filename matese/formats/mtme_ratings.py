"""A test set directory of mt-metrics-eval (see `mt_metrics_eval`) as ratings: what its raters marked, with all texts.

Read are all files `human-scores/LP.NAME.seg.rating`; of a language pair without one, `LP.NAME.seg.score` whose NAME
tells the scale (`mqm`, `esa`, `da`, `wmt-raw`, `wmt-z`, ...), as overall judgements with spans that were not asked for.
Who has rated is the file's NAME where the line does not say it. Segments count from 1. The references of a segment are
all of its language pair; a human translation that was rated is no reference of itself.

`mtme-scores` and `seg-rating` write such files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from matese.annotation import Overall, Rating, Scale, Segment, SegmentKey
from matese.formats import seg_ratings
from matese.formats.format import PLAIN, Reading, Start
from matese.formats.lines import FormatError
from matese.formats.metric_scores import read_positional
from matese.formats.mt_metrics_eval import TestSet

_FILE = re.compile(r"(?P<lang_pair>[^.]+)\.(?P<name>.+)\.seg\.(?P<kind>rating|score)")
_SCALES: tuple[tuple[str, Scale], ...] = (("mqm", "mqm"), ("esa", "esa"), ("z", "z"), ("raw", "da"), ("da", "da"))


def begins(start: Start) -> bool:
    """Whether a folder is such a directory."""
    return {"human-scores", "sources", "system-outputs"} <= set(start.files)


def read(path: str | Path, reading: Reading = PLAIN) -> Iterator[Rating]:
    """Yields the ratings, a language pair after the other; of one alone, where the reading names it.

    Raises:
        FormatError: if there are none, or a file is not in its format.
        OSError: where a file cannot be read.
    """
    folder = Path(path) / "human-scores"
    names = sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []
    files = [match for match in map(_FILE.fullmatch, names) if match]
    found = sorted({match["lang_pair"] for match in files})
    wanted = [one for one in found if reading.lang_pair in (None, one)]
    if not wanted:
        allowed = "must hold LP.NAME.seg.rating or LP.NAME.seg.score"
        of_pair = "" if reading.lang_pair is None else f" of {reading.lang_pair}"
        raise FormatError(str(folder), None, f"no ratings of segments{of_pair}: {allowed}")
    for lang_pair in wanted:
        key = SegmentKey(reading.test_set or Path(path).resolve().name, lang_pair)
        pair = _Pair.open(TestSet(Path(path)), key)
        own = [match for match in files if match["lang_pair"] == lang_pair]
        for match in [match for match in own if match["kind"] == "rating"] or own:
            yield from (pair.placed(rating, match["name"]) for rating in _ratings(pair, folder / match[0], match))


@dataclass(frozen=True, slots=True)
class _Pair:
    """A language pair of a test set, with its texts."""

    key: SegmentKey
    sources: list[str]
    references: dict[str, list[str]]
    documents: list[tuple[str, str]] | None
    texts: dict[str, Sequence[str]]

    @classmethod
    def open(cls, test_set: TestSet, key: SegmentKey) -> _Pair:
        """Returns the language pair of a key, whose other fields hold for all its segments."""
        pair = key.lang_pair or ""
        has_documents = (test_set.root / "documents" / f"{pair}.docs").is_file()
        return cls(
            key,
            test_set.sources(pair),
            {name: test_set.reference(pair, name) for name in test_set.references(pair)},
            test_set.documents(pair) if has_documents else None,
            {system: test_set.texts(pair, system) for system in test_set.systems(pair)},
        )

    def placed(self, rating: Rating, name: str) -> Rating:
        """Returns a rating of a file of this name with all that is known of its segment."""
        key = rating.segment.key or SegmentKey()
        place = (key.index or 1) - 1
        document = None if self.documents is None else self.documents[place][1]
        references = tuple(lines[place] for one, lines in self.references.items() if one != key.system)
        key = replace(self.key, system=key.system, document=document, index=key.index)
        return replace(
            rating, segment=replace(rating.segment, references=references, key=key), rater=rating.rater or name
        )


def _ratings(pair: _Pair, path: Path, match: re.Match[str]) -> Iterator[Rating]:
    """Yields the ratings of a file of human scores."""
    if match["kind"] == "rating":
        yield from seg_ratings.read(path, pair.texts, pair.sources)
        return
    scale = next((scale for ending, scale in _SCALES if re.split("[-.]", match["name"])[-1] == ending), None)
    if scale is None:
        return
    for system, scores in read_positional(path, match["name"], is_segments=True).segments.items():
        if len(scores) != len(pair.texts.get(system, ())):
            problem = f"{system} has {len(scores):,} scores and its text {len(pair.texts.get(system, ())):,} lines"
            raise FormatError(str(path), None, f"{problem}: must be one each")
        for index, score in enumerate(scores.values(), start=1):
            if score is not None:
                key = SegmentKey(system=system, index=index)
                segment = Segment(pair.texts[system][index - 1], pair.sources[index - 1], key=key)
                yield Rating(segment, None, None, overall=Overall(score, scale))
