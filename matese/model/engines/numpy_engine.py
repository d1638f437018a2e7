"""A network with an encoder of the RoBERTa family in numpy, for a few segments on a CPU.

It tags dozens of segments in less time than importing torch takes. It computes the same as `network.Network` with
`encoder.roberta.Roberta` in float32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from matese.errors import ModelError
from matese.model.arrays import Int32Array
from matese.model.config import ModelConfig
from matese.model.encoder import relations, roberta_config
from matese.model.encoder.numpy_layers import (
    Array,
    Layer,
    StoredTensors,
    checked_heads,
    dense,
    extra_layer,
    linear,
    mean,
    norm,
)
from matese.model.encoder.roberta_config import RobertaConfig
from matese.model.heads import registry
from matese.model.heads.head import RowStates
from matese.model.prediction import Outputs, WindowOutput
from matese.model.storage import checkpoint
from matese.model.storage.checkpoint import StoredConfig
from matese.model.texts import encoding
from matese.model.texts import tokenizer as tokenizers
from matese.model.texts.encoding import ROLES, Encoding, TextEncoder
from matese.model.texts.pieces import SentenceStates

Compare = Callable[[Array, Int32Array, Int32Array], tuple[Array, float]]
"""From states, ids and roles to the terms to add to the states and to the logit of the score."""
_LAYER_MIXES = ("last", "sum-last-4")
_MOST_WORK = 2 * 10**9
"""Segments times layer weights above which importing torch pays off: 80 segments of the embedded model."""
_BATCH_TOKENS = 512
"""Tokens of the rows that are computed together."""
_MOST_WEIGHTS = 4 * 10**7
"""Most layer weights of a small model. A larger one is no faster in numpy because it takes longer to load."""


def can_compute(config: StoredConfig) -> bool:
    """Whether a model can be computed in numpy.

    Args:
        config: of the model's directory.
    """
    settings = config.model
    if not all(head.has_numpy for head in registry.heads(settings)) or settings.layers.mix not in _LAYER_MIXES:
        return False
    # BERT in this package lacks token types.
    return roberta_config.is_roberta(config.encoder, with_bert=not settings.texts.has_token_types)


def most_segments(config: StoredConfig) -> int:
    """Returns the number of segments up to which a model is faster in numpy; 0 if numpy is slower or not supported.

    Args:
        config: of the model's directory.
    """
    if not can_compute(config):
        return 0
    settings = config.model
    heads = registry.heads(settings)
    encoder = roberta_config.read(config.encoder)
    n_of_heads = sum(head.n_layers for head in heads)
    n_layers = encoder.num_hidden_layers + settings.layers.extra + n_of_heads
    n_weights = n_layers * 12 * encoder.hidden_size**2
    return _MOST_WORK // n_weights if n_weights <= _MOST_WEIGHTS else 0


def load(directory: Path) -> tuple[NumpyEngine, TextEncoder, ModelConfig]:
    """Returns a model that numpy can compute, with its text encoder and settings.

    Raises:
        ModelError: if the directory is incomplete, corrupt or of another format version.
    """
    stored = checkpoint.load_arrays(directory)
    settings = stored.config.model
    encoder = roberta_config.read(stored.config.encoder)
    with checkpoint.raising_model_errors(f"{directory}: settings and tensors do not make a model"):
        tensors = StoredTensors(stored.tensors)
        engine = NumpyEngine(settings, encoder, tensors)
        if tensors.left:
            raise ModelError(f"{len(tensors.left)} tensors are missing or unexpected, such as {min(tensors.left)}")
    with checkpoint.raising_model_errors(f"{directory} has no usable tokenizer", "; must contain a tokenizer's files"):
        tokenizer = tokenizers.read(directory) or tokenizers.load_tokenizer(directory)
        longest = min(settings.texts.max_tokens, encoder.max_position_embeddings - encoder.first_position)
        is_separate = settings.texts.separate_layers > 0
        text_encoder = encoding.fitted(tokenizer, encoder.vocab_size, max_tokens=longest, is_separate=is_separate)
    return engine, text_encoder, settings


class NumpyEngine:
    """Computes the rows of a batch together, without padding. See `Engine` for the attributes."""

    precision = "float32"
    is_async = False
    batch_tokens = 4096
    lowered_batch_tokens: int | None = None
    module = None
    combine = None

    def __init__(self, config: ModelConfig, encoder: RobertaConfig, tensors: StoredTensors) -> None:
        """Takes the tensors that the settings need.

        Raises:
            ValueError: if a tensor is missing or has the wrong shape.
        """
        self._config = config
        width = encoder.hidden_size
        eps = encoder.layer_norm_eps
        name = "encoder.embeddings"
        self._words = tensors.table(f"{name}.word_embeddings.weight", encoder.vocab_size, width)
        positions = tensors(f"{name}.position_embeddings.weight", encoder.max_position_embeddings, width)
        types = tensors(f"{name}.token_type_embeddings.weight", encoder.type_vocab_size, width)
        self._places = positions[encoder.first_position :] + types[0]
        self._comparison = _comparison(tensors, width) if config.texts.separate_layers else None
        self._norm = norm(tensors, f"{name}.LayerNorm", width, eps)
        names = [f"encoder.encoder.layer.{number}" for number in range(encoder.num_hidden_layers)]
        self._layers = [_encoder_layer(tensors, name, encoder) for name in names]
        names = [f"extra_layers.{number}" for number in range(config.layers.extra)]
        self._extra_layers = [extra_layer(tensors, name, width, config.layers.extra_heads) for name in names]
        self._heads = [head.layers(tensors, width) for head in registry.heads(config)]

    def prepare(self, encodings: Sequence[Encoding]) -> Callable[[], list[WindowOutput]]:
        """Returns a function that computes the output for each encoding."""
        return lambda: self._compute_all(encodings)

    def _compute_all(self, encodings: Sequence[Encoding]) -> list[WindowOutput]:
        from threadpoolctl import threadpool_limits

        # The products are small: threads would wait for each other longer than they compute, above all on a busy
        # machine.
        with threadpool_limits(1, user_api="blas"):
            states_by_text: dict[bytes, Array] = {}
            return [output for batch in _batches(encodings) for output in self._compute(batch, states_by_text)]

    def _compute(self, batch: Sequence[Encoding], states_by_text: dict[bytes, Array]) -> list[WindowOutput]:
        """Returns the output for each row; states of texts that are read alone are kept by their ids."""
        rows = _places([len(row.ids) for row in batch])
        similarities = [0.0] * len(batch)
        if self._comparison is None:
            encoded = self._encode(np.concatenate([row.ids for row in batch]), rows)  # (tokens, width)
        else:
            encoded, similarities = self._encode_separately(batch, rows, self._comparison, states_by_text)
        final = encoded
        for layer in self._extra_layers:
            final = layer(final, rows)
        return [
            self._output(RowStates(row, encoded[place], final[place], similarity, self._words))
            for row, place, similarity in zip(batch, rows, similarities, strict=True)
        ]

    def _output(self, states: RowStates) -> WindowOutput:
        return WindowOutput(states.encoding, Outputs.of([*(head(states) for head in self._heads), _sentences(states)]))

    def _encode_separately(
        self, batch: Sequence[Encoding], rows: Sequence[slice], compare: Compare, states_by_text: dict[bytes, Array]
    ) -> tuple[Array, list[float]]:
        """Returns the encoder's states with each text read alone in the lowest layers: (tokens, width).

        The numbers beside them are the terms that the texts' similarity adds to the logits of the scores.
        """
        texts = [_texts_of(row) for row in batch]
        distinct = {ids.tobytes(): ids for of_row in texts for ids in of_row}
        new = [ids for key, ids in distinct.items() if key not in states_by_text]
        if new:
            places = _places(list(map(len, new)))
            states = self._embed(np.concatenate(new), places)
            for layer in self._layers[: self._config.texts.separate_layers]:
                states = layer(states, places)
            states_by_text |= {ids.tobytes(): states[place] for ids, place in zip(new, places, strict=True)}
        states = np.concatenate([states_by_text[ids.tobytes()] for of_row in texts for ids in of_row])
        similarities = []
        for row, place in zip(batch, rows, strict=True):
            added, similarity = compare(states[place], row.ids, row.roles)
            states[place] += added
            similarities.append(similarity)
        for layer in self._layers[self._config.texts.separate_layers :]:
            states = layer(states, rows)
        return states, similarities

    def _encode(self, ids: Int32Array, rows: Sequence[slice]) -> Array:
        """Returns the states of the encoder: (tokens of all rows, width)."""
        states = [self._embed(ids, rows)]
        for layer in self._layers:
            states.append(layer(states[-1], rows))
        return states[-1] if self._config.layers.mix == "last" else np.stack(states[-4:]).sum(0)

    def _embed(self, ids: Int32Array, rows: Sequence[slice]) -> Array:
        """Returns the input of the first layer: (tokens of all rows, width)."""
        positions = np.concatenate([np.arange(row.stop - row.start) for row in rows])
        return self._norm(self._words(ids) + self._places[positions])


def _sentences(states: RowStates) -> SentenceStates | None:
    places = states.encoding.sentences
    if places is None:
        return None
    return SentenceStates(np.stack([mean(states.encoded[start:end]) for start, end in places.tolist()]))


def _batches(encodings: Sequence[Encoding]) -> Iterator[list[Encoding]]:
    """Yields the encodings in batches of few tokens, whose states stay in the processor's caches."""
    batch: list[Encoding] = []
    for row in encodings:
        if batch and sum(len(earlier.ids) for earlier in batch) + len(row.ids) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _places(lengths: Sequence[int]) -> list[slice]:
    """Returns the places of rows with these lengths, one after the other."""
    ends = np.cumsum(lengths).tolist()
    return [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]


