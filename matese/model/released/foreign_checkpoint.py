"""Load released models of other programs: a pickled checkpoint, and an encoder that is given only by its name."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import torch

from matese.errors import ModelError
from matese.files import IS_LFS_POINTER, is_lfs_pointer
from matese.model.storage import checkpoint

_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")


def load_pickle(path: Path) -> dict[str, Any]:
    """Returns the tensors and plain values of a pickle by name. Code in the pickle is never run.

    Raises:
        ModelError: if the file is missing, incomplete or corrupt, or holds more than tensors and plain values.
    """
    if not path.is_file():
        raise ModelError(f"{path} is missing: the download is incomplete; fetch the model again")
    if is_lfs_pointer(path):
        raise ModelError(f"{path} is {IS_LFS_POINTER}")
    try:
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except Exception as error:  # pickle, zip and torch raise errors of many types
        reason = " ".join(str(error).split())
        if "global" in reason.casefold():  # the name of a class or function
            unknown = reason.partition("WeightsUnpickler error: ")[2].partition(" Please")[0] or reason
            raise ModelError(
                f"{path} holds more than tensors and plain values ({unknown[:120]}); "
                "it was not opened because it could run code"
            ) from error
        raise ModelError(f"{path} is corrupt or incomplete ({reason[:120]}): fetch the model again") from error
    return content if isinstance(content, dict) else {}


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Returns the content of a Lightning checkpoint.

    Raises:
        ModelError: as `load_pickle`, or if it has no state_dict.
    """
    content = load_pickle(path)
    if not isinstance(content.get("state_dict"), dict):
        raise ModelError(f"{path} has no state_dict: must be a Lightning checkpoint")
    return content


def encoder_directory(directory: Path, name: str, *, named_in: str, needed: str = "encoder") -> Path:
    """Returns the directory of a released model's encoder: as named, next to the checkpoint, or from the hub.

    The name, found in the file `named_in`, is a directory, possibly relative to that of the model, or a hub id. For a
    path from another machine, a directory with its last name is searched next to the checkpoint.

    Raises:
        ModelError: if there is no such directory.
    """
    last = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    for place in (directory / name, directory / last):
        if last and place.is_dir():
            return place
    allowed = f"must be a hub id, or its configuration and tokenizer must be in {directory / last}"
    if not _HUB_NAME.fullmatch(name):
        raise ModelError(f"{directory / named_in}: {needed} {name} is not on this machine: {allowed}")
    try:
        return checkpoint.download(name, ("*.json", "*.model", "*.txt"))
    except ModelError as error:
        raise ModelError(f"{directory / named_in}: {error}; {allowed}") from error
