"""A tagger with an encoder of the RoBERTa family in numpy, for a few segments on a CPU.

It tags a hundred segments in less time than importing torch takes. It computes the same as `model.Tagger` with
`encoder.roberta.Roberta` in float32, one row after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from matese.errors import ModelError
from matese.model.config import KIND, TaggerConfig
from matese.model.encoder import relations, roberta_config
from matese.model.encoder.numpy_layers import Array, Function, Layer, Tensors, gelu, linear, norm
from matese.model.encoder.roberta_config import RobertaConfig
from matese.model.heads.tags.bio import IS_MAJOR, MEANING_SHARE, TAGS
from matese.model.prediction import FloatArray, WindowOutput
from matese.model.storage import checkpoint
from matese.model.texts import encoding
from matese.model.texts import tokenizer as tokenizers
from matese.model.texts.encoding import ROLES, Encoding, IntArray, TextEncoder
from matese.mqm import CATEGORIES, LOWEST_SCORE

Comparison = Callable[[Array, IntArray, IntArray], tuple[Array, float]]
"""From states, ids and roles to the terms to add to the states and to the logit of the score."""
_MOST_WORK = 10**9
"""Segments times layer weights above which importing torch pays off: a hundred segments of the embedded model."""
_MOST_WEIGHTS = 4 * 10**7
"""Most layer weights of a small model. A larger one is no faster in numpy because it takes longer to load."""
_LARGEST_EXPONENT = 700.0
"""Just below the largest x for which a float can hold exp(x)."""
_EXTRA_EPS = 1e-5
"""Epsilon of the layer norms of `model.ExtraLayer`: torch's default."""


def most_segments(directory: Path) -> int:
    """Returns the number of segments up to which a model is faster in numpy; 0 if numpy is slower or not supported.

    Raises:
        ModelError: if its configuration is corrupt.
    """
    if not (directory / checkpoint.CONFIG).is_file():
        return 0
    config = checkpoint.read_config(directory)
    if not roberta_config.is_roberta(config.encoder, with_bert=True):
        return 0
    encoder, settings = roberta_config.read(config.encoder), _settings(directory, config.settings)
    n_layers = encoder.num_hidden_layers + settings.extra_layers + settings.meaning_head
    n_weights = n_layers * 12 * encoder.hidden_size**2
    return _MOST_WORK // n_weights if n_weights <= _MOST_WEIGHTS else 0


def _settings(directory: Path, values: dict[str, object]) -> TaggerConfig:
    return checkpoint.convert(values, TaggerConfig, directory / checkpoint.CONFIG)


def load(directory: Path) -> tuple[NumpyEngine, TextEncoder, TaggerConfig]:
    """Returns a model for which `most_segments` is not 0, with its text encoder and settings.

    Raises:
        ModelError: if the directory is incomplete, corrupt, of another kind or of a future format version.
    """
    stored = checkpoint.load_arrays(directory, kind=KIND)
    config, encoder = _settings(directory, stored.config.settings), roberta_config.read(stored.config.encoder)
    with checkpoint.raising_model_errors(f"{directory}: settings and tensors do not make a tagger"):
        tensors = Tensors(stored.tensors)
        engine = NumpyEngine(config, encoder, tensors)
        if tensors.left:
            raise ModelError(f"{len(tensors.left)} tensors are missing or unexpected, such as {min(tensors.left)}")
    with checkpoint.raising_model_errors(f"{directory} has no usable tokenizer", "; must contain a tokenizer's files"):
        tokenizer = tokenizers.read(directory) or tokenizers.load_tokenizer(directory)
        longest = min(config.max_tokens, encoder.max_position_embeddings - encoder.first_position)
        is_separate = config.separate_layers > 0
        text_encoder = encoding.fitted(tokenizer, encoder.vocab_size, max_tokens=longest, is_separate=is_separate)
    return engine, text_encoder, config


