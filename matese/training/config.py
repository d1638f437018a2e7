"""The settings of a training run, as `configs/*.yaml` hold them."""

from __future__ import annotations

import dataclasses
import typing
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import yaml
from msgspec import Meta

from matese.errors import InputError
from matese.merging import MergeMethod
from matese.model.config import ModelConfig
from matese.model.heads.settings import HeadSettings
from matese.model.storage import checkpoint
from matese.model.storage.packing import StoredPrecision
from matese.validation import settings
from matese.validation.options import (
    AboveZeroShare,
    Count,
    CountOrZero,
    NonNegative,
    Positive,
    Share,
    ShareBelowOne,
    attribute_docs,
)

FINETUNING = Path(__file__).with_name("finetune.yaml")
"""Settings with which a finished model learns from further ratings."""
Schedule = Literal["linear", "constant"]
Files = Annotated[tuple[str, ...], Meta(min_length=1)]
SUBJECTS = (*(head.name for head in dataclasses.fields(HeadSettings)), "same_meaning")
"""What ratings teach: a head, or `same_meaning`."""
Subject = Literal[SUBJECTS]  # type: ignore[valid-type]
DEFAULT_SUBJECTS = frozenset(SUBJECTS) - {"meaning"}
"""What ratings teach as far as they can, unless a file of training data says otherwise."""


@dataclass(frozen=True)
class TextsConfig:
    """The texts of a test set.

    Attributes:
        source: text file of the sources, one per line; null for none.
        references: text files of the references.
        test_set: a test set of sacreBLEU or a directory of mt-metrics-eval, instead of files.
        lang_pair: language pair of that test set.
    """

    source: str | None = None
    references: tuple[str, ...] = ()
    test_set: str | None = None
    lang_pair: str | None = None


@dataclass(frozen=True)
class RatedFile:
    """Ratings to train on.

    Attributes:
        file: a file in any format that matese convert reads.
        share: share of its sources to use, chosen by a hash of the source.
        teaches: the heads that learn from it; null for all that the ratings can teach, except errors of meaning. With
            meaning, each error is an error of meaning, as in contrasts. With same_meaning, which is part of the
            default, translations without errors, or with Minor ones alone, teach that head what means the same.
        raters: name of raters who mark or score differently from the others, for example more often; files can share
            it. Their bias in tags and scores is learned separately and is not part of the model. null for none.
    """

    file: str
    share: AboveZeroShare = 1.0
    teaches: Annotated[tuple[Subject, ...], Meta(min_length=1)] | None = None
    raters: str | None = None


@dataclass(frozen=True)
class UnratedData:
    """Translations that nobody rated. The model scores them by the reference, and then learns from these scores.

    Attributes:
        files: files of translations with a source and a reference, in any format that matese convert reads.
        after: share of the optimizer steps after which they are scored, with the weights of that step.
        by_source: share of their sources whose translations are then read by the source alone; the others are read
            with the reference.
    """

    files: Files
    after: AboveZeroShare = 0.4
    by_source: Share = 0.5


@dataclass(frozen=True)
class DataConfig:
    """Training and validation data.

    Attributes:
        train: ratings to train on; a file name stands for all that is in the file.
        unrated: translations that nobody rated, to learn from, too; null for none.
        dev: files of ratings to validate on; empty with held_out.
        held_out: share of the sources of `train` that are validated on, and not learned from.
        rater: the rater whose ratings are used; null for all raters.
        prepare: raw ratings are prepared as in Perrella et al. 2022, section 2.1: the raters of a segment are merged
            ("union" or "majority" of their errors), also those in several files of `train` with the same settings or
            in several files of `dev`; Critical is Major, errors that are not in the hypothesis are left out, and the
            score is the mean of the raters'. Prepared ratings stay as they are. null to use each rating.
        pieces: whether rated texts of several sentences are also learned from in pieces, as a tagger reads them: each
            with its own errors, and the score that follows from these.
        texts: sources and references of test sets, for ratings whose file lacks them, such as raw MQM TSV. With several
            test sets, a rating belongs to the one that has its source.
        lang_pair: language pair of files that do not state it; null for none.
    """

    train: Annotated[tuple[str | RatedFile, ...], Meta(min_length=1)] = ("data/prepared/train.jsonl",)
    unrated: UnratedData | None = None
    dev: tuple[str, ...] = ("data/prepared/dev.jsonl",)
    held_out: ShareBelowOne = 0.0
    rater: str | None = None
    prepare: MergeMethod | None = "union"
    pieces: bool = False
    texts: tuple[TextsConfig, ...] = ()
    lang_pair: str | None = None

    def __post_init__(self) -> None:
        if bool(self.dev) == bool(self.held_out):
            raise InputError(f"dev {list(self.dev)}: must be files, or empty with held_out above 0")

    @property
    def rated(self) -> tuple[RatedFile, ...]:
        """The ratings to train on."""
        return tuple(RatedFile(entry) if isinstance(entry, str) else entry for entry in self.train)

    @property
    def files(self) -> tuple[str, ...]:
        """All files to train on."""
        return (*(rated_file.file for rated_file in self.rated), *(self.unrated.files if self.unrated else ()))

    @property
    def groups(self) -> Mapping[RatedFile, Sequence[str]]:
        """The files to train on by their other settings; those with the same settings are prepared together."""
        groups: dict[RatedFile, list[str]] = defaultdict(list)
        for rated_file in self.rated:
            groups[dataclasses.replace(rated_file, file="")].append(rated_file.file)
        return groups

    @property
    def dev_groups(self) -> Sequence[Sequence[str]]:
        """The files to validate on, those together that are prepared together."""
        return (self.dev,) if self.dev else tuple(self.groups.values())

    @property
    def least_dev_hash(self) -> float:
        """Least hash of the sources to validate on."""
        return 1 - self.held_out if self.held_out else 0.0

    @property
    def raters(self) -> tuple[str, ...]:
        """Names of raters whose bias is learned."""
        return tuple(dict.fromkeys(rated_file.raters for rated_file in self.rated if rated_file.raters is not None))


