"""`matese tag --shard`: one part of the segments, into a file that a killed run leaves to be gone on with.

What a run has written is its state: lines in FILE.part, which is called FILE when it is complete. A later start
compares each of them with the segment that it would tag now and the signature that it would give, and goes on behind.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from matese.annotation import Segment
from matese.cli import model, options, output, progress, segments, streams
from matese.cli.output import Output
from matese.formats import json_values, jsonl
from matese.formats.lines import FormatError, read_lines

if TYPE_CHECKING:
    from matese.annotator import Annotator

_OTHER = "is of other texts, another model or other options: must be continued with the same ones, or be removed"


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several parts, which together hold every segment once and in order.

    Attributes:
        number: which part, from 1.
        count: how many there are.
    """

    number: int
    count: int

    def places(self, n_segments: int) -> range:
        """Returns where the part stands among so many segments.

        >>> [list(Shard(number, 3).places(7)) for number in (1, 2, 3)]
        [[0, 1], [2, 3], [4, 5, 6]]
        """
        return range(n_segments * (self.number - 1) // self.count, n_segments * self.number // self.count)


def shard(value: str) -> Shard:
    """Returns the part that an option's value names."""
    match = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", value)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"{value!r} must be I/N, whole numbers, I from 1 to N")
    return Shard(int(match[1]), int(match[2]))


def run(args: argparse.Namespace) -> int:
    """Tags one part; a part that is complete is only checked."""
    options.require(
        args.format == "jsonl" and args.output not in (None, "-") and not output.is_device(args.output),
        "--shard needs --format jsonl and --output FILE, which holds what is gone on with",
    )
    options.require(
        not args.only_errors and args.limit is None,
        "--only-errors and --limit are not for --shard: each of its segments is written",
    )
    options.require(args.checks is None, "--checks is not for --shard: must be a command of its own")
    weights = options.weights(args.weights)
    target, part = Path(args.output), Path(f"{args.output}.part")
    for path in (target, part):
        output.check_apart(str(path), [*args.hyp, *args.ref, *args.src, *filter(None, [args.input])])
    given = segments.read(args)
    places = args.shard.places(given.n_segments)
    own = islice(chain.from_iterable(system.read() for system in given.systems), places.start, places.stop)
    with model.loaded(args, weights) as annotator:
        if target.exists():
            n_done = _skip(target, own, annotator, with_tokens=args.tokens)
            if n_done < len(places):
                problem = f"holds {n_done:,} of the {len(places):,} segments of shard {args.shard.number}"
                raise FormatError(str(target), None, f"{problem}: must hold all of them, or be removed")
            streams.say(f"{target} is complete: nothing to do")
            return 0
        n_done = 0
        if part.exists():
            _cut(part)
            n_done = _skip(part, own, annotator, with_tokens=args.tokens)
            streams.say(f"going on behind {n_done:,} of {len(places):,} segments")
        _tag(args, own, len(places) - n_done, annotator, part)
    os.replace(part, target)
    return 0


def _cut(path: Path) -> None:
    """Takes away the beginning of a line that was being written when the run was killed."""
    with open(path, "r+b") as file:
        file.truncate(sum(len(line) for line in file if line.endswith(b"\n")))


def _skip(path: Path, segments: Iterator[Segment], annotator: Annotator, *, with_tokens: bool) -> int:
    """Takes from the segments those that a file holds, and returns how many.

    Raises:
        FormatError: at the first line that this start would write otherwise.
    """
    number = 0
    for number, line in enumerate(read_lines(path), start=1):
        segment = next(segments, None)
        try:
            value = json_values.parse(line)
            rating = jsonl.from_json(value)
        except ValueError as error:
            raise FormatError(str(path), number, str(error)) from None
        has_tokens = "tokens" in json_values.Fields.open(value).values
        is_ours = rating.segment == segment and has_tokens == with_tokens
        if not is_ours or rating.rater != _signature(annotator, rating.segment):
            raise FormatError(str(path), number, _OTHER)
    return number


def _signature(annotator: Annotator, segment: Segment) -> str:
    return annotator.signature(annotator.choose_inputs(segment), len(segment.references))


def _tag(
    args: argparse.Namespace, segments: Iterator[Segment], n_segments: int, annotator: Annotator, part: Path
) -> None:
    weights = annotator.options.weights
    with open(part, "a", encoding="utf-8", newline="\n") as stream, progress.shown(n_segments) as bar:
        results = Output(stream, str(part), is_stdout=False, is_live=True)
        for rating, tokens in annotator.annotate_tokens(segments):
            line = jsonl.dumps(rating, weights=weights, tokens=tokens if args.tokens else None)
            results.write(f"{line}\n")
            bar.advance()
        with streams.naming(str(part)):
            os.fsync(stream.fileno())  # some file systems find only now that the disk is full
    model.say_counts(annotator.counts, n_segments)
