"""Model directories: find, read and write them.

A directory holds `config.json` (format version, settings and the encoder's own configuration, so that loading
needs no network), tensors, the tokenizer's files, a model card and `training_data.json` (what the model has learned
from, as far as it is known). No pickle is ever opened.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from matese.errors import InputError, ModelError
from matese.files import IS_LFS_POINTER, is_lfs_pointer, replacing
from matese.model.config import ModelConfig
from matese.model.training_data import UNKNOWN, TrainingData
from matese.version import __version__

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from torch import Tensor

    from matese.model.texts.tokenizer import FileTokenizer, Tokenizer

T = TypeVar("T")

FORMAT_VERSION = 1
"""Of the directories that this package writes and reads; it reads no other."""
CONFIG = "config.json"
TENSORS = "model.safetensors"
CARD = "README.md"
TRAINING_DATA = "training_data.json"
_RETIRED = ("thresholds", "span_budget", "confidences", "meaning", "error_free")
"""Settings of decoding that early versions wrote."""
_EMBEDDED = Path(__file__).parents[2] / "models"
RELEASED = ("hparams.yaml", "checkpoints/model.ckpt")
"""Files of a COMET model as released."""
NOT_FINITE = "{} holds NaN or infinity: must be finite numbers"
_FETCHED = ("*.json", "*.safetensors", "*.model", "*.txt", "*.md", "LICENSE*", "pytorch_model*.bin", *RELEASED)
_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*(@[\w./-]+)?")


@dataclass(frozen=True, kw_only=True)
class StoredConfig:
    """The content of `config.json`, in this order.

    Attributes:
        format_version: see `FORMAT_VERSION`.
        matese_version: version of the package that wrote the file.
        model: the model's settings.
        encoder: the encoder's configuration, as transformers writes it.
        training: resolved settings of the run that trained the model.
    """

    format_version: int = FORMAT_VERSION
    matese_version: str | None = None
    model: ModelConfig
    encoder: dict[str, Any]
    training: dict[str, Any] | None = None


@dataclass(frozen=True)
class Checkpoint(Generic[T]):
    """The configuration and the tensors of a model directory.

    Tensors have their names in the model's state dict and are stored by `storage.pack`.
    """

    config: StoredConfig
    tensors: Mapping[str, T]
    training_data: TrainingData = UNKNOWN


class StoredModel(NamedTuple):
    """What a network is built from.

    Attributes:
        config: settings of the model.
        encoder: configuration of its encoder, as transformers writes it.
        tensors: the weights, with the names of the network.
        tokenizer: the tokenizer, or the directory of its files.
        is_released: whether it is a model of another program, in its own format.
    """

    config: ModelConfig
    encoder: dict[str, Any]
    tensors: Mapping[str, Tensor]
    tokenizer: FileTokenizer | Path
    is_released: bool


def embedded() -> tuple[str, ...]:
    """Returns the names of the embedded models."""
    return tuple(sorted(path.parent.name for path in _EMBEDDED.glob(f"*/{CONFIG}")))


def resolve(model: str | Path) -> Path:
    """Returns the directory of a model, from an embedded model's name, a directory, or a hub id (with one "/").

    Only hub ids need the network.

    Raises:
        ModelError: if there is no such model.
    """
    path = Path(model)
    name = str(model)
    # A bare name means the same in every working directory; ./mini is a directory.
    if isinstance(model, str) and name in embedded():
        return _EMBEDDED / name
    if path.is_dir():
        return path
    if path.exists():
        raise ModelError(f"model {name} is a file: must be an embedded model, a directory or a hub id")
    if isinstance(model, str) and _HUB_ID.fullmatch(name):
        # Only files that this package opens are downloaded.
        return download(name, _FETCHED)
    raise ModelError(
        f"no model {name}: no such directory; use an embedded model ({', '.join(embedded()) or 'none'}), "
        "a directory or a hub id (ORG/NAME or ORG/NAME@REVISION)"
    )


def download(hub_id: str, patterns: Sequence[str]) -> Path:
    """Returns the directory of a model of the hub with these patterns of files, from the local cache if it is there.

    The id is "org/name", or the bare name of an old model; "@" and a revision may follow (a branch, a tag or a commit).

    Raises:
        ModelError: if the hub does not provide it; the message says what to do.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError, RepositoryNotFoundError

    no_model = f"no model {hub_id}: no such directory"
    name, _, revision = hub_id.partition("@")
    try:
        return Path(snapshot_download(name, revision=revision or None, allow_patterns=list(patterns)))
    except GatedRepoError as error:
        todo = "accept its licence on its page at the hub, then run hf auth login with a token that has read access"
        raise ModelError(f"no access to model {hub_id}: {todo}") from error
    except RepositoryNotFoundError as error:
        todo = "check the path or the hub id; private models need hf auth login"
        raise ModelError(f"{no_model}, and no such model at the hub: {todo}") from error
    except LocalEntryNotFoundError as error:
        wanted = f"{name} --revision {revision}" if revision else name
        todo = f"run hf download {wanted} --local-dir DIR on a machine with network access and use DIR"
        raise ModelError(f"{no_model}, and the hub cannot be reached: check the path, or {todo}") from error
    except Exception as error:  # the hub's client raises its own errors, its HTTP library's, and OSError
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise ModelError(f"{no_model}, and downloading it as a hub id failed ({reason})") from error


