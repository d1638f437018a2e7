"""Writes models of other programs as model directories."""

from __future__ import annotations

from pathlib import Path

from matese.errors import ModelError
from matese.model.storage import checkpoint


def convert(source: Path, target: Path, *, name: str) -> None:
    """Writes a released model of another program as a model directory, which loads faster and holds all that is needed.

    Args:
        source: directory of the released model.
        target: the new directory.
        name: of the released model, for the card.

    Raises:
        ModelError: if the model is incomplete or corrupt, or one of ours.
        OSError: if it cannot be written.
    """
    if checkpoint.kind(source) is not None:
        raise ModelError(f"{source} is a model of matese already; give a released model of another program")
    from matese.model.regression import loading
    from matese.model.released import original_matese

    if (path := original_matese.find(source)) is not None:
        original_matese.convert(path, target, name=name)
    else:
        loading.convert(source, target, name=name)
