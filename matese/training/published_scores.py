"""Published scores as a teacher: a file has the score of each segment, as the program of another metric wrote them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from matese.annotation import Estimate, Rating, Segment, SegmentKey
from matese.files import open_binary
from matese.formats.corpora import score_files


class PublishedScores:
    """A teacher that scores the translations that its file has, and no others.

    Attributes:
        name: of the metric.
        signature: names the file.
    """

    def __init__(self, path: str | Path) -> None:
        """Reads the scores.

        Raises:
            FormatError: if the file is no file of scores.
            InputError: if it has no scores of segments, or those of several metrics or language pairs.
        """
        self._scores = score_files.of_segments(path)
        self.name = self._scores.name
        with open_binary(path) as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()[:8]  # type: ignore[arg-type]
        self.signature = f"file:{self.name}@{digest}"

    def annotate_segments(self, segments: Iterable[Segment]) -> Iterator[Rating]:
        """Yields the score of each segment, as an estimate on a scale of its own.

        Raises:
            InputError: if the file has none.
        """
        for place, segment in enumerate(segments):
            system = (segment.key or SegmentKey()).system or ""
            estimate = Estimate(self._scores.score_of(system, place, segment), "comet")
            yield Rating(segment, self.signature, None, estimate=estimate)
