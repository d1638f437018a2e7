"""Answers on disk: one file for each request, so that no run asks twice, and a run that was stopped can continue."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from matese.errors import InputError
from matese.files import replacing, user_cache
from matese.language_model.client import Completion
from matese.validation import plain_values

_FORM = 1
"""Version of the files; those of other versions are not used."""


class AnswerCache:
    """Answers, found by everything that they depend on: address, model, prompt, texts, languages and parameters."""

    def __init__(self, directory: str | Path | None = None) -> None:
        """Creates the folder, for the user alone: answers quote texts.

        Args:
            directory: None for one in the user's cache folder.

        Raises:
            OSError: if it cannot be created.
        """
        self.directory = Path(directory or user_cache("answers"))
        self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)

    def get(self, base_url: str, body: Mapping[str, Any]) -> Completion | None:
        """Returns the answer to a request, if there is one that can be read."""
        try:
            return plain_values.from_json(self._path(base_url, body).read_bytes(), Completion)
        except (OSError, InputError):  # a damaged file is replaced
            return None

    def put(self, base_url: str, body: Mapping[str, Any], completion: Completion) -> None:
        """Keeps an answer.

        Raises:
            OSError: if it cannot be written.
        """
        path = self._path(base_url, body)
        path.parent.mkdir(exist_ok=True, mode=0o700)
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(asdict(completion)), encoding="utf-8")

    def _path(self, base_url: str, body: Mapping[str, Any]) -> Path:
        text = json.dumps([_FORM, base_url, body], sort_keys=True)
        name = hashlib.sha256(text.encode()).hexdigest()
        return self.directory / name[:2] / f"{name}.json"
