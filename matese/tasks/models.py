"""Where a model is and where a new one goes: what the tasks share that make a model from another one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from matese.errors import UsageError
from matese.tasks.request import Checked, option
from matese.tasks.texts import require
from matese.tasks.values import File, Text


@dataclass(frozen=True)
class NewModel(Checked):
    """A model, and the directory of the one that is made from it.

    Attributes:
        model: a model directory, an embedded model or a hub id.
        output: directory of the new model.
    """

    model: str = option("", Text("MODEL"))
    output: str = option("", File("DIR"))


def source_and_target(request: NewModel) -> tuple[Path, Path]:
    """Returns the directories of the model and of the new model.

    Raises:
        UsageError: if they are the same, or the new one holds anything but a model.
        ModelError: if there is no such model.
    """
    from matese.model.storage import checkpoint

    target = directory(request.output)
    source = checkpoint.resolve(request.model)
    is_other = target.resolve() != source.resolve()
    require(is_other, f"--output {target} is the model itself; choose another directory")
    return source, target


def directory(path: str) -> Path:
    """Returns the directory of a new model; raises a UsageError if it holds anything but another model."""
    require(path != "", "no --output: give a new or empty directory")
    target = Path(path)
    is_model = (target / "config.json").is_file()
    if target.exists() and not is_model and (target.is_file() or any(target.iterdir())):
        raise UsageError(f"--output {path}: give a new or empty directory, or one of a model")
    return target