@dataclass(frozen=True)
class TrainingConfig:
    """Optimisation, validation and hardware.

    Attributes:
        learning_rate: highest learning rate of the new layers.
        encoder_learning_rate: highest learning rate of the encoder; null for that of the new layers.
        frozen_layers: number of the lowest encoder layers that are not trained, in addition to the embeddings.
        freeze_embeddings: whether the encoder's embeddings are frozen; null to freeze those of a pretrained encoder.
        frozen_steps: optimizer steps at the start during which the encoder is frozen.
        frozen_epochs: passes over the training data at the start, usually a fraction, during which the encoder is
            frozen, in addition to frozen_steps.
        layer_decay: factor from the learning rate of an encoder layer to that of the layer below it; the highest layer
            has encoder_learning_rate.
        mix_with_encoder: for a model with a learned mix of the encoder's layers, whether the weights of the layers are
            trained with the encoder, at its learning rate and frozen as long as it is, as in Rei et al. 2020, section
            4.1; otherwise they are trained as the new layers, as unbabel-comet does.
        schedule: decay of the learning rate after the warm-up: linear to 0, or constant.
        warmup: share of all steps in which the learning rate rises.
        weight_decay: weight decay of all parameters except biases and norms.
        batch_tokens: largest number of tokens in a batch on one device, including padding and special tokens.
        accumulate: batches per optimizer step; the gradient is the mean of theirs. Each loss is a mean over the labels
            of a batch, so that a label counts more in a batch with few of its kind.
        averaged: share of the optimizer steps, at the end, whose weights' mean becomes the model (Izmailov et al. 2018,
            arXiv 1803.05407); every fifth step counts, and validations measure the mean so far. 0 for the last weights.
        clip: largest norm of the gradient; null for no limit.
        max_epochs: passes over the training data; may be a fraction.
        max_steps: largest number of optimizer steps; null for no limit besides max_epochs.
        validate_every: passes over the training data between two validations; may be a fraction.
        patience: validations without improvement after which training stops; null for never.
        score_loss_weight: weight of the loss of the score head; that of the tags has weight 1.
        ranking_loss_weight: weight of the loss that ranks translations of one source by their scores.
        difference_loss_weight: weight of the loss of the differences between the scores of translations of one source.
        meaning_loss_weight: weight of the losses of the meaning head.
        label_weights: for a model with severities, the weight of each label in the loss of the labels: no
            error, then each severity; empty for equal weights.
        pair_gap: for a ranking model, the scores of a training pair differ by more than this, where 1 is the distance
            from the worst to the best score; 0.25 is the 25 points of daRR (Ma et al. 2019).
        group_size: largest number of translations of one source that are drawn together, for the ranking loss and
            for ranking models.
        precision: bf16 for bfloat16 autocast with float32 weights, float32, or auto for bf16 if the hardware has it.
        kept: which state becomes the model: the one with the best validation, or the last one.
        saved_precision: precision of the weights in the model directory: float32, float16, or int8 (matrices in 8 bits,
            the others in float16).
        accelerator: hardware to train on; auto for the best available.
        devices: number of devices on each machine; auto for all.
        num_nodes: number of machines.
        workers: processes that prepare batches; 0 to prepare them in the training process.
        seed: random seed.
        save_minutes: minutes between two saved states from which training can resume; Ctrl-C and SIGTERM save one too.
        log_every: optimizer steps between two lines of the log.
    """

    learning_rate: Positive = 1e-4
    encoder_learning_rate: Positive | None = None
    frozen_layers: CountOrZero = 0
    freeze_embeddings: bool | None = None
    frozen_steps: CountOrZero = 0
    frozen_epochs: NonNegative = 0.0
    layer_decay: AboveZeroShare = 1.0
    mix_with_encoder: bool = False
    schedule: Schedule = "linear"
    warmup: ShareBelowOne = 0.1
    weight_decay: NonNegative = 0.01
    batch_tokens: Count = 8192
    accumulate: Count = 1
    averaged: ShareBelowOne = 0.0
    clip: Positive | None = 1.0
    max_epochs: Positive = 3.0
    max_steps: Count | None = None
    validate_every: Positive = 0.5
    patience: Count | None = None
    score_loss_weight: NonNegative = 1.0
    ranking_loss_weight: NonNegative = 0.0
    difference_loss_weight: NonNegative = 0.0
    meaning_loss_weight: NonNegative = 1.0
    label_weights: tuple[Positive, ...] = ()
    pair_gap: NonNegative = 0.25
    group_size: Count = 1
    precision: Literal["auto", "bf16", "float32"] = "auto"
    kept: Literal["best", "last"] = "best"
    saved_precision: StoredPrecision = "float32"
    accelerator: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    devices: Count | Literal["auto"] = "auto"
    num_nodes: Count = 1
    workers: CountOrZero = 0
    seed: CountOrZero = 1
    save_minutes: NonNegative = 10.0
    log_every: Count = 20


