"""`matese convert`: ratings from one format into another, with what the other does not hold counted."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from matese.annotation import Rating
from matese.cli import exports, options, output, streams
from matese.cli.errors import UsageError, describe
from matese.formats import FormatError, Note, detection
from matese.formats.format import Reading
from matese.formats.table import READ, TABLE, WRITTEN

_EPILOG = """formats (r: read, w: written):
{formats}

  IN's format is told by how it begins; standard input (-) is JSONL unless --from says otherwise. What OUT's format does
  not hold is left out, and told by kind and count. docs/formats.md says what each format holds.

examples:
  matese convert spans.jsonl ted.tsv --to mqm-tsv
  matese convert spans.jsonl tasks --to label-studio
  matese convert export.json corrected.jsonl --to jsonl --before spans.jsonl
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command and its options."""
    lines = (f"  {'r' if one.read else '-'}{'w' if one.writes else '-'} {one.name:<16} {one.title}" for one in TABLE)
    parser = subparsers.add_parser(
        "convert",
        help="ratings from one format into another",
        description="Converts files of ratings between the formats of annotation tools, shared tasks and ours.",
        epilog=_EPILOG.format(formats="\n".join(lines)),
    )
    parser.add_argument("input", metavar="IN", help="ratings; - is standard input")
    parser.add_argument(
        "output", metavar="OUT", help="where they are written, whole or not at all; - is standard output"
    )
    parser.add_argument("--to", required=True, type=options.choice("format", *WRITTEN), metavar="FORMAT")
    parser.add_argument(
        "--from", dest="from_", type=options.choice("format", *READ), metavar="FORMAT", help="(default: told by IN)"
    )
    parser.add_argument("--strict", action="store_true", help="stop where a row is faulty or something would be lost")
    reading = parser.add_argument_group("reading")
    reading.add_argument("--test-set", metavar="NAME", help="of files that do not say it")
    reading.add_argument("--lang-pair", metavar="PAIR", help='of files that do not say it: "en-de"')
    reading.add_argument("--rater", metavar="NAME", help="who has rated, whatever IN says")
    add_offsets(reading)
    reading.add_argument(
        "--before",
        metavar="FILE",
        help="what the raters of IN were given: tell how many spans they kept, changed, removed and added",
    )
    writing = parser.add_argument_group("writing")
    writing.add_argument(
        "--weights",
        type=options.known_weights,
        default="matese",
        metavar="NAME|FILE",
        help="of scores: what errors cost, a preset or a YAML file (default: matese)",
    )
    exports.add_writing(writing)


def add_offsets(group: argparse._ArgumentGroup) -> None:
    """Adds how the offsets of error-span TSV are read."""
    group.add_argument("--end-shift", type=int, default=0, metavar="N", help="error-spans: add to every end")
    group.add_argument(
        "--single-characters", action="store_true", help="error-spans: an end equal to its start marks a character"
    )


def run(args: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    weights = options.weights(args.weights)
    output.check_apart(args.output, [args.input, *([args.before] if args.before else [])])
    notes: Counter[Note] = Counter()

    def count(note: Note) -> None:
        notes[Note(note.kind, note.reason, note.path, 0)] += 1

    reading = Reading(
        None if args.strict else count, args.test_set, args.lang_pair, args.end_shift, args.single_characters
    )
    ratings = read(args.input, args.from_, reading)
    if args.rater is not None:
        ratings = (replace(rating, rater=args.rater) for rating in ratings)
    if args.before is not None:
        ratings = _compared(ratings, args.before, reading)
    exports.write(ratings, args.output, args.to, exports.writing(args, weights), is_strict=args.strict)
    for note, n in notes.most_common():
        streams.say(f"{note.path}: {n:,} row{'s' * (n != 1)} {note.kind}: {note.reason}")
    return 0


def read(path: str, name: str | None, reading: Reading) -> Iterator[Rating]:
    """Yields the ratings of a file.

    Args:
        path: of the file.
        name: the format that `--from` says; None: it is told by how the file begins.
        reading: how it is read.

    Raises:
        UsageError: if it is not in that format, but in another.
        FormatError: if it is in none, or holds no rating.
        OSError: where it cannot be read.
    """
    if name is None:
        yield from _some(detection.read_as(path, detection.detect(path), reading), path)
        return
    ratings = _some(detection.read_as(path, name, reading), path)
    try:
        first = next(ratings)
    except (ValueError, OSError) as error:
        guess = _guess(path)
        if guess in (None, name):
            raise
        problem = f"--from {name}: {path} cannot be read so ({describe(error) or error}), and begins like {guess}"
        raise UsageError(f"{problem}: must be --from {guess} or left out") from None
    yield first
    yield from ratings


def _guess(path: str) -> str | None:
    """Returns the format as which a file begins, if one rating of it can be read so."""
    if path == "-":
        return None
    try:
        name = detection.detect(path)
        return name if any(True for _ in detection.read_as(path, name, Reading(lambda note: None))) else None
    except (ValueError, OSError):
        return None


def _some(ratings: Iterable[Rating], path: str) -> Iterator[Rating]:
    """Yields the ratings. Raises a FormatError if there is none."""
    rating = None
    for rating in ratings:
        yield rating
    if rating is None:
        raise FormatError(path, None, "holds no rating: must be one or more")


def _compared(ratings: Iterable[Rating], before: str, reading: Reading) -> Iterator[Rating]:
    """Yields the ratings, and tells at the end what became of the spans that were given before."""
    from matese.evaluation import edits

    held = list(ratings)
    try:
        given = detection.read_as(before, detection.detect(before), reading)
        found = edits.measure(given, held)
    except FormatError:
        raise
    except ValueError as error:
        raise UsageError(f"--before {before}: {error}") from None
    yield from held
    changed = f"{found.moved + found.judged_anew:,} changed ({found.moved:,} moved, {found.judged_anew:,} judged anew)"
    streams.say(
        f"of {found.given:,} spans given: {found.kept:,} kept, {changed}, {found.removed:,} removed; "
        f"{found.added:,} added; {found.untouched:,} of {found.ratings:,} ratings untouched"
    )