def read_json(path: Path) -> dict[str, Any]:
    """Returns the values in a JSON file, such as `config.json` of a directory of any format.

    Raises:
        ModelError: if it is missing, not JSON, or not a mapping.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{path} is missing: the model is incomplete; fetch it again") from None
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, or nested thousands of times
        raise ModelError(f"{path} is corrupt: {error}; must be JSON") from error
    if not isinstance(values, dict):
        raise ModelError(f"{path}: must map names of settings to values")
    return values


def _plain_config(directory: Path) -> dict[str, Any]:
    """Returns the values in `config.json` of a directory of any format; none if it is missing or corrupt."""
    try:
        return read_json(directory / CONFIG)
    except (OSError, ModelError):
        return {}


def has_format(directory: Path) -> bool:
    """Returns whether a directory states the version of our format that it has."""
    return "format_version" in _plain_config(directory)


def is_metricx(directory: Path) -> bool:
    """Returns whether a directory holds the configuration of an mT5 for regression, as it was released."""
    values = _plain_config(directory)
    return values.get("model_type") == "mt5" and "format_version" not in values


def is_ours(directory: Path) -> bool:
    """Returns whether a directory is to be loaded as one of our format.

    So is one whose configuration is corrupt: the reason is given where it is loaded.
    """
    return (directory / CONFIG).is_file() and not is_comet(directory) and not is_metricx(directory)


def is_comet(directory: Path) -> bool:
    """Returns whether a directory holds a released model of COMET or PEAR; the latter may be a checkpoint alone."""
    hparams, weights = (directory / name for name in RELEASED)
    return hparams.is_file() or (weights.is_file() and not has_format(directory))


def is_tagger(directory: Path) -> bool:
    """Returns whether a directory holds a tagger in our format; the configuration is not checked."""
    try:
        return _plain_config(directory)["model"]["heads"]["tags"] is not None
    except (KeyError, TypeError):
        return False


def fingerprint(directory: Path) -> str:
    """Returns 8 hexadecimal digits of a hash over all files that determine predictions."""
    digest = hashlib.sha256()
    paths = [directory / name for name in (CONFIG, TENSORS, "tokenizer.json", RELEASED[0])]
    for pattern in ("checkpoints/*.ckpt", "configs/*.json", "pytorch_model*.bin"):
        paths += sorted(directory.glob(pattern))
    for path in filter(Path.is_file, paths):
        with open(path, "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:8]


def save(directory: Path, checkpoint: Checkpoint[Tensor], tokenizer: Tokenizer, *, card: str) -> None:
    """Writes a model directory, atomically; an existing one is replaced.

    Raises:
        OSError: if it cannot be written.
    """
    from safetensors.torch import save_file

    from matese.model.texts.tokenizer import FileTokenizer
    from matese.validation import plain_values

    config = replace(checkpoint.config, matese_version=__version__)
    with replacing(directory) as partial:
        partial.mkdir(parents=True)
        _write_json(partial / CONFIG, plain_values.to_plain(config))
        (partial / CARD).write_text(card, encoding="utf-8")
        if checkpoint.training_data != UNKNOWN:
            _write_json(partial / TRAINING_DATA, plain_values.to_plain(checkpoint.training_data))
        save_file({name: tensor.contiguous() for name, tensor in checkpoint.tensors.items()}, partial / TENSORS)
        if isinstance(tokenizer, FileTokenizer):
            tokenizer.save(partial)
        else:
            tokenizer.save_pretrained(str(partial))
            _name_tokenizer_class(partial / "tokenizer_config.json")


def _write_json(path: Path, plain: object) -> None:
    path.write_text(json.dumps(plain, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _name_tokenizer_class(path: Path) -> None:
    """Replaces what transformers 5 and early versions 4 call the class without own settings by its usual name."""
    if path.is_file():
        settings = json.loads(path.read_text(encoding="utf-8"))
        if settings.get("tokenizer_class") in ("TokenizersBackend", "PreTrainedTokenizer"):
            settings["tokenizer_class"] = "PreTrainedTokenizerFast"
            _write_json(path, settings)


def load(directory: Path) -> Checkpoint[Tensor]:
    """Returns the content of a model directory, with tensors on the CPU, as stored.

    Raises:
        ModelError: if it is incomplete, corrupt, or of another format version.
    """
    from safetensors.torch import load_file

    return _load(directory, load_file)


def load_arrays(directory: Path) -> Checkpoint[npt.NDArray[np.generic]]:
    """Returns the same as `load` but with arrays for tensors, without torch."""
    from safetensors.numpy import load_file

    return _load(directory, load_file)


def _load(directory: Path, load_file: Callable[[Path], dict[str, T]]) -> Checkpoint[T]:
    for name in (CONFIG, TENSORS):
        if not (directory / name).is_file():
            raise ModelError(
                f"{directory} has no {name}: a model directory must hold {CONFIG}, {TENSORS} and a tokenizer"
            )
    tensors = read_tensors(directory / TENSORS, load_file)
    return Checkpoint(read_config(directory), tensors, read_training_data(directory))


def read_card(directory: Path) -> str:
    """Returns the model card; "" if there is none.

    Raises:
        ModelError: if it is not UTF-8.
    """
    path = directory / CARD
    try:
        return path.read_text(encoding="utf-8") if path.is_file() else ""
    except UnicodeDecodeError as error:
        raise ModelError(f"{path} is corrupt: {error}; must be UTF-8 text") from None


def read_training_data(directory: Path) -> TrainingData:
    """Returns what is known about the data that a model has learned from.

    Raises:
        ModelError: if the file is not JSON, or if a key is unknown, missing or of a wrong type.
    """
    path = directory / TRAINING_DATA
    return convert(read_json(path), TrainingData, path) if path.is_file() else UNKNOWN


def read_config(directory: Path) -> StoredConfig:
    """Returns the configuration of a model directory. Nothing heavy is imported.

    Raises:
        ModelError: if it is not JSON or of another format version, or if a key is unknown, missing or of a wrong type.
    """
    path = directory / CONFIG
    values = read_json(path)
    if "format_version" not in values:
        raise ModelError(f"{path} is not the configuration of a matese model: it has no format_version")
    version = values["format_version"]
    if version != FORMAT_VERSION:
        writer = values.get("matese_version") or "an unknown version"
        raise ModelError(
            f"{path}: format version {version}, written by matese {writer}; "
            f"matese {__version__} reads format version {FORMAT_VERSION} only"
        )
    return convert(_without_retired(values), StoredConfig, path)


def _without_retired(values: dict[str, Any]) -> dict[str, Any]:
    """Returns the values without what earlier versions fitted for another way to decode."""
    model = values.get("model")
    decoding = model.get("decoding") if isinstance(model, dict) else None
    if not isinstance(model, dict) or not isinstance(decoding, dict):
        return values
    kept = {name: value for name, value in decoding.items() if name not in _RETIRED}
    settings = {name: value for name, value in model.items() if name != "few_ratings"}
    return {**values, "model": {**settings, "decoding": kept}}


def convert(values: object, kind: type[T], path: Path) -> T:
    """Returns plain values of a configuration file as a frozen type.

    Raises:
        ModelError: if a key is unknown or missing, or a value is not allowed.
    """
    from matese.validation import plain_values

    try:
        plain_values.check_keys(values, kind)
        return plain_values.convert(values, kind)
    except InputError as error:
        raise ModelError(f"{path}: {error}") from None


def read_tensors(path: Path, load_file: Callable[[Path], dict[str, T]]) -> dict[str, T]:
    """Returns the tensors of a safetensors file. Raises ModelError if it is corrupt."""
    from safetensors import SafetensorError

    if is_lfs_pointer(path):
        raise ModelError(f"{path} is {IS_LFS_POINTER}")
    try:
        return load_file(path)
    except (SafetensorError, KeyError) as error:  # KeyError: a number type that this version of torch lacks
        raise ModelError(f"{path} is corrupt: {error}; must be a complete safetensors file") from error


@contextlib.contextmanager
def raising_model_errors(problem: str, allowed: str = "") -> Iterator[None]:
    """Turns every error of the body into a ModelError: libraries raise errors of many types for inconsistent files."""
    try:
        yield
    except BaseException as error:
        # The exception of a Rust library that fails is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise ModelError(f"{problem}: {' '.join(str(error).split()) or type(error).__name__}{allowed}") from error
