"""Smaller copies of models: fewer layers, narrower feed-forward layers, fewer attention heads (Rei 2024, chapter 5).

Heads and units are chosen by their importance: the mean, over texts, of the size of the derivative of the score with
respect to a factor of their output (Michel et al. 2019, section 4.1, with the score in place of the loss, so that no
ratings are needed). `matese.model.texts.vocabulary` drops pieces of the vocabulary.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from matese.annotation import Segment
from matese.errors import InputError, ModelError
from matese.model import loading
from matese.model.annotator import Annotator, load
from matese.model.config import ModelConfig
from matese.model.encoder import roberta_config
from matese.model.encoder.roberta import Roberta
from matese.model.encoder.roberta_config import RobertaConfig
from matese.model.model_input import LongTextError, ModelInput, usable_inputs
from matese.model.observation import ObservedReading
from matese.model.storage import checkpoint, packing
from matese.model.storage.checkpoint import Checkpoint
from matese.model.storage.packing import StoredPrecision
from matese.model.texts import tokenizer as tokenizers
from matese.model.texts import vocabulary
from matese.model.texts.tokenizer import FileTokenizer

_N_TEXTS = 300
"""Texts from which the importance of heads and units is measured, spread evenly over those that are given."""


@dataclass(frozen=True)
class Size:
    """Layers, from the lowest, feed-forward width and attention heads of an encoder; None leaves a part as it is."""

    layers: int | None = None
    inner_width: int | None = None
    heads: int | None = None

    def check(self, config: RobertaConfig) -> None:
        """Raises InputError unless each number is from 1 to that of the encoder."""
        most = (config.num_hidden_layers, config.intermediate_size, config.num_attention_heads)
        for (name, number), largest in zip(asdict(self).items(), most, strict=True):
            if number is not None and not 1 <= number <= largest:
                raise InputError(f"{name.replace('_', '-')} {number}: must be from 1 to {largest}, the model's own")


class Importance(NamedTuple):
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
    mean_with: Path | None = None,
    share: float = 0.5,
) -> int:
    """Writes a smaller copy of a model; returns how many texts were skipped in choosing heads and units.

    Args:
        directory: the model directory, of our own format or a released one.
        target: directory of the copy; may be `directory`.
        segments: translations from which heads, units and pieces are chosen.
        size: of the encoder.
        n_pieces: pieces of the vocabulary; None to keep all.
        precision: of the stored matrices, see `packing.pack`.
        name: of the model in the card of the copy; None for the directory.
        mean_with: directory of a model of the same shape, to take the mean of the weights of both, see `mean`.
        share: of the other model in the mean.

    Raises:
        InputError: if the size is not one of a smaller model, or no text can be read.
        ModelError: if the model cannot be made smaller, or its directory is incomplete or corrupt.
        OSError: if it cannot be written.
    """
    mixed = () if mean_with is None else (("mean with", mean_with.name), ("its share", share))
    sizes = (*asdict(size).items(), ("pieces", n_pieces), *mixed)
    changes = {key: value for key, value in sizes if value is not None}
    card = _card(name or str(directory), changes, checkpoint.read_card(directory))
    importance = None
    if size != Size():
        annotator = load(directory, device="cpu", precision="float32", engine="torch")
        size.check(_encoder(annotator).config)
        if size.heads is not None or size.inner_width is not None:
            importance = measure(annotator, segments[:: max(1, len(segments) // _N_TEXTS)])
    if not checkpoint.is_ours(directory):
        loading.convert(directory, target, name=name or str(directory))
        directory = target
    stored = checkpoint.load(directory)
    tokenizer = _tokenizer(directory, str(stored.config.encoder["model_type"]))
    model = replace(stored, tensors=packing.unpack(stored.tensors))
    if mean_with is not None:
        model = replace(model, tensors=mean(model.tensors, packing.unpack(checkpoint.load(mean_with).tensors), share))
    if size != Size():
        model = shrink(model, size, importance)
    if n_pieces is not None:
        texts = [text for part in segments for text in (part.hypothesis, *part.references, part.source) if text]
        model, tokenizer = vocabulary.prune(model, tokenizer, texts, n_pieces)
    checkpoint.save(target, replace(model, tensors=packing.pack(model.tensors, precision)), tokenizer, card=card)
    return 0 if importance is None else importance.n_skipped


def mean(tensors: Mapping[str, Tensor], other_tensors: Mapping[str, Tensor], share: float) -> dict[str, Tensor]:
    """Returns the weighted mean of the weights of two models, such as one and the same trained on.

    It often keeps what both have learned (Wortsman et al. 2022, arXiv 2109.01903).

    Raises:
        ModelError: if the models do not have the same shape.
    """
    shapes = [{name: tuple(tensor.shape) for name, tensor in of_model.items()} for of_model in (tensors, other_tensors)]
    if shapes[0] != shapes[1]:
        names = sorted(name for name in {*shapes[0], *shapes[1]} if shapes[0].get(name) != shapes[1].get(name))
        raise ModelError(f"the models differ in {names[0]}; a mean needs two models of one shape")
    return {
        name: (1 - share) * tensor.float() + share * other_tensors[name].float()
        if tensor.is_floating_point()
        else tensor
        for name, tensor in tensors.items()
    }


def _tokenizer(directory: Path, model_type: str) -> FileTokenizer:
    with checkpoint.raising_model_errors(f"{directory} has no usable tokenizer", "; must contain a tokenizer's files"):
        tokenizer = tokenizers.read(directory) or tokenizers.read_released(directory, model_type)
    if tokenizer is None:
        raise ModelError(
            f"{directory} has no tokenizer.json with the standard special tokens; only such models can shrink"
        )
    return tokenizer


def shrink(model: Checkpoint[Tensor], size: Size, importance: Importance | None = None) -> Checkpoint[Tensor]:
    """Returns a smaller copy of a tagger or a model that scores.

    If a layer that is read is dropped, the highest remaining layer is read instead.

    Args:
        model: with an encoder of the RoBERTa family, its tensors unpacked.
        size: of the copy.
        importance: as `measure` returns it, to choose heads and units; None if only layers are dropped.
    """
    old = roberta_config.read(model.config.encoder)
    size.check(old)
    n_layers = size.layers or old.num_hidden_layers
    encoder = {**model.config.encoder, "num_hidden_layers": n_layers}
    layers = [f"encoder.encoder.layer.{number}." for number in range(old.num_hidden_layers)]
    tensors = {name: part for name, part in model.tensors.items() if not name.startswith(tuple(layers[n_layers:]))}
    if "mix.weights" in tensors:
        tensors["mix.weights"] = tensors["mix.weights"][: n_layers + 1]
    if size.heads is not None:
        assert importance is not None
        width = (old.attention_width or old.hidden_size) // old.num_attention_heads
        encoder |= {"num_attention_heads": size.heads, "attention_width": size.heads * width}
        for prefix, weights in zip(layers[:n_layers], importance.heads[:n_layers], strict=True):
            places = (_most_important(weights, size.heads)[:, None] * width + torch.arange(width)).flatten()
            projections = [f"{prefix}attention.self.{name}" for name in ("query", "key", "value")]
            _select(tensors, places, rows_of=projections, columns_of=f"{prefix}attention.output.dense")
    if size.inner_width is not None:
        assert importance is not None
        encoder["intermediate_size"] = size.inner_width
        for prefix, weights in zip(layers[:n_layers], importance.units[:n_layers], strict=True):
            places = _most_important(weights, size.inner_width)
            _select(tensors, places, rows_of=[f"{prefix}intermediate.dense"], columns_of=f"{prefix}output.dense")
    config = replace(model.config, encoder=encoder, model=_with_layers(model.config.model, n_layers))
    return replace(model, config=config, tensors=tensors)


def _with_layers(config: ModelConfig, n_layers: int) -> ModelConfig:
    """Returns the settings of a model with this number of encoder layers, of which it reads the highest at most."""
    texts = replace(config.texts, separate_layers=min(config.texts.separate_layers, n_layers))
    mix = config.layers.mix
    layers = replace(config.layers, mix=min(mix, n_layers)) if isinstance(mix, int) else config.layers
    words = config.heads.word_labels
    kept = None if words is None else replace(words, layer=min(words.layer, n_layers))
    return replace(config, texts=texts, layers=layers, heads=replace(config.heads, word_labels=kept))


def _card(name: str, changes: Mapping[str, object], old: str) -> str:
    """Returns the card of a smaller copy: what was changed, then the card of the model."""
    parts = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in changes.items()) or "no part removed"
    front = re.match(r"---\n.*?\n---\n", old, re.DOTALL)
    rest = old[front.end() :] if front else old
    note = f"Made by `matese shrink`: {parts}. The figures below are those of the whole model."
    return f"{front[0] + chr(10) if front else ''}# Smaller copy of {name}\n\n{note}\n\n{rest}"


def measure(annotator: Annotator, segments: Iterable[Segment]) -> Importance:
    """Returns the importance of heads and units on texts; a few hundred are enough.

    Texts that lack what the model reads, and those that it does not read at once, are skipped. The model must be in
    float32.

    Raises:
        InputError: if it can read none.
        ModelError: if the encoder is not of the RoBERTa family.
    """
    encoder = _encoder(annotator)
    predictor = annotator.predictor
    inputs = annotator.config.texts.inputs
    heads = torch.zeros(encoder.config.num_hidden_layers, encoder.config.num_attention_heads)
    units = torch.zeros(encoder.config.num_hidden_layers, encoder.config.intermediate_size)
    n_read = n_given = 0
    with _factors(encoder) as factors:
        for n_given, segment in enumerate(segments, start=1):  # noqa: B007
            usable = usable_inputs(segment, inputs)
            if not usable:
                continue
            factors.clear()
            text = ModelInput.of(segment, usable[0]).readings[0]
            with contextlib.suppress(LongTextError):
                torch.autograd.backward(ObservedReading(predictor.module, predictor.text_encoder, text).score)
                n_read += 1
                for (kind, layer), factor in factors.items():
                    assert factor.grad is not None
                    (heads if kind == "heads" else units)[layer] += factor.grad.abs()
    if not n_read:
        problem = f"none of {n_given:,} texts can be read at once"
        raise InputError(f"{problem}; give shorter ones, with {' or '.join(inputs)}")
    return Importance(heads / n_read, units / n_read, n_given - n_read)


def _encoder(annotator: Annotator) -> Roberta:
    encoder: Any = annotator.predictor.module.encoder if annotator.predictor.module is not None else None
    if not isinstance(encoder, Roberta):
        kind = "unknown type" if encoder is None else f"type {encoder.config.model_type}"
        raise ModelError(
            f"a model with an encoder of {kind} cannot be shrunk; the encoder must be of the RoBERTa family"
        )
    return encoder


@contextlib.contextmanager
def _factors(encoder: Roberta) -> Iterator[dict[tuple[str, int], Tensor]]:
    """Multiplies the output of each head and unit by a factor of 1 in the body; yields the factors of the last pass."""
    factors: dict[tuple[str, int], Tensor] = {}

    def hook(kind: str, number: int, n_factors: int, _: nn.Module, inputs: tuple[Tensor]) -> tuple[Tensor]:
        factor = factors.setdefault((kind, number), torch.ones(n_factors, requires_grad=True))
        return (inputs[0] * factor.repeat_interleave(inputs[0].shape[-1] // n_factors),)

    layers: Any = encoder.encoder["layer"]
    with contextlib.ExitStack() as hooks:
        for number, layer in enumerate(layers):
            attended = layer.attention["output"]["dense"]
            dense = layer.output["dense"]
            of_heads = partial(hook, "heads", number, encoder.config.num_attention_heads)
            hooks.enter_context(attended.register_forward_pre_hook(of_heads))
            hooks.enter_context(dense.register_forward_pre_hook(partial(hook, "units", number, dense.in_features)))
        yield factors


def _most_important(weights: Tensor, number: int) -> Tensor:
    """Returns the indices of the largest weights, in order."""
    return weights.topk(number).indices.sort().values


def _select(tensors: dict[str, Tensor], places: Tensor, *, rows_of: Sequence[str], columns_of: str) -> None:
    """Selects outputs of linear layers, and the same inputs of the layer that reads them, in place."""
    for name in rows_of:
        for kind in ("weight", "bias"):
            tensors[f"{name}.{kind}"] = tensors[f"{name}.{kind}"][places]
    tensors[f"{columns_of}.weight"] = tensors[f"{columns_of}.weight"][:, places]
