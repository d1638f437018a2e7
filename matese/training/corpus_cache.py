"""Large training data on disk, as data sets (`datasets`) whose memory is that of their files.

A second run on the same files does not read and label them again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from matese.files import is_device, keep_newest, replacing, user_cache
from matese.formats import detection
from matese.formats.registry import BY_NAME
from matese.model.heads.learning import HeadTargets
from matese.model.texts.encoding import InputKind, TextEncoder
from matese.training.config import Config, to_builtins
from matese.training.corpus import Corpus, corpus_from_tables
from matese.version import __version__

VERSION = 9
"""Of what is kept. Raise it with every change of the tables or labels that the same files and settings give."""
FEWEST_SEGMENTS = 10_000
"""Smaller data are read quickly, and are not kept."""
N_KEPT = 4
"""Folders in the cache; the oldest are removed."""
_NOTES = "notes.json"


def cached(
    config: Config, encoder: TextEncoder, heads: Sequence[HeadTargets], build: Callable[[], tuple[Corpus, list[str]]]
) -> tuple[Corpus, list[str]]:
    """Returns the training data of a run and messages about their files, from the user's cache folder or from `build`.

    A damaged file of the cache is replaced. A cache that cannot be written costs a message, not the run.
    """
    if not all(map(_is_complete, config.data.files)) or any(texts.test_set for texts in config.data.texts):
        return build()
    directory = user_cache("training") / _key(config, encoder)
    inputs = config.model.texts.inputs
    try:
        return _load(directory, inputs, encoder, heads)
    except (OSError, ValueError, KeyError):  # there is none, or it is damaged
        corpus, messages = build()
    if len(corpus) < FEWEST_SEGMENTS:
        return corpus, messages
    try:
        _save(directory, corpus, messages)
        keep_newest(N_KEPT, directory.parent)
        return _load(directory, inputs, encoder, heads)
    except OSError as error:
        return corpus, [*messages, f"the training data cannot be kept for the next run: {error}"]


def _save(directory: Path, corpus: Corpus, messages: Sequence[str]) -> None:
    places = [(*place, learned) for place, learned in corpus.places.items()]
    notes = {"skipped": corpus.skipped, "messages": messages, "places": places, "sources": corpus.sources}
    directory.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with replacing(directory) as temporary:
        temporary.mkdir()
        (temporary / _NOTES).write_text(json.dumps(notes), encoding="utf-8")
        for name, table in corpus.tables().items():
            with pa.ipc.new_stream(str(temporary / f"{name}.arrow"), table.schema) as stream:
                stream.write_table(table)


def _load(
    directory: Path, inputs: tuple[InputKind, ...], encoder: TextEncoder, heads: Sequence[HeadTargets]
) -> tuple[Corpus, list[str]]:
    """Returns what `_save` has written, without reading it into memory."""
    from datasets import Dataset  # takes a second

    notes = json.loads((directory / _NOTES).read_text(encoding="utf-8"))
    corpus = corpus_from_tables(
        (Dataset.from_file(str(path)).data.table for path in directory.glob("*.arrow")),
        inputs=inputs,
        encoder=encoder,
        heads=heads,
        skipped=notes["skipped"],
        places={(test_set, lang_pair): learned for test_set, lang_pair, learned in notes["places"]},
        sources=notes["sources"],
    )
    return corpus, notes["messages"]


def _is_complete(path: str) -> bool:
    """Whether a path is a file that holds all that is read, and no pipe, which can be read only once.

    The key would not show the changes of further files.
    """
    is_file = path != "-" and not is_device(path) and Path(path).is_file()
    return is_file and not BY_NAME[detection.detect(path)].needs_other_files


def _key(config: Config, encoder: TextEncoder) -> str:
    """Returns a digest of all that the training data depend on: files, settings, tokenizer and our versions.

    All settings count but those that change nothing here, so that a new one cannot be forgotten.
    """
    settings = to_builtins(config)
    for name in ("encoder", "output", "start", "tokenizer", "training"):
        settings.pop(name, None)
    settings["data"].pop("dev", None)
    settings["model"].pop("decoding", None)
    dependencies = json.dumps([VERSION, __version__, settings, encoder.tokenization()], sort_keys=True)
    digest = hashlib.sha256(dependencies.encode())
    paths = [path for texts in config.data.texts for path in (texts.source, *texts.references) if path is not None]
    for file in (*config.data.files, *paths):
        with open(file, "rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:32]
