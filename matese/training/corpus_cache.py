"""Large training data on disk, so that a second run on the same files does not read and label them again."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from matese.files import is_device, replacing, user_cache
from matese.formats import detection
from matese.formats.registry import BY_NAME
from matese.model.heads.learning import HeadTargets
from matese.model.texts.encoding import TextEncoder
from matese.training.config import Config, to_builtins
from matese.training.corpus import Corpus, corpus_from_arrays
from matese.version import __version__

VERSION = 8
"""Of what is kept. Raise it with every change of the arrays or labels that the same files and settings give."""
FEWEST_SEGMENTS = 10_000
"""Smaller data are read quickly, and are not kept."""
N_KEPT = 4
"""Files in the cache; the oldest are removed."""


def cached(
    config: Config, encoder: TextEncoder, heads: Sequence[HeadTargets], build: Callable[[], tuple[Corpus, list[str]]]
) -> tuple[Corpus, list[str]]:
    """Returns the training data of a run and messages about their files, from the user's cache folder or from `build`.

    A damaged file of the cache is replaced. A cache that cannot be written costs a message, not the run.
    """
    if not all(map(_is_complete, config.data.files)) or any(one.test_set for one in config.data.texts):
        return build()
    directory = user_cache("training")
    path = directory / f"{_key(config, encoder)}.npz"
    try:
        with np.load(path) as arrays:
            known = json.loads(str(arrays["notes"]))
            stored = {name: arrays[name] for name in arrays.files if name != "notes"}
            corpus = corpus_from_arrays(
                stored,
                inputs=config.model.texts.inputs,
                encoder=encoder,
                heads=heads,
                skipped=known["skipped"],
                places={(test_set, lang_pair): learned for test_set, lang_pair, learned in known["places"]},
                sources=known["sources"],
            )
        return corpus, known["messages"]
    # zipfile raises NotImplementedError where a damaged header names another method of compression.
    except (OSError, EOFError, ValueError, KeyError, NotImplementedError, zipfile.BadZipFile):
        corpus, messages = build()
    if len(corpus) >= FEWEST_SEGMENTS:
        places = [(*place, learned) for place, learned in corpus.places.items()]
        notes = json.dumps(
            {"skipped": corpus.skipped, "messages": messages, "places": places, "sources": corpus.sources}
        )
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            with replacing(path) as temporary, open(temporary, "wb") as stream:
                np.savez(stream, allow_pickle=False, notes=np.array(notes), **corpus.arrays())
            for old in sorted(directory.glob("*.npz"), key=os.path.getmtime)[:-N_KEPT]:
                old.unlink(missing_ok=True)
        except OSError as error:
            messages = [*messages, f"the training data cannot be kept for the next run: {error}"]
    return corpus, messages


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
    known = json.dumps([VERSION, __version__, settings, encoder.tokenization()], sort_keys=True)
    digest = hashlib.sha256(known.encode())
    texts = [path for one in config.data.texts for path in (one.source, *one.references) if path is not None]
    for file in (*config.data.files, *texts):
        with open(file, "rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:32]