@dataclass(frozen=True)
class Config:
    """All settings of a training run.

    Attributes:
        encoder: hub id or directory of a pretrained encoder; or an embedded model or model directory, to use its
            encoder; or a configuration with a model_type, for an encoder with random weights, whose vocab_size and
            special tokens default to the tokenizer's. Without it, encoder, tokenizer and settings of the model are
            those of start.
        output: directory of the run; use its subdirectory model as `matese tag --model`.
        tokenizer: hub id or directory of the tokenizer; null for the encoder's.
        model: settings of the model. By default, it is a tagger.
        data: training and validation data.
        training: optimisation, validation and hardware.
        start: embedded model, or directory or hub id of a model, to start training from its weights; null for none. Its
            settings must be the same, except for heads beside the tags, the quality or the ranks: new ones start
            untrained, and heads that `model` does not have are dropped. A head that the ratings cannot teach stays as
            it is.
    """

    encoder: str | dict[str, object]
    output: str
    tokenizer: str | None = None
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    start: str | None = None

    def __post_init__(self) -> None:
        if not self.is_pretrained and "model_type" not in self.encoder:
            raise InputError("encoder has no model_type: must be a hub id, a directory or a mapping with a model_type")
        if not self.is_pretrained and self.tokenizer is None:
            raise InputError("tokenizer is null: must be a hub id or a directory for an encoder with random weights")
        model = self.model
        training = self.training
        if training.mix_with_encoder and not model.layers.has_learned_mix:
            raise InputError("training.mix_with_encoder: must be false for a model that does not mix layers")
        row_format = model.texts.row_format
        if row_format != "special-tokens":
            raise InputError(f"model.texts.row_format {row_format}: must be special-tokens in training")
        if self.data.raters and model.heads.tags is None:
            raise InputError(f"data.train: raters {self.data.raters[0]}: must be null except for a tagger")
        if self.data.unrated is not None:
            self._check_unrated(self.data.unrated)
        if model.heads.ranking is not None and training.group_size < 2:
            raise InputError(f"training.group_size {training.group_size}: must be 2 or more for a ranking model")
        self._check_losses()

    def _check_unrated(self, unrated: UnratedData) -> None:
        """Raises an InputError if the model cannot score translations, or cannot read them."""
        if self.model.heads.score is None:
            raise InputError("data.unrated: must be null without model.heads.score, which scores them")
        needed = (("reference", True), ("source", unrated.by_source > 0))
        for name, is_needed in needed:
            if is_needed and name not in self.model.texts.inputs:
                raise InputError(f"data.unrated: model.texts.inputs must have {name}, by which they are read")

    def _check_losses(self) -> None:
        """Raises an InputError for the weight of a loss that the model does not have."""
        model = self.model
        training = self.training
        for name in ("ranking_loss_weight", "difference_loss_weight"):
            if getattr(training, name) and model.heads.score is None:
                raise InputError(f"training.{name} {getattr(training, name):g}: must be 0 without model.heads.score")
        severities = () if model.heads.word_labels is None else model.heads.word_labels.severities
        if len(training.label_weights) not in (0, (1 + len(severities)) if severities else 0):
            n_labels = f"{1 + len(severities)} numbers, for no error and each severity"
            allowed = n_labels if severities else "empty for a model without model.heads.word_labels"
            raise InputError(f"training.label_weights {list(training.label_weights)}: must be {allowed}")

    @property
    def is_finetuning(self) -> bool:
        """Whether a finished model is trained further on ratings of which a part is held out."""
        return self.start is not None and self.encoder == self.start

    @property
    def is_pretrained(self) -> bool:
        """Whether the encoder is pretrained."""
        return isinstance(self.encoder, str)


