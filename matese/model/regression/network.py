"""The neural part of a regression model: encoder, layer mix, pooling and feed-forward head."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from matese.errors import InputError
from matese.model.inputs import Inputs
from matese.model.regression.config import RegressionConfig
from matese.model.texts import encoding
from matese.model.texts.encoding import TextEncoder

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from matese.model.encoder.roberta import Roberta
    from matese.model.texts.tokenizer import Tokenizer

_EPSILON = 1e-12
_DROPPED = -1e4
"""Weight of a layer that is left out, before softmax or sparsemax: low, but finite, in case all layers are left out."""


@dataclass(frozen=True, slots=True)
class RegressorOutput:
    """Output for a batch.

    Attributes:
        vectors: (batch, n), float32: the embedding of each text, or the score of each row for a unified model.
        tag_logits: (batch, hypothesis tokens, 1 + severities), float32; None for a model that marks no errors.
    """

    vectors: Tensor
    tag_logits: Tensor | None


class Regressor(nn.Module):
    """Embeds texts and scores the embeddings, or scores rows of several texts."""

    def __init__(self, config: RegressionConfig, encoder: PreTrainedModel | Roberta) -> None:
        """Adds a layer mix and heads to an encoder.

        Raises:
            InputError: if the settings do not fit the encoder.
        """
        super().__init__()
        self.config = config
        self.encoder: Any = encoder
        settings: Any = encoder.config
        if settings.is_encoder_decoder:
            raise InputError("the encoder is an encoder-decoder: must be an encoder without a decoder")
        self.width = int(settings.hidden_size)
        n_layers = int(settings.num_hidden_layers) + 1
        for name in ("layer", "word_layer"):
            if (layer := getattr(config, name)) is not None and not 0 <= layer < n_layers:
                raise InputError(f"{name} {layer}: must be from 0 to {n_layers - 1}, the layers of the encoder")
        self.mix = LayerMix(n_layers, config) if config.layer is None else None
        n_features = _n_features(config)
        self.estimator = FeedForward(n_features * self.width, config) if n_features else None
        n_labels = 1 + len(config.severities)
        self.tag_head = None if config.word_layer is None else nn.Linear(self.width, n_labels)

    def body(self) -> tuple[nn.Module, ...]:
        """Returns the parts before the heads."""
        return (self.encoder,)

    def text_encoder(self, tokenizer: Tokenizer) -> TextEncoder:
        """Returns the encoder of texts into the model's input. Raises InputError if the tokenizer does not fit."""
        return encoding.text_encoder(self.encoder, tokenizer, max_tokens=self.config.max_tokens)

    def dropout_sites(self) -> list[nn.Module]:
        """Returns the activations of the estimator's hidden layers, which unbabel-comet follows with dropout."""
        layers = [] if self.estimator is None else list(self.estimator)
        return [layer for layer in layers[:-1] if not isinstance(layer, nn.Linear)][: len(self.config.hidden_sizes)]

    def forward(self, batch: Inputs) -> RegressorOutput:
        """Returns the output of a batch, in float32 even under autocast."""
        arguments: dict[str, Any] = {"input_ids": batch.ids, "attention_mask": batch.mask.long()}
        if batch.places is not None:
            arguments["places"] = batch.places
        if self.config.has_token_types:
            places = torch.arange(batch.ids.shape[1], device=batch.ids.device)
            arguments["token_type_ids"] = (places >= batch.hypothesis_mask.sum(1, keepdim=True)).long()
        layers = self.encoder(**arguments, output_hidden_states=True, return_dict=True).hidden_states
        with torch.autocast(batch.ids.device.type, enabled=False):
            vectors = self._pool(layers, batch.mask)
            if self.config.architecture != "unified":
                return RegressorOutput(vectors, None)
            assert self.estimator is not None
            scores = self.estimator(vectors)  # (batch, 1)
            tag_logits = None
            if self.tag_head is not None:
                states = layers[self.config.word_layer]
                index = batch.positions.unsqueeze(-1).expand(-1, -1, states.shape[-1])
                tag_logits = self.tag_head(states.gather(1, index).float())
            return RegressorOutput(scores, tag_logits)

    def _pool(self, layers: Sequence[Tensor], mask: Tensor) -> Tensor:
        """Returns one embedding for each row: (batch, width)."""
        # The maximum of a mix is not the mix of the maxima: the tokens are mixed first.
        read = {"max": Tensor.float, "cls": _first, "avg": _mean_of(mask)}[self.config.pooling]
        mixed: Tensor = read(layers[self.config.layer or 0]) if self.mix is None else self.mix(layers, mask, read)
        if self.config.pooling == "max":
            return mixed.masked_fill(~mask.unsqueeze(-1), -torch.inf).amax(1)
        return mixed

    def estimate(self, hypothesis: Tensor, source: Tensor | None, reference: Tensor | None) -> Tensor:
        """Returns the score of each hypothesis, (segments,), from embeddings, each (segments, width).

        Rei et al. 2020, section 2.3 (features of estimators) and section 2.4 (score of the ranking model).
        """
        if self.config.architecture == "ranking":
            assert source is not None
            assert reference is not None
            to_source = functional.pairwise_distance(hypothesis, source)
            to_reference = functional.pairwise_distance(hypothesis, reference)
            return 1 / (1 + 2 * to_reference * to_source / (to_reference + to_source))
        features = [hypothesis]
        if self.config.architecture == "referenceless":
            assert source is not None
            features.append(source)
        for other in (reference, source):
            if other is not None:
                features += [hypothesis * other, (hypothesis - other).abs()]
        if reference is not None:
            features.insert(1, reference)
        assert self.estimator is not None
        scores: Tensor = self.estimator(torch.cat(features, 1)).squeeze(1)
        return scores


