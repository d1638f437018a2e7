"""Ratings of every kind, for the tests of a task and of its command."""

from __future__ import annotations

from matese.annotation import ErrorSpan, Omission, Rating, Segment, SegmentKey, Severity, UnplacedError

SEGMENT = Segment("Ein Haus.", "A tree.", key=SegmentKey("ted", "en-de", "A", "talk", 1))
RATINGS = [
    Rating(SEGMENT, "r1", (ErrorSpan(4, 8, Severity.MAJOR, "Style"), ErrorSpan(4, 7, None))),
    Rating(
        SEGMENT,
        "r2",
        (),
        omissions=(Omission("source", None, 2, 6, Severity.MINOR),),
        unplaced=(UnplacedError(Severity.MINOR),),
    ),
    Rating(Segment("x"), None, ()),
    Rating(Segment("y"), None, None),
]