def _texts_of(row: Encoding) -> list[Int32Array]:
    """Returns the ids of each text of a row, which is read alone in the lowest layers."""
    assert row.text_positions is not None
    return np.split(row.ids, np.flatnonzero(row.text_positions == 0)[1:])


def _comparison(tensors: StoredTensors, width: int) -> Compare:
    """Returns `comparison.TextComparison` as a function, for one row."""
    of_roles = tensors("comparison.roles.weight", len(ROLES), width)
    project = dense(tensors, "comparison.projection", width, width)
    closeness = tensors("comparison.closeness", len(relations.RELATIONS), relations.N_CENTRES + 1, width)
    difference = tensors("comparison.difference", len(relations.RELATIONS), width, width)
    similarity = tensors("comparison.similarity", len(relations.RELATIONS)).tolist()
    centres = np.arange(relations.N_CENTRES, dtype=np.float32)

    def compare(states: Array, ids: Int32Array, roles: Int32Array) -> tuple[Array, float]:
        added = of_roles[roles]
        logit = 0.0
        projected = project(states)
        projected /= np.maximum(np.linalg.norm(projected, axis=-1, keepdims=True), np.float32(1e-12))
        for number, relation in enumerate(relations.RELATIONS):
            here, there = (np.flatnonzero(roles == role) for role in relation)
            if not len(here) or not len(there):
                continue
            cosines = projected[here] @ projected[there].T  # (tokens here, tokens there)
            closest = cosines.max(1, keepdims=True)
            shares = np.exp(np.float32(relations.SHARPNESS) * (cosines - closest))
            matched = (shares / shares.sum(1, keepdims=True)) @ states[there]
            near = np.maximum(1 - np.abs(np.maximum(closest, 0) * (relations.N_CENTRES - 1) - centres), 0)
            is_same = np.isin(ids[here], ids[there])[:, None].astype(np.float32)
            features = np.concatenate([near, is_same], 1)
            added[here] += features @ closeness[number] + (matched - states[here]) @ difference[number]
            distance = (relations.USUAL_COSINES[number] - float(closest.mean())) / relations.USUAL_SPREAD
            logit += similarity[number] * distance
        return added, logit

    return compare


def _encoder_layer(tensors: StoredTensors, name: str, encoder: RobertaConfig) -> Layer:
    """Returns a layer of `encoder.roberta.Roberta`."""
    width = encoder.hidden_size
    inner = encoder.intermediate_size
    eps = encoder.layer_norm_eps
    attended = encoder.attention_width or width
    projections = [f"{name}.attention.self.{projection}" for projection in ("query", "key", "value")]
    return Layer(
        checked_heads("num_attention_heads", encoder.num_attention_heads, attended),
        linear(
            np.concatenate([tensors(f"{projection}.weight", attended, width) for projection in projections]),
            np.concatenate([tensors(f"{projection}.bias", attended) for projection in projections]),
        ),
        dense(tensors, f"{name}.attention.output.dense", attended, width),
        norm(tensors, f"{name}.attention.output.LayerNorm", width, eps),
        dense(tensors, f"{name}.intermediate.dense", width, inner),
        dense(tensors, f"{name}.output.dense", inner, width),
        norm(tensors, f"{name}.output.LayerNorm", width, eps),
    )
