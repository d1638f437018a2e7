"""What mt-metrics-eval takes for granted of the WMT test sets of 2019 to 2024; the data name their source."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import msgspec

_DATA = Path(__file__).parents[1] / "mt_metrics_eval_meta.json"


class TestSetMeta(msgspec.Struct, frozen=True):
    """What is standard for a language pair of a test set.

    Attributes:
        reference: that metrics use.
        gold: names of the human scores by level, "sys" and "seg"; empty if there are none.
        primary: metrics that are primary submissions or baselines, without the reference in their names.
        outliers: systems that are left out.
    """

    __test__ = False  # its name would make pytest collect it

    reference: str
    gold: dict[str, str]
    primary: frozenset[str]
    outliers: tuple[str, ...] = ()


def find(test_set: str, lang_pair: str) -> TestSetMeta | None:
    """Returns what is standard for a language pair of a test set; None if it is not known.

    >>> meta = find("wmt21.news", "en-de")
    >>> meta.reference, meta.gold["seg"], "cushLEPOR(LM)" in meta.primary
    ('refC', 'mqm', True)
    """
    of_set = _test_sets().get(test_set, {})
    of_pair = of_set.get("lang_pairs", {}).get(lang_pair)
    if of_pair is None:
        return None
    primary = [*of_set["primary"], *of_pair.get("more_primary", ())]
    return msgspec.convert({**of_set, **of_pair, "primary": primary}, TestSetMeta)


@functools.cache
def _test_sets() -> dict[str, Any]:
    test_sets: dict[str, Any] = json.loads(_DATA.read_text(encoding="utf-8"))["test_sets"]
    return test_sets
