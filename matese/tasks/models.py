"""Where a model is and where a new one goes: what the tasks share that make a model from another one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from matese import mqm
from matese.annotation import Rating
from matese.errors import FormatError, ModelError, UsageError
from matese.tasks.texts import require
from matese.validation.options import Folder, Options, option


@dataclass(frozen=True)
class NewModel(Options):
    """A model, and the directory of the one that is made from it.

    Attributes:
        model: a model directory, an embedded model or a hub id.
        output: directory of the new model.
    """

    model: str = option(metavar="MODEL")
    _: KW_ONLY
    output: Folder = option(metavar="DIR")


def blind_spots(ratings: Iterable[Rating]) -> list[str]:
    """Returns what the models of some ratings hardly find from the texts that they read, by their cards."""
    from matese.model import recall
    from matese.model.storage import checkpoint

    notes = []
    for signature in dict.fromkeys(rating.rater for rating in ratings):
        if signature is None or not mqm.is_signature(signature):
            continue
        fields = dict(part.split(":", 1) for part in signature.split("|") if ":" in part)
        model = fields.get("model", "")
        name = model.partition("@")[0]
        try:
            recalls = recall.read(checkpoint.resolve(name) if name in checkpoint.embedded() else Path(name))
        except (OSError, FormatError, ModelError):
            continue
        of_input = None if recalls is None or recalls.model != model else recalls.inputs.get(fields.get("inputs", ""))
        if of_input is None:
            continue
        parts = []
        if kinds := of_input.hardly_found():
            parts.append(f"fewer than one in five of these errors: {', '.join(kinds)}")
        if lengths := of_input.sentences:
            shares = ", ".join(f"{100 * of_length.share:.0f} %" for of_length in lengths.values())
            parts.append(f"{shares} of all errors in texts of {', '.join(lengths)} sentences")
        if parts:
            texts_read = "the source alone" if fields["inputs"] == "source" else f"the {fields['inputs']}"
            notes.append(f"from {texts_read}, {model} finds {'; '.join(parts)}; none found does not mean none made")
    return list(dict.fromkeys(notes))


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
    target = Path(path)
    is_model = (target / "config.json").is_file()
    if target.exists() and not is_model and (target.is_file() or any(target.iterdir())):
        raise UsageError(f"--output {path}: give a new or empty directory, or one of a model")
    return target
