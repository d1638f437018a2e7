"""What `matese tag` marks: lines of text files, or the segments of a file in any format that can be read."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath

from matese.annotation import Rating, Segment, SegmentKey
from matese.cli import inputs, options, streams
from matese.formats import FormatError, Note, detection, localisation
from matese.formats.format import Reading

LOCALISATION = ("xliff", "po")


@dataclass(frozen=True, slots=True)
class System:
    """The segments of one system.

    Attributes:
        name: of the system; where the file does not say it, the file's without its last suffix.
        n_segments: how many they are.
        read: returns them, to be read once.
    """

    name: str
    n_segments: int
    read: Callable[[], Iterable[Segment]]


@dataclass(frozen=True, slots=True)
class Given:
    """What is marked.

    Attributes:
        systems: one after the other.
        format: of the file that holds them all; None for text files.
    """

    systems: tuple[System, ...]
    format: str | None = None

    @property
    def n_segments(self) -> int:
        """Of all systems."""
        return sum(system.n_segments for system in self.systems)

    def without_placeholders(self, rating: Rating, losses: Counter[str]) -> Rating:
        """Returns a rating as its file allows it: in XLIFF and PO placeholders are not marked, and counted."""
        return localisation.adapt(rating, losses) if self.format in LOCALISATION else rating


def read(args: argparse.Namespace) -> Given:
    """Returns what the options of a command name, read and found good.

    Raises:
        UsageError: if they do not go together.
        ValueError: as `inputs.read` and the formats' readers.
    """
    if args.input is None:
        allowed = "must be --hyp FILE with --ref or --src, or --input FILE"
        options.require(bool(args.hyp), f"neither --hyp nor --input is given: {allowed}")
        texts = inputs.read(args.hyp, args.ref, args.src, is_alone=args.checks == "only")
        systems = [
            System(one.name, texts.n_segments, partial(_placed, args.lang_pair, partial(texts.segments, one)))
            for one in texts.systems
        ]
        return Given(tuple(systems))
    others = [*args.hyp, *args.ref, *args.src]
    options.require(not others, "--input holds sources and references too: must be without --hyp, --ref and --src")
    return _of_file(args.input, args.lang_pair)


def _placed(lang_pair: str | None, segments: Callable[[], Iterator[Segment]]) -> Iterator[Segment]:
    """Yields segments with this language pair."""
    return (_with_pair(segment, lang_pair) for segment in segments())


def _with_pair(segment: Segment, lang_pair: str | None) -> Segment:
    """Returns a segment with this language pair, where it has none itself."""
    key = segment.key or SegmentKey()
    if lang_pair is None or key.lang_pair is not None:
        return segment
    return replace(segment, key=replace(key, lang_pair=lang_pair))


def _of_file(path: str, lang_pair: str | None) -> Given:
    """Returns the segments of a file, each once whoever has rated it."""
    notes: Counter[Note] = Counter()
    name = detection.detect(path)
    reading = Reading(lambda note: notes.update([replace(note, line=0)]), lang_pair=lang_pair)
    found: dict[str, dict[Segment, None]] = {}
    for rating in detection.read_as(path, name, reading):
        segment = _with_pair(rating.segment, lang_pair)
        system = (segment.key and segment.key.system) or PurePath(path).stem
        found.setdefault(system, {})[segment] = None
    if not found:
        raise FormatError(path, None, "holds no translated segment: must be one or more")
    for note, n in notes.most_common():
        streams.say(f"{note.path}: {n:,} row{'s' * (n != 1)} {note.kind}: {note.reason}")
    return Given(tuple(System(system, len(own), own.keys) for system, own in found.items()), name)
