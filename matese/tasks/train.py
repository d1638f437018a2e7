"""A model trained from settings and rated segments."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeAlias

from matese import files
from matese.errors import check_installed
from matese.tasks import notices
from matese.tasks.annotators import parse_settings
from matese.tasks.rated import files_or_ratings
from matese.tasks.request import function
from matese.tasks.texts import JoinedTexts, check_given_once, require
from matese.validation.options import File, Folder, Options, group, option

if TYPE_CHECKING:
    from matese.tasks.files import RatingsLike

    FilesOrRatings: TypeAlias = Sequence[str | os.PathLike[str]] | RatingsLike
    from matese.training.config import Config
    from matese.training.reporting import Reporter
    from matese.training.run import Result


@dataclass(frozen=True)
class Request(Options):
    """Train a model on rated segments, or go on with a run.

    Attributes:
        ratings: ratings to train on; without other ratings to validate on, a tenth of their sources is held out.
        config: YAML file of settings, for example configs/matese/xlmr-base.yaml.
        from_: a finished model that learns from further ratings.
        resume: resume the run in this directory, with its settings.
        settings: list all settings with their defaults and exit.
        train: ratings to train on.
        dev: ratings to validate on.
        output: directory of the run, new or empty.
        set: replace any setting, such as training.seed=2; repeatable.
        lang_pair: language pair, such as en-de or english-german, in place of what files state.
    """

    ratings: FilesOrRatings = option((), take_all=files_or_ratings, metavar="RATINGS")
    _: KW_ONLY
    config: File | None = None
    from_: str | None = option(None, flags=["--from"], metavar="MODEL")
    resume: Folder | None = None
    settings: bool = False
    train: Sequence[File] | None = None
    dev: FilesOrRatings | None = option(None, take_all=files_or_ratings, metavar="FILE")
    output: Folder | None = None
    set: Sequence[str] = option((), metavar="KEY=VALUE", is_repeated=True)
    lang_pair: str | None = option(None, metavar="PAIR")
    joined: JoinedTexts = group(JoinedTexts)

    @property
    def overrides(self) -> list[tuple[str, str]]:
        """Pairs of a dotted key and a YAML value, which replace settings of the file; JSON is YAML too."""
        texts = {
            "source": self.joined.src,
            "references": self.joined.ref,
            "test_set": self.joined.texts_of,
            "lang_pair": self.lang_pair,
        }
        is_held_out = bool(self.ratings) and self.dev is None
        named = {
            "start": self.from_,
            "data.train": self.ratings or self.train,
            "data.dev": () if is_held_out else self.dev,
            "data.held_out": 0.1 if is_held_out else None if self.dev is None else 0,
            "data.texts": [texts] if self.joined.given() else None,
            "data.lang_pair": self.lang_pair,
            "output": self.output,
        }
        overrides = [(key, json.dumps(value)) for key, value in named.items() if value is not None]
        return overrides + parse_settings(self.set)


def run(request: Request, stream: TextIO | None = None) -> Result | None:
    """Trains a model; returns its figures and its directory, None for `settings` and in other processes than the first.

    The same is written to `stream`, if there is one.

    Raises:
        matese.training.run.Interrupted: after Ctrl-C, when the state of the run is saved.
    """
    # Settings and files are checked before torch is imported, which takes seconds.
    from matese.training import config

    check_installed("matese train", "pytorch_lightning", extra="train")
    if request.settings:
        if stream is not None:
            stream.write(f"{config.describe()}\n")
        return None
    settings = _settings(request)
    from matese.training import finetuning, run_setup
    from matese.training import run as training

    train = finetuning.finetune if settings.is_finetuning else training.train
    result = train(settings, resume=request.resume is not None, reporter=listening())
    if not run_setup.is_first_process():
        return None
    _tell_shared(settings.data.files, settings.data.dev)
    show(result, stream)
    return result


train = function(Request, run)


def listening() -> Reporter:
    """Returns what tells notices of a run; on a terminal, Lightning shows a bar."""
    import rich

    from matese.training.reporting import Reporter

    return Reporter(notices.info, has_bar=rich.get_console().is_terminal)


def _settings(request: Request) -> Config:
    """Returns the settings of the run that is asked for.

    Raises:
        InputError: if a setting or a file cannot be used, as far as this is known before the data are read.
    """
    from matese.formats import detection
    from matese.training import config, run_directory

    overrides = request.overrides
    n_forms = sum(bool(form) for form in (request.config, request.from_, request.resume))
    require(n_forms < 2, "two of --config, --from and --resume are given; give one of them")
    is_new = request.config is not None or request.from_ is not None
    if request.resume is not None:
        given = "RATINGS" if request.ratings else "options that replace settings"
        require(not overrides, f"{given} and --resume are both given: give --resume alone, since a run keeps its own")
        return run_directory.load_settings(Path(request.resume))
    require(is_new, "nothing to start from: give --config or --from, or --resume to resume a run")
    require(bool(request.ratings) or request.from_ is None, "no ratings: --from needs RATINGS")
    require(not (request.ratings and request.train), "RATINGS and --train are both given; give one of them")
    settings = config.load(request.config or config.FINETUNING, overrides=overrides)
    for together in (*settings.data.groups.values(), *settings.data.dev_groups):
        check_given_once(together)
    for name, paths in (("train", settings.data.files), ("dev", settings.data.dev)):
        for path in paths:
            require(os.path.exists(path), f"data.{name}: no such file {path}; name the files with --{name}")
            if not files.is_device(path):
                detection.detect(path)
    if "LOCAL_RANK" not in os.environ:  # not a further process of a run
        run_directory.check_new(Path(settings.output))
    return settings


def _tell_shared(train: Sequence[str], dev: Sequence[str]) -> None:
    for path in {os.path.realpath(path) for path in train} & {os.path.realpath(path) for path in dev}:
        name = files.name_of(path)
        notices.info(f"{name} is in data.train and in data.dev: the figures of the validation are too good")


def show(result: Result, stream: TextIO | None) -> None:
    """Writes the figures of a run and the directory of its model."""
    if stream is not None:
        figures = "".join(f"{name}\t{value:.4f}\n" for name, value in result.figures.items())
        stream.write(f"{figures}model\t{result.directory}\n")
