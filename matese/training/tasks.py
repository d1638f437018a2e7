"""The parts of a training run that differ between kinds of models."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import nn
from torch.utils.data import DataLoader
from transformers import PreTrainedTokenizerBase

from matese.encoder import encoding
from matese.encoder.encoder import plain_config
from matese.encoder.encoding import InputKind
from matese.regression import loading as regression
from matese.regression.model import Regressor
from matese.tagger import loading
from matese.tagger.model import Tagger
from matese.training import batching, labels, preparation, regression_data, regression_module, validation
from matese.training.batching import Limits, MakeBatch
from matese.training.config import Config
from matese.training.corpus import Corpus
from matese.training.module import TaggerModule
from matese.training.optimisation import TrainingModule
from matese.training.regression_module import RegressionModule


class TaggerTask:
    """Creates, trains and saves a tagger.

    Attributes:
        labels: the labels that it learns from ratings.
        make_batch: turns draws into a batch.
        monitored: figure of the validation that chooses the best state.
        model: the model with its initial weights.
        text_encoder: turns texts into the model's input.
        needs_spans: whether training ratings, and validation ratings, must have spans.
        longest: longest input, in tokens.
        dev_loader: returns one device's share of the dev data for one kind of input.
    """

    make_batch: MakeBatch[Any] = staticmethod(batching.make_batch)
    monitored = TaggerModule.monitored

    def __init__(self, config: Config, tokenizer: PreTrainedTokenizerBase) -> None:
        self._config, self._tokenizer = config, tokenizer
        self.labels = labels.OF_TAGGER
        if config.tagger.category_head:
            self.labels = dataclasses.replace(self.labels, of_categories=labels.category_labels)
        self.model: Tagger = preparation.make_tagger(config, tokenizer)
        self.text_encoder = self.model.text_encoder(tokenizer)
        self.needs_spans = (self.model.score_head is None, True)
        self.longest = config.tagger.max_tokens * (2 if self.model.has_decoder else 1)
        self.dev_loader = validation.dev_loader

    def module(self, *, n_steps: int, n_frozen_steps: int, dev_inputs: tuple[InputKind, ...]) -> TrainingModule:
        """Returns the Lightning module."""
        return TaggerModule(
            self.model,
            self._config.training,
            n_steps=n_steps,
            n_frozen_steps=n_frozen_steps,
            dev_inputs=dev_inputs,
            n_rater_groups=len(self._config.data.rater_groups),
        )

    def save(self, directory: Path, model: nn.Module, *, card: str, training: Mapping[str, object]) -> None:
        """Writes the model directory."""
        assert isinstance(model, Tagger)
        precision = self._config.training.saved_precision
        loading.save_tagger(directory, model, self._tokenizer, card=card, training=training, precision=precision)


class RegressionTask:
    """Creates, trains and saves a regression model. See `TaggerTask` for the attributes."""

    needs_spans = (False, False)

    def __init__(self, config: Config, tokenizer: PreTrainedTokenizerBase) -> None:
        assert config.regression is not None
        self._config, self._tokenizer = config, tokenizer
        self.model: Regressor = preparation.make_regressor(config, tokenizer)
        self.longest = config.regression.max_tokens
        self.text_encoder = encoding.text_encoder(self.model.encoder, tokenizer, max_tokens=self.longest)
        self.labels = labels.of_regression(config.regression.severities)
        self.monitored = regression_module.monitored(config.regression)
        is_unified = config.regression.architecture == "unified"
        self.make_batch: MakeBatch[Any] = functools.partial(regression_data.make_batch, is_unified=is_unified)

    def dev_loader(self, corpus: Corpus, inputs: InputKind, limits: Limits) -> DataLoader[Any]:
        """Returns one device's share of the dev data for one kind of input."""
        return batching.dev_loader(corpus, inputs, limits, functools.partial(self.make_batch, corpus))

    def module(self, *, n_steps: int, n_frozen_steps: int, dev_inputs: tuple[InputKind, ...]) -> TrainingModule:
        """Returns the Lightning module."""
        steps = {"n_steps": n_steps, "n_frozen_steps": n_frozen_steps}
        return RegressionModule(self.model, self._config.training, **steps, dev_inputs=dev_inputs)

    def save(self, directory: Path, model: nn.Module, *, card: str, training: Mapping[str, object]) -> None:
        """Writes the model directory."""
        assert isinstance(model, Regressor)
        loaded = regression.Loaded(model, self._tokenizer, plain_config(model.encoder))
        precision = self._config.training.saved_precision
        regression.save(directory, loaded, card=card, training=training, precision=precision)


Task = TaggerTask | RegressionTask


def task_of(config: Config, tokenizer: PreTrainedTokenizerBase) -> Task:
    """Returns the task that the settings describe.

    Raises:
        InputError: if the encoder cannot be loaded or does not fit the settings.
    """
    return TaggerTask(config, tokenizer) if config.regression is None else RegressionTask(config, tokenizer)
