"""Smaller copies of models: fewer layers, narrower feed-forward layers, fewer attention heads (Rei 2024, chapter 5).

Heads and units are chosen by their importance: the mean, over texts, of the size of the derivative of the score with
respect to a factor of their output (Michel et al. 2019, section 4.1, with the score in place of the loss, so that no
ratings are needed). `matese.encoder.vocabulary` drops pieces of the vocabulary.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from matese.annotation import Segment
from matese.annotator import Annotator, load
from matese.encoder import checkpoint, roberta_config
from matese.encoder.checkpoint import Checkpoint
from matese.encoder.roberta import Roberta
from matese.encoder.roberta_config import RobertaConfig
from matese.encoder.storage import StoredPrecision
from matese.errors import InputError, ModelError
from matese.explanation.method import LongTextError
from matese.explanation.white_box import Reading
from matese.inference.model_input import ModelInput, usable_inputs

_READ_LAYERS = ("layer", "word_layer", "separate_layers")
"""Settings that count layers of the encoder."""
_N_TEXTS = 300
"""Texts from which the importance of heads and units is measured, spread evenly over those that are given."""


@dataclass(frozen=True)
class Size:
    """The size of an encoder; None leaves a part as it is.

    Attributes:
        layers: number of layers, from the lowest.
        inner_width: width of the feed-forward layers.
        heads: attention heads of each layer.
    """

    layers: int | None = None
    inner_width: int | None = None
    heads: int | None = None

    def check(self, config: RobertaConfig) -> None:
        """Raises InputError unless each number is from 1 to that of the encoder."""
        most = {
            "layers": config.num_hidden_layers,
            "inner_width": config.intermediate_size,
            "heads": config.num_attention_heads,
        }
        for name, largest in most.items():
            number = getattr(self, name)
            if number is not None and not 1 <= number <= largest:
                raise InputError(f"{name.replace('_', '-')} {number}: must be from 1 to {largest}, the model's own")


@dataclass(frozen=True)
class Importance:
    """How much scores depend on the parts of an encoder.

    Attributes:
        heads: (layers, heads).
        units: (layers, inner width).
        n_skipped: texts that the model cannot read, or not at once.
    """

    heads: Tensor
    units: Tensor
    n_skipped: int = 0


def write(
    directory: Path,
    target: Path,
    segments: Sequence[Segment] = (),
    *,
    size: Size = Size(),
    n_pieces: int | None = None,
    precision: StoredPrecision = "float32",
    name: str | None = None,
) -> int:
    """Writes a smaller copy of a model; returns how many texts were skipped in choosing heads and units.

    Args:
        directory: the model directory, of our own format or a released one.
        target: directory of the copy.
        segments: translations from which heads, units and pieces are chosen.
        size: of the encoder.
        n_pieces: pieces of the vocabulary; None to keep all.
        precision: of the stored matrices.
        name: of the model in the card of the copy; None for the directory.

    Raises:
        InputError: if the size is not one of a smaller model, or no text can be read.
        ModelError: if the model cannot be made smaller.
    """
    from matese.encoder import vocabulary
    from matese.regression import loading

    changes = {key: value for key, value in asdict(size).items() if value is not None}
    is_smaller, importance = bool(changes), None
    changes |= {} if n_pieces is None else {"pieces": n_pieces}
    new_card = card(name or str(directory), changes, checkpoint.read_card(directory))
    if is_smaller:
        annotator = load(directory, device="cpu", precision="float32")
        check(annotator, size)
        if size.heads is not None or size.inner_width is not None:
            importance = measure(annotator, segments[:: max(1, len(segments) // _N_TEXTS)])
    if checkpoint.kind(directory) is None:
        loading.save(target, loading.load(directory), card=new_card)
        directory = target
    vocabulary.shrink(
        directory,
        target,
        texts=(text for one in segments for text in (one.hypothesis, *one.references, one.source or "") if text),
        n_pieces=n_pieces,
        precision=precision,
        card=new_card,
        change=lambda model: shrink(model, size, importance) if is_smaller else model,
    )
    return 0 if importance is None else importance.n_skipped


def shrink(model: Checkpoint[Tensor], size: Size, importance: Importance | None = None) -> Checkpoint[Tensor]:
    """Returns a smaller copy of a tagger or a model that scores.

    Args:
        model: with an encoder of the RoBERTa family, its tensors unpacked.
        size: of the copy. If a layer that is read is dropped, the highest remaining layer is read instead.
        importance: as `measure` returns it, to choose heads and units; None if only layers are dropped.

    Raises:
        InputError: if the size is not one of a smaller model.
    """
    old = roberta_config.read(model.config.encoder)
    size.check(old)
    n_layers = size.layers or old.num_hidden_layers
    encoder = {**model.config.encoder, "num_hidden_layers": n_layers}
    tensors = {name: tensor for name, tensor in model.tensors.items() if not _is_above(name, n_layers)}
    if "mix.weights" in tensors:
        tensors["mix.weights"] = tensors["mix.weights"][: n_layers + 1]
    if size.heads is not None:
        assert importance is not None
        width = (old.attention_width or old.hidden_size) // old.num_attention_heads
        encoder |= {"num_attention_heads": size.heads, "attention_width": size.heads * width}
        _keep_heads(tensors, importance.heads[:n_layers], size.heads, width)
    if size.inner_width is not None:
        assert importance is not None
        encoder["intermediate_size"] = size.inner_width
        _keep_units(tensors, importance.units[:n_layers], size.inner_width)
    read = {name: model.config.settings.get(name) for name in _READ_LAYERS}
    kept = {name: min(number, n_layers) for name, number in read.items() if isinstance(number, int)}
    config = replace(model.config, encoder=encoder, settings={**model.config.settings, **kept})
    return replace(model, config=config, tensors=tensors)


def check(annotator: Annotator, size: Size) -> None:
    """Raises InputError if a model cannot be made this small, or its encoder is of another family."""
    size.check(_encoder(annotator).config)


def card(name: str, changes: Mapping[str, object], old: str) -> str:
    """Returns the card of a smaller copy: what was changed, then the card of the model.

    Args:
        name: of the model.
        changes: parts of the size that were given.
        old: card of the model.
    """
    parts = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in changes.items()) or "no part removed"
    front, rest = "", old
    if old.startswith("---\n") and "\n---\n" in old[4:]:
        front, _, rest = old[4:].partition("\n---\n")
        front = f"---\n{front}\n---\n\n"
    made = (
        f"# Smaller copy of {name}\n\nMade by `matese shrink`: {parts}. The figures below are those of the whole model."
    )
    return f"{front}{made}\n\n{rest}"


def measure(annotator: Annotator, segments: Iterable[Segment]) -> Importance:
    """Returns the importance of heads and units on texts.

    Args:
        annotator: whose model has an encoder of the RoBERTa family, in float32.
        segments: texts, a few hundred are enough; those without a text that the model reads, and those that it does not
            read at once, are skipped.

    Raises:
        InputError: if there are none that it can read, or the encoder is of another family.
    """
    encoder, predictor, inputs = _encoder(annotator), annotator.predictor, annotator.config.inputs
    config = encoder.config
    heads = torch.zeros(config.num_hidden_layers, config.num_attention_heads)
    units = torch.zeros(config.num_hidden_layers, config.intermediate_size)
    n_read = n_given = 0
    with _masks(encoder) as masks:
        for n_given, segment in enumerate(segments, start=1):  # noqa: B007
            masks.clear()
            usable = usable_inputs(segment, inputs)
            try:
                text = ModelInput.of(segment, usable[0]).readings[0] if usable else None
                reading = None if text is None else Reading(predictor.module, predictor.text_encoder, text)
            except LongTextError:
                continue
            if reading is None:
                continue
            n_read += 1
            torch.autograd.backward(reading.score)
            for (kind, layer), mask in masks.items():
                assert mask.grad is not None
                (heads if kind == "heads" else units)[layer] += mask.grad.abs()
    if not n_read:
        problem = f"no text of {n_given:,} has what the model reads at once"
        raise InputError(f"{problem}: must be one or more with {' or '.join(inputs)}")
    return Importance(heads / n_read, units / n_read, n_given - n_read)


def _encoder(annotator: Annotator) -> Roberta:
    encoder: Any = annotator.predictor.module.encoder if annotator.predictor.module is not None else None
    if not isinstance(encoder, Roberta):
        kind = "unknown type" if encoder is None else f"type {encoder.config.model_type}"
        raise ModelError(f"a model with an encoder of {kind}: must be of the RoBERTa family to be made smaller")
    return encoder


@contextlib.contextmanager
def _masks(encoder: Roberta) -> Iterator[dict[tuple[str, int], Tensor]]:
    """Multiplies the output of each head and unit by a factor of 1 in the body; yields the factors of the last pass."""
    masks: dict[tuple[str, int], Tensor] = {}
    n_heads = encoder.config.num_attention_heads

    def hook(kind: str, number: int, n_factors: int) -> Any:  # noqa: ANN401  (a hook of torch)
        def multiply(_: nn.Module, given: tuple[Tensor]) -> tuple[Tensor]:
            factors = masks.setdefault((kind, number), torch.ones(n_factors, requires_grad=True))
            return (given[0] * factors.repeat_interleave(given[0].shape[-1] // n_factors),)

        return multiply

    layers: Any = encoder.encoder["layer"]
    handles = []
    for number, layer in enumerate(layers):
        dense = layer.output["dense"]
        handles.append(layer.attention["output"]["dense"].register_forward_pre_hook(hook("heads", number, n_heads)))
        handles.append(dense.register_forward_pre_hook(hook("units", number, dense.in_features)))
    try:
        yield masks
    finally:
        for handle in handles:
            handle.remove()


def _is_above(name: str, n_layers: int) -> bool:
    prefix = "encoder.encoder.layer."
    return name.startswith(prefix) and int(name.removeprefix(prefix).partition(".")[0]) >= n_layers


def _keep_heads(tensors: dict[str, Tensor], importance: Tensor, n_heads: int, width: int) -> None:
    """Removes the rows and columns of all heads but the most important ones, in place."""
    for number, own in enumerate(importance):
        kept = own.topk(n_heads).indices.sort().values
        places = (kept[:, None] * width + torch.arange(width)).flatten()
        prefix = f"encoder.encoder.layer.{number}.attention."
        _select(tensors, {f"{prefix}self.{name}.": 0 for name in ("query", "key", "value")}, places)
        _select(tensors, {f"{prefix}output.dense.": 1}, places)


def _keep_units(tensors: dict[str, Tensor], importance: Tensor, n_units: int) -> None:
    """Removes all units but the most important ones, in place."""
    for number, own in enumerate(importance):
        kept = own.topk(n_units).indices.sort().values
        prefix = f"encoder.encoder.layer.{number}."
        _select(tensors, {f"{prefix}intermediate.dense.": 0, f"{prefix}output.dense.": 1}, kept)


def _select(tensors: dict[str, Tensor], axes: Mapping[str, int], places: Tensor) -> None:
    """Selects rows (axis 0, of the bias, too) or columns (axis 1) of linear layers, in place."""
    for prefix, axis in axes.items():
        tensors[f"{prefix}weight"] = tensors[f"{prefix}weight"].index_select(axis, places)
        if axis == 0:
            tensors[f"{prefix}bias"] = tensors[f"{prefix}bias"].index_select(0, places)