class NumpyEngine:
    """Computes one row after the other. See `Engine` for the attributes."""

    precision = "float32"
    is_async = False
    batch_tokens = 4096
    lowered_batch_tokens: int | None = None
    module = None

    def __init__(self, config: TaggerConfig, encoder: RobertaConfig, tensors: Tensors) -> None:
        """Takes the tensors that the settings need.

        Raises:
            ValueError: if a tensor is missing or has the wrong shape.
        """
        self._config = config
        width, eps, name = encoder.hidden_size, encoder.layer_norm_eps, "encoder.embeddings"
        self._words = tensors.table(f"{name}.word_embeddings.weight", encoder.vocab_size, width)
        positions = tensors(f"{name}.position_embeddings.weight", encoder.max_position_embeddings, width)
        types = tensors(f"{name}.token_type_embeddings.weight", encoder.type_vocab_size, width)
        self._places = positions[encoder.first_position :] + types[0]
        self._comparison = _comparison(tensors, width) if config.separate_layers else None
        self._norm = norm(tensors, f"{name}.LayerNorm", width, eps)
        names = [f"encoder.encoder.layer.{number}" for number in range(encoder.num_hidden_layers)]
        self._layers = [_encoder_layer(tensors, name, encoder) for name in names]
        names = [f"extra_layers.{number}" for number in range(config.extra_layers)]
        self._extra_layers = [_extra_layer(tensors, name, width, config.extra_heads) for name in names]
        self._tag_head = _linear(tensors, "tag_head", width, len(TAGS))
        if config.score_head:
            n_pooled = 2 if config.score_pooling == "texts" else 1
            self._score_inner = _linear(tensors, "score_head.0", n_pooled * width, width)
            self._score_outer = _linear(tensors, "score_head.3", width, 1)
        if config.meaning_head:
            self._meaning_layer = _extra_layer(tensors, "meaning_head.layer", width, config.extra_heads)
            self._meaning_tokens = _linear(tensors, "meaning_head.tokens", width, 1)
            self._meaning_inner = _linear(tensors, "meaning_head.segment.0", 4 * width, width)
            self._meaning_outer = _linear(tensors, "meaning_head.segment.3", width, 1)
        if config.omission_head:
            self._omission_head = _token_head(tensors, "omission_head", (width, width, 1))
        if config.category_head:
            self._category_head = _token_head(tensors, "category_head", (3 * width, width, len(CATEGORIES)))

    def prepare(self, encodings: Sequence[Encoding]) -> Callable[[], list[WindowOutput]]:
        """Returns a function that computes the output for each encoding."""
        return lambda: self._compute_all(encodings)

    def _compute_all(self, encodings: Sequence[Encoding]) -> list[WindowOutput]:
        from threadpoolctl import threadpool_limits

        # The products are small: threads would wait for each other longer than they compute, above all on a busy
        # machine.
        with threadpool_limits(1, user_api="blas"):
            read: dict[bytes, Array] = {}
            return [self._compute(encoding, read) for encoding in encodings]

    def _compute(self, row: Encoding, known: dict[bytes, Array]) -> WindowOutput:
        """Returns the output for a row; `known` caches the states of texts that are read alone, by their ids."""
        similarity = 0.0
        if self._comparison is None:
            states = self._encode(row)  # (tokens, width)
        else:
            states, similarity = self._encode_separately(row, self._comparison, known)
        encoded = states
        for layer in self._extra_layers:
            states = layer(states)
        hypothesis = slice(row.first, row.first + len(row.ranges))
        hypothesis_states = states[hypothesis]
        score, lacking = self._score(hypothesis_states, states[row.roles > 1], similarity), self._lacking(row, states)
        categories = None
        if self._config.category_head:
            read = [hypothesis_states, encoded[hypothesis], self._words(row.ids[hypothesis])]
            categories = self._category_head(np.concatenate(read, -1))
        logits = self._tag_head(hypothesis_states).astype(np.float64)
        logits -= logits.max(-1, keepdims=True)
        log_probabilities = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        if self._config.meaning_head and self._config.meaning_thresholds:
            log_probabilities, score = self._with_errors_of_meaning(row, encoded, log_probabilities, score)
        return WindowOutput(row, log_probabilities, score, lacking, categories)

    def _with_errors_of_meaning(
        self, row: Encoding, encoded: Array, log_probabilities: FloatArray, score: float | None
    ) -> tuple[FloatArray, float | None]:
        """Returns the output with the errors of meaning, as `model.Tagger`."""
        texts = [name for name in ("source", "reference") if (row.roles == ROLES.index(name)).any()]
        kind = "+".join(texts)
        if kind not in self._config.inputs:
            return log_probabilities, score
        states = self._meaning_layer(encoded)
        hypothesis = states[row.first : row.first + len(row.ranges)]
        contexts = states[row.roles > 1]
        largest = [part.max(0) if len(part) else np.zeros(part.shape[1], part.dtype) for part in (hypothesis, contexts)]
        pooled = np.concatenate([_mean(hypothesis), _mean(contexts), *largest])
        (logit,) = self._meaning_outer(gelu(self._meaning_inner(pooled))).tolist()
        threshold = self._config.meaning_thresholds[self._config.inputs.index(kind)]
        strength = math.tanh(max(0.0, logit - threshold))
        if strength == 0:
            return log_probabilities, score
        share = strength / (1 + np.exp(-self._meaning_tokens(hypothesis).astype(np.float64)))  # (tokens, 1)
        probabilities = np.exp(log_probabilities)
        major = probabilities * np.array(IS_MAJOR)
        mixed = (1 - share) * probabilities + share * major / major.sum(-1, keepdims=True)
        lowered = None if score is None else score + (LOWEST_SCORE - score) * MEANING_SHARE * strength
        return np.log(np.maximum(mixed, np.finfo(np.float32).tiny)), lowered

    def _score(self, hypothesis: Array, contexts: Array, similarity: float) -> float | None:
        """Returns the score, from the states of the hypothesis and of the other texts and from their similarity."""
        if not self._config.score_head:
            return None
        pooled = _mean(hypothesis)
        if self._config.score_pooling == "texts":
            pooled = np.concatenate([pooled, _mean(contexts)])
        (logit,) = self._score_outer(gelu(self._score_inner(pooled))).tolist()
        return LOWEST_SCORE / (1 + math.exp(min(-logit - similarity, _LARGEST_EXPONENT)))

    def _lacking(self, row: Encoding, states: Array) -> FloatArray | None:
        """Returns the probability that the hypothesis lacks each token of the last context."""
        if not self._config.omission_head or row.context is None:
            return None
        read = states[row.context.first : row.context.first + len(row.context.ranges)]
        logits = self._omission_head(read)[:, 0]
        return 1 / (1 + np.exp(-logits.astype(np.float64)))

    def _encode_separately(self, row: Encoding, compare: Comparison, read: dict[bytes, Array]) -> tuple[Array, float]:
        """Returns the encoder's states with each text read alone in the lowest layers: (tokens, width).

        The number beside them is the term that the texts' similarity adds to the logit of the score.
        """
        assert row.text_positions is not None
        parts = []
        for ids in np.split(row.ids, np.flatnonzero(row.text_positions == 0)[1:]):
            key = ids.tobytes()
            if key not in read:
                states = self._norm(self._words(ids) + self._places[: len(ids)])
                for layer in self._layers[: self._config.separate_layers]:
                    states = layer(states)
                read[key] = states
            parts.append(read[key])
        states = np.concatenate(parts)
        added, similarity = compare(states, row.ids, row.roles)
        states += added
        for layer in self._layers[self._config.separate_layers :]:
            states = layer(states)
        return states, similarity

    def _encode(self, row: Encoding) -> Array:
        """Returns the states of the encoder: (tokens, width)."""
        states = [self._norm(self._words(row.ids) + self._places[: len(row.ids)])]
        for layer in self._layers:
            states.append(layer(states[-1]))
        return states[-1] if self._config.layer_mix == "last" else np.stack(states[-4:]).sum(0)


