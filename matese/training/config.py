"""The settings of a training run, as `configs/*.yaml` hold them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from matese.encoder.storage import StoredPrecision
from matese.formats.lines import FormatError
from matese.tagger.config import TaggerConfig
from matese.tagger.tags import TAGS
from matese.training import settings

Schedule = Literal["linear", "cosine", "constant"]
ClassWeights = tuple[float, float, float, float, float]
_Number = TypeVar("_Number", int, float)
_LEAST = {
    1: "batch_tokens accumulate max_steps patience num_nodes log_every devices group_size",
    0: "frozen_steps weight_decay save_minutes workers seed "
    "score_loss_weight ranking_loss_weight doubt_loss_weight masked_loss_weight",
}
"""The lowest that settings of the training may be."""


@dataclass(frozen=True)
class VocabularyConfig:
    """A unigram tokenizer that is trained on the training texts.

    Attributes:
        vocab_size: pieces at most, the 4 special ones and the 256 bytes among them.
        character_coverage: share of the texts' characters that may be in pieces; what is rarer is spelt in bytes.
        extends: directory of such a tokenizer, whose pieces keep their numbers; null for none. With `start`, a tagger
            of this directory learns more languages.
        files: of ratings whose texts the pieces are learned from, such as those of the new languages alone; empty for
            what is trained on.
    """

    vocab_size: int = 20000
    character_coverage: float = 0.9999
    extends: str | None = None
    files: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _at_least("vocab_size", self.vocab_size, 300)
        if not 0 < self.character_coverage <= 1:
            raise ValueError(f"character_coverage {self.character_coverage}: must be more than 0, at most 1")


@dataclass(frozen=True)
class DataConfig:
    """What is learned from and what is validated on.

    Attributes:
        train: files of ratings to learn from, one JSON object a line, from the working directory on.
        shares: of each of these files' sources, those that are learned from; empty for all of all.
        dev: files of ratings that choose the best model.
        habits: test sets whose raters have habits of their own, such as marking more, and such raters: what these add
            to tags, and how they spread and shift scores, is learned beside the model and left out of it.
    """

    train: tuple[str, ...] = ("data/prepared/train.jsonl",)
    shares: tuple[float, ...] = ()
    dev: tuple[str, ...] = ("data/prepared/dev.jsonl",)
    habits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("train", "dev"):
            if not getattr(self, name):
                raise ValueError(f"{name} is an empty list: must name one file or more")
        if len(self.shares) not in (0, len(self.train)) or not all(0 < share <= 1 for share in self.shares):
            raise ValueError(
                f"shares {list(self.shares)}: must be a number above 0, at most 1, for each of the "
                f"{len(self.train)} files, or empty"
            )


@dataclass(frozen=True)
class TrainingConfig:
    """How it is learned.

    Attributes:
        learning_rate: highest, of the new layers.
        encoder_learning_rate: highest, of the encoder; null for that of the new layers.
        freeze_embeddings: whether the encoder's embeddings stay as they are; null for: if it is pretrained.
        frozen_steps: optimizer steps in which the encoder stays as it is, while the new layers find their way.
        schedule: how the learning rate falls after the warm-up: linear or cosine to 0, or constant.
        warmup: share of all steps in which the learning rate rises.
        weight_decay: of AdamW, on all but biases and norms.
        batch_tokens: most tokens of a batch on one device, padding and special tokens included.
        accumulate: batches an optimizer step.
        clip: largest norm of the gradient; null for no limit.
        max_epochs: passes over the training data; may be a fraction.
        max_steps: most optimizer steps; null for as many as max_epochs asks for.
        max_minutes: training ends after this time with a last validation; null for no limit. The schedule does not
            know of it.
        validate_every: passes over the training data between two validations; may be a fraction.
        patience: validations without a better one after which training stops; null for never.
        class_weights: weight of each tag (O, B-Minor, I-Minor, B-Major, I-Major) in the loss; "balanced" for the
            inverse square root of its frequency; null for 1.
        label_smoothing: share of the probability that the loss takes from the true tag.
        score_loss_weight: weight of the score head's loss beside that of the tags.
        ranking_loss_weight: that of the loss of the order in which the scores put the translations of one source.
        doubt_loss_weight: that of the loss of a head, left out of the model, that says how many other translations
            hold a token; for ratings from `python -m data_prep consensus`.
        masked_loss_weight: that of the loss of a head, left out of the model, that guesses tokens which are hidden from
            it; for ratings from `python -m data_prep consensus`, of which nothing else is learned then.
        masked_share: of their tokens, those that are hidden.
        group_size: most translations of one source that are drawn together, for the ranking loss.
        precision: bf16 for bfloat16 autocast over float32 weights, or float32.
        start_share: in the mean of weights that is saved, the share of those of `start` beside the trained ones: then
            what is unlike the training data loses less (WiSE-FT, Wortsman et al. 2022). Validation has none of it.
        saved_precision: of the weights in the model directory; float16 for one half as large, int8 for one with the
            embeddings in 8 bits too.
        accelerator: what to train on; auto for the best there is.
        devices: how many of them, on each machine; auto for all.
        num_nodes: machines.
        strategy: how several devices work together, by its name in Lightning; auto is ddp for several.
        workers: processes that make batches; 0 for none beside the trainer itself.
        seed: of everything that is drawn at random.
        save_minutes: time between two states from which training can be resumed; Ctrl-C and SIGTERM save one, too.
        log_every: optimizer steps between two lines of the log.
    """

    learning_rate: float = 1e-4
    encoder_learning_rate: float | None = None
    freeze_embeddings: bool | None = None
    frozen_steps: int = 0
    schedule: Schedule = "linear"
    warmup: float = 0.1
    weight_decay: float = 0.01
    batch_tokens: int = 8192
    accumulate: int = 1
    clip: float | None = 1.0
    max_epochs: float = 3.0
    max_steps: int | None = None
    max_minutes: float | None = None
    validate_every: float = 0.5
    patience: int | None = None
    class_weights: ClassWeights | Literal["balanced"] | None = None
    label_smoothing: float = 0.0
    score_loss_weight: float = 1.0
    ranking_loss_weight: float = 0.0
    doubt_loss_weight: float = 0.0
    masked_loss_weight: float = 0.0
    masked_share: float = 0.3
    group_size: int = 1
    precision: Literal["bf16", "float32"] = "bf16"
    start_share: float = 0.0
    saved_precision: StoredPrecision = "float32"
    accelerator: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    devices: int | Literal["auto"] = "auto"
    num_nodes: int = 1
    strategy: Literal["auto", "ddp"] = "auto"
    workers: int = 0
    seed: int = 1
    save_minutes: float = 10.0
    log_every: int = 20

    def __post_init__(self) -> None:
        for name in ("learning_rate", "encoder_learning_rate", "clip", "max_epochs", "max_minutes", "validate_every"):
            _above_zero(name, getattr(self, name))
        for lowest, names in _LEAST.items():
            for name in names.split():
                _at_least(name, getattr(self, name), lowest)
        for name in ("warmup", "label_smoothing", "masked_share", "start_share"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} {getattr(self, name)}: must be at least 0 and less than 1")
        if isinstance(self.class_weights, tuple) and not (
            len(self.class_weights) == len(TAGS) and min(self.class_weights) >= 0 and max(self.class_weights) > 0
        ):
            raise ValueError(f"class_weights {list(self.class_weights)}: must be {len(TAGS)} numbers of 0 or more")


@dataclass(frozen=True)
class Config:
    """All settings of a training run.

    Attributes:
        encoder: the pretrained encoder's hub id or directory; or a configuration with a model_type, for one from
            scratch, whose vocab_size and special tokens are the tokenizer's where it names none.
        output: the run's directory; its subdirectory model is what `matese tag --model` takes.
        tokenizer: null for the encoder's own, a hub id, a directory, or settings of one to train.
        tagger: the model on top of the encoder.
        data: what is learned from.
        training: how it is learned.
        start: the directory of a tagger whose weights are gone on from, of the same shape save for lexical_match and
            the score head; null for none.
    """

    encoder: str | dict[str, object]
    output: str
    tokenizer: str | VocabularyConfig | None = None
    tagger: TaggerConfig = field(default_factory=TaggerConfig)
    data: DataConfig = field(default_factory=DataConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)
    start: str | None = None

    def __post_init__(self) -> None:
        if not self.is_pretrained and "model_type" not in self.encoder:
            raise ValueError("encoder has no model_type: must be a hub id, a directory or a mapping with a model_type")
        if not self.is_pretrained and self.tokenizer is None:
            raise ValueError("tokenizer is null: an encoder from scratch has none of its own, so it must be given")
        if self.training.start_share and self.start is None:
            raise ValueError(f"training.start_share {self.training.start_share}: must be 0 where start is null")

    @property
    def is_pretrained(self) -> bool:
        """Whether the encoder has learned before."""
        return isinstance(self.encoder, str)


def load(path: str | Path, *, overrides: Sequence[tuple[str, str]] = ()) -> Config:
    """Returns the settings in a YAML file.

    Args:
        path: the file.
        overrides: (dotted key, YAML value), which take the place of what the file says.

    Raises:
        FormatError: for an unknown, duplicate or missing key and for a value that is not allowed.
        OSError: if it cannot be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise FormatError(str(path), line, "is not UTF-8, must be") from error
    return settings.parse(Config, text, path=str(path), overrides=overrides)


def resolved(config: Config) -> Config:
    """Returns the settings with every null that stands for something else replaced by what it stands for."""
    training = config.training
    freeze = config.is_pretrained if training.freeze_embeddings is None else training.freeze_embeddings
    rate = training.encoder_learning_rate or training.learning_rate
    changed = dataclasses.replace(training, freeze_embeddings=freeze, encoder_learning_rate=rate)
    return dataclasses.replace(config, training=changed)


def _above_zero(name: str, number: float | None) -> None:
    if number is not None and not 0 < number < float("inf"):
        raise ValueError(f"{name} {number}: must be greater than 0")


def _at_least(name: str, number: _Number | str | None, lowest: int) -> None:
    if isinstance(number, int | float) and not lowest <= number < float("inf"):
        raise ValueError(f"{name} {number}: must be {lowest} or more")
