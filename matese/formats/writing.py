"""Writing ratings in any format: the whole file or nothing, and a count of everything that the format cannot hold."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from matese import mqm
from matese.annotation import Rating
from matese.errors import InputError, UsageError, one_of, unknown
from matese.files import compress_as_named, open_text, replacing
from matese.formats import detection, registry
from matese.formats.capabilities import Reducer
from matese.formats.format import WriteOptions, renumbered
from matese.formats.registry import BY_NAME, WRITTEN


def write(
    ratings: Iterable[Rating], path: str | Path, name: str, options: WriteOptions | None = None, *, strict: bool = False
) -> Counter[str]:
    """Writes ratings to a file or folder and returns how often something was lost, by kind.

    Args:
        ratings: what is written.
        path: the file or folder; a folder must be new or empty.
        name: of the format.
        options: what is written beside the ratings.
        strict: refuse to lose anything.

    Raises:
        InputError: if the place cannot be written; with `strict`, if something would be lost. Nothing is written then.
    """
    form = BY_NAME[name]
    options = options or WriteOptions()
    check_target(path, name)
    if form.writes == "corrections" and not options.corrections_only:
        allowed = "give --corrections-only to write the corrected translations, or another format for the marks"
        raise InputError(f"{name} can hold no notes: {allowed}")
    if form.is_copy and options.template is not None:
        _check_template(options.template, name)
    reducer = Reducer(form.capabilities, adapt=form.adapt)
    reduced = (renumbered(fit, form.first_segment) for fit in map(reducer.reduce, ratings) if fit is not None)
    with replacing(path) as target:
        try:
            if form.save is not None:
                form.save(reduced, target, options)
                if not form.is_folder:
                    compress_as_named(target, path)
            elif form.write is not None:
                with open_text(target, path) as stream:
                    stream.writelines(form.write(reduced, options))
        except UnicodeEncodeError as error:
            problem = f"{error.object[error.start : error.end]!r} is not Unicode"
            raise InputError(f"{problem}: texts and names cannot hold halves of surrogate pairs") from None
        if reducer.losses and strict:
            raise InputError(
                f"{name} would leave out or change: {describe_losses(reducer.losses)}; --strict allows no loss"
            )
    return reducer.losses


def write_as(
    ratings: Iterable[Rating],
    path: str | PathLike[str],
    *,
    format: str | None,  # noqa: A002
    weights: mqm.AnyWeights,
    template: str | PathLike[str] | None,
    strict: bool,
) -> Counter[str]:
    """Writes ratings as `matese.write` does, which describes the arguments, the result and the errors."""
    if format is not None and format not in WRITTEN:
        raise UsageError(unknown("format", format, WRITTEN))
    name = registry.format_of(str(path), format)
    options = WriteOptions(mqm.find_weights(weights), template=None if template is None else Path(template))
    return write(ratings, str(path), name, options, strict=strict)


def _check_template(template: Path, name: str) -> None:
    """Raises an InputError if the copy of a file would be in another format than that file; SRT is copied as VTT."""
    kind = detection.detect(template)
    wanted = ("srt", "vtt") if kind == "srt" else (kind,)
    if BY_NAME[kind].is_for_localisation and name not in wanted:
        copies = one_of(wanted)
        raise InputError(f"template {template} is {kind}: a copy of it is {copies}, not {name}; name the output so")


def check_has_name(name: str, path: str | Path) -> None:
    """Raises an InputError if the format is a folder or binary file, which cannot be written to a stream."""
    form = BY_NAME[name]
    if form.writes != "text":
        kind = "a folder" if form.is_folder else "a copy of a file" if form.is_copy else "a binary file"
        raise InputError(f"{name} is {kind}: give a name in place of {path}")


def describe_losses(losses: Counter[str]) -> str:
    """Returns kinds and counts, the most frequent first.

    >>> describe_losses(Counter({"sources": 2, "references": 1200}))
    'references: 1,200; sources: 2'
    """
    return "; ".join(f"{kind}: {count:,}" for kind, count in losses.most_common())


def check_target(path: str | Path, name: str) -> None:
    """Raises an InputError before the work if nothing can be written in a format at a place."""
    form = BY_NAME[name]
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise InputError(f"output {path}: its directory does not exist: create it first")
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"output {path}: permission denied; choose a directory that can be written")
    if form.is_folder and target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"output {path} exists: {form.name} writes a folder, which must be new or empty")
    if not form.is_folder and target.is_dir():
        raise InputError(f"output {path}: is a directory; choose a file that can be written")