def load(path: str | Path, *, overrides: Sequence[tuple[str, str]] = ()) -> Config:
    """Returns the settings in a YAML file; overrides are pairs of a dotted key and a YAML value.

    Raises:
        FormatError: for an unknown, duplicate or missing key and for a value that is not allowed.
        OSError: if the file cannot be read.
    """
    return settings.read(path, Config, overrides=overrides, defaults=_of_start)


def _of_start(values: Mapping[str, object]) -> Mapping[str, object]:
    """Returns the settings that a file without an encoder takes from its start."""
    start = values.get("start")
    if "encoder" in values or not isinstance(start, str):
        return {}
    stored = checkpoint.read_config(checkpoint.resolve(start)).model
    return {"encoder": start, "tokenizer": start, "model": msgspec.json.decode(msgspec.json.encode(stored))}


def to_builtins(config: Config) -> dict[str, Any]:
    """Returns the settings as plain mappings, lists and values, for YAML or JSON.

    Raises:
        InputError: if a setting, such as a file name, is not Unicode.
    """
    try:
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(config))
    except UnicodeEncodeError as error:
        raise InputError(f"setting {error.object!r}: must be Unicode text") from None
    return plain


def dump(config: Config) -> str:
    """Returns the settings as YAML that `load` reads."""
    return yaml.safe_dump(to_builtins(config), sort_keys=False, allow_unicode=True, width=120)


def resolve(config: Config) -> Config:
    """Returns the settings with each null default replaced by its actual value."""
    training = config.training
    is_frozen = config.is_pretrained or training.frozen_layers > 0
    freeze = is_frozen if training.freeze_embeddings is None else training.freeze_embeddings
    rate = training.encoder_learning_rate or training.learning_rate
    changed = dataclasses.replace(training, freeze_embeddings=freeze, encoder_learning_rate=rate)
    return dataclasses.replace(config, training=changed)


def describe(kind: type = Config) -> str:
    """Returns all settings as YAML with their defaults, each under its documentation."""
    return "\n".join(_describe(kind, "", None))


def _describe(kind: Any, indent: str, defaults: object) -> Iterator[str]:  # noqa: ANN401  (a dataclass)
    """Yields the lines of a dataclass; its defaults are those of an instance, or its own for None."""
    documented = attribute_docs(kind)
    hints = typing.get_type_hints(kind)
    for setting in dataclasses.fields(kind):
        yield f"{indent}# {documented[setting.name]}"
        own_default = setting.default if setting.default_factory is dataclasses.MISSING else setting.default_factory()
        default = own_default if defaults is None else getattr(defaults, setting.name)
        if dataclasses.is_dataclass(default):
            yield f"{indent}{setting.name}:" + ("" if dataclasses.fields(default) else " {}")
            yield from _describe(type(default), indent + "  ", default)
        elif default is dataclasses.MISSING:
            yield f"{indent}{setting.name}: (required)"
        else:
            yield f"{indent}{setting.name}: {msgspec.json.encode(default).decode()}"
            for nested, is_item in _nested(hints[setting.name]):
                yield f"{indent}# {'with items of:' if is_item else 'or:'}"
                if not is_item:
                    yield f"{indent}# {setting.name}:{'' if dataclasses.fields(nested) else ' {}'}"
                yield from (f"{indent}# {line}" for line in _describe(nested, "  ", None))


def _nested(hint: Any, *, is_item: bool = False) -> Iterator[tuple[type, bool]]:  # noqa: ANN401  (of a setting)
    """Yields the dataclasses that a setting can hold, if they are documented, and whether each is an item of a list."""
    is_item = is_item or typing.get_origin(hint) is tuple
    for choice in typing.get_args(hint):
        if isinstance(choice, type) and dataclasses.is_dataclass(choice):
            if len(attribute_docs(choice)) == len(dataclasses.fields(choice)):
                yield choice, is_item
        elif typing.get_origin(choice) is not Literal:
            yield from _nested(choice, is_item=is_item)
