"""Notices about test sets that the model whose ratings are compared has learned from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set

from matese.model.training_data import TestSetPlace, note
from matese.tasks import notices

_MODELS = re.compile(r"\|model:([^|]+)")


def tell(by_signature: Mapping[str, Set[TestSetPlace]], *, models: Iterable[str] = ()) -> None:
    """Tells which of these test sets and language pairs their models have learned from.

    Args:
        by_signature: places of the segments that were rated, by the signatures of what rated them. Of the models that
            these name, only the embedded ones are found.
        models: names or directories of further models that rated all of these.
    """
    from matese.model import annotator
    from matese.model.storage import checkpoint

    places: dict[str, set[TestSetPlace]] = {name: set().union(*by_signature.values()) for name in models}
    for signature, rated in by_signature.items():
        for found in _MODELS.findall(signature):
            names = [title.rpartition("@")[0] for title in found.split("+")]
            for name in dict.fromkeys(names) if rated else ():
                if name in checkpoint.embedded():
                    places.setdefault(name, set()).update(rated)
    for name, rated in places.items():
        if learned := annotator.training_data_of([name]).about(rated):
            notices.info(note(name, learned))