def _comparison(tensors: Tensors, width: int) -> Comparison:
    """Returns `comparison.Comparison` as a function, for one row."""
    of_roles = tensors("comparison.roles.weight", len(ROLES), width)
    project = _linear(tensors, "comparison.projection", width, width)
    closeness = tensors("comparison.closeness", len(relations.RELATIONS), relations.N_CENTRES + 1, width)
    difference = tensors("comparison.difference", len(relations.RELATIONS), width, width)
    similarity = tensors("comparison.similarity", len(relations.RELATIONS)).tolist()
    centres = np.arange(relations.N_CENTRES, dtype=np.float32)

    def compare(states: Array, ids: IntArray, roles: IntArray) -> tuple[Array, float]:
        added, logit = of_roles[roles], 0.0
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


def _mean(states: Array) -> Array:
    """Returns the mean over the tokens, 0 without any: (width,)."""
    mean: Array = states.sum(0) / np.float32(max(1, len(states)))
    return mean


def _token_head(tensors: Tensors, name: str, widths: tuple[int, int, int]) -> Function:
    inner, outer = _linear(tensors, f"{name}.0", *widths[:2]), _linear(tensors, f"{name}.2", *widths[1:])
    return lambda states: outer(gelu(inner(states)))


def _linear(tensors: Tensors, name: str, n_inputs: int, n_outputs: int) -> Function:
    return linear(tensors(f"{name}.weight", n_outputs, n_inputs), tensors(f"{name}.bias", n_outputs))