class LayerMix(nn.Module):
    """The learned weighted sum of all encoder layers: Rei et al. 2020, equation 1."""

    def __init__(self, n_layers: int, config: RegressionConfig) -> None:
        """Gives all layers the same weight."""
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(n_layers))
        self.gamma = nn.Parameter(torch.ones(1))
        self._is_sparse = config.layer_transformation == "sparsemax"
        self._is_normed = config.layer_norm
        self._dropout = config.layer_dropout

    def forward(self, layers: Sequence[Tensor], mask: Tensor, read: Callable[[Tensor], Tensor]) -> Tensor:
        """Returns the mix of the layers, (batch, tokens, width) each, after a linear function reads each of them.

        Reading before mixing avoids sums over all tokens. The mask is (batch, tokens), True for tokens.
        """
        chosen: Tensor = self.weights
        if self.training and self._dropout:
            is_dropped = torch.rand_like(chosen) < self._dropout
            chosen = chosen.masked_fill(is_dropped, _DROPPED)
        weights = self.gamma * (sparsemax(chosen) if self._is_sparse else chosen.softmax(0))
        mixed: Tensor | None = None
        for weight, layer in zip(weights, layers, strict=True):
            vectors = read(layer)
            if self._is_normed:
                mean, deviation = _moments(layer, mask)
                shape = (-1, *[1] * (vectors.ndim - 1))
                vectors = (vectors - mean.view(shape)) / deviation.view(shape)
            mixed = weight * vectors if mixed is None else mixed + weight * vectors
        assert mixed is not None
        return mixed


def sparsemax(values: Tensor) -> Tensor:
    """Returns the nearest probability distribution, usually sparse: Martins and Astudillo 2016, algorithm 1.

    >>> sparsemax(torch.tensor([0.0, 0.5, -3.0])).tolist()
    [0.25, 0.75, 0.0]
    """
    ordered = values.sort(descending=True).values
    counts = torch.arange(1, len(values) + 1, device=values.device)
    sums = ordered.cumsum(0) - 1
    n_kept = (counts * ordered > sums).sum()
    return (values - sums[n_kept - 1] / n_kept).clamp(min=0)


def _moments(layer: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the mean and standard deviation of all numbers of each row, without padding: (batch,) each."""
    kept = mask.unsqueeze(-1)
    n_numbers = mask.sum(1) * layer.shape[-1]
    mean = (layer.float() * kept).sum((1, 2)) / n_numbers
    variance = (((layer.float() - mean[:, None, None]) * kept) ** 2).sum((1, 2)) / n_numbers
    return mean, (variance + _EPSILON).sqrt()


def _first(layer: Tensor) -> Tensor:
    return layer[:, 0].float()


def _mean_of(mask: Tensor) -> Callable[[Tensor], Tensor]:
    weights = (mask / mask.sum(1, keepdim=True)).unsqueeze(1)  # (batch, 1, tokens)
    return lambda layer: (weights @ layer.float()).squeeze(1)


def _n_features(config: RegressionConfig) -> int:
    """Returns the input width of the feed-forward head, in widths of the encoder; 0 for a model without a head."""
    if config.architecture == "estimator":
        return 6 if config.inputs == ("source+reference",) else 4
    return {"referenceless": 4, "unified": 1}.get(config.architecture, 0)


class FeedForward(nn.Sequential):
    """The estimator: hidden layers with an activation and, in training, dropout, and a last layer with one output."""

    def __init__(self, n_inputs: int, config: RegressionConfig) -> None:
        """Initialises the weights at random."""
        widths = [n_inputs, *config.hidden_sizes]
        layers: list[nn.Module] = []
        for before, after in itertools.pairwise(widths):
            layers += [nn.Linear(before, after), getattr(nn, config.activation)()]
        layers.append(nn.Linear(widths[-1], 1))
        if config.final_activation is not None:
            layers.append(getattr(nn, config.final_activation)())
        super().__init__(*layers)
        self._dropout = config.dropout
        self._n_hidden = 2 * len(config.hidden_sizes)

    def forward(self, features: Tensor) -> Tensor:
        """Returns (batch, 1) from features, (batch, n_inputs)."""
        for number, layer in enumerate(self):
            features = layer(features)
            if number % 2 and number < self._n_hidden:  # after an activation
                features = functional.dropout(features, self._dropout, self.training)
        return features


def from_comet(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns the tensors of a COMET checkpoint with the names of `Regressor`.

    Tensors that prediction does not need (pooler, loss weights, masks of layer dropout) are left out.
    """
    names = {"layerwise_attention.gamma": "mix.gamma", "hidden2tag.weight": "tag_head.weight"}
    names["hidden2tag.bias"] = "tag_head.bias"
    tensors = {}
    weights = {}
    for name, tensor in state.items():
        head, _, rest = name.partition(".")
        if name.startswith("layerwise_attention.scalar_parameters."):
            weights[int(name.rpartition(".")[2])] = tensor
        elif name.startswith("encoder.model.") and not rest.startswith("model.pooler."):
            if not name.endswith((".position_ids", ".token_type_ids")):
                tensors["encoder." + rest.removeprefix("model.")] = tensor
        elif head == "estimator":
            # Dropout layers are numbered there: 0, 3, 6 are 0, 2, 4 here.
            _, number, kind = rest.split(".")
            tensors[f"estimator.{int(number) // 3 * 2}.{kind}"] = tensor
        elif name in names:
            tensors[names[name]] = tensor
    if weights:
        tensors["mix.weights"] = torch.cat([weights[number] for number in sorted(weights)])
    return tensors