def _encoder_layer(tensors: Tensors, name: str, encoder: RobertaConfig) -> Layer:
    """Returns a layer of `encoder.roberta.Roberta`."""
    width, inner, eps = encoder.hidden_size, encoder.intermediate_size, encoder.layer_norm_eps
    attended = encoder.attention_width or width
    projections = [f"{name}.attention.self.{projection}" for projection in ("query", "key", "value")]
    return Layer(
        _heads("num_attention_heads", encoder.num_attention_heads, attended),
        linear(
            np.concatenate([tensors(f"{projection}.weight", attended, width) for projection in projections]),
            np.concatenate([tensors(f"{projection}.bias", attended) for projection in projections]),
        ),
        _linear(tensors, f"{name}.attention.output.dense", attended, width),
        norm(tensors, f"{name}.attention.output.LayerNorm", width, eps),
        _linear(tensors, f"{name}.intermediate.dense", width, inner),
        _linear(tensors, f"{name}.output.dense", inner, width),
        norm(tensors, f"{name}.output.LayerNorm", width, eps),
    )


def _extra_layer(tensors: Tensors, name: str, width: int, n_heads: int) -> Layer:
    """Returns a `model.ExtraLayer`."""
    attention = f"{name}.self_attn"
    return Layer(
        _heads("extra_heads", n_heads, width),
        linear(
            tensors(f"{attention}.in_proj_weight", 3 * width, width), tensors(f"{attention}.in_proj_bias", 3 * width)
        ),
        _linear(tensors, f"{attention}.out_proj", width, width),
        norm(tensors, f"{name}.norm1", width, _EXTRA_EPS),
        _linear(tensors, f"{name}.linear1", width, 4 * width),
        _linear(tensors, f"{name}.linear2", 4 * width, width),
        norm(tensors, f"{name}.norm2", width, _EXTRA_EPS),
    )


def _heads(name: str, number: int, width: int) -> int:
    """Returns the number of heads if it divides the width, and raises a ValueError otherwise."""
    if width % number:
        raise ValueError(f"{name} {number}: must divide the encoder's width {width}")
    return number
