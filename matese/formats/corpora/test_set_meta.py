"""What mt-metrics-eval takes for granted of the WMT test sets of 2019 to 2024; the data name their source."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

_DATA = Path(__file__).parents[1] / "mt_metrics_eval_meta.json"


@dataclass(frozen=True, slots=True)
class TestSetMeta:
    """What is standard for a language pair of a test set.

    Attributes:
        reference: that metrics use.
        gold: names of the human scores by level, "sys" and "seg"; empty if there are none.
        outliers: systems that are left out.
        primary: metrics that are primary submissions or baselines, without the reference in their names.
    """

    __test__ = False  # its name would make pytest collect it

    reference: str
    gold: Mapping[str, str]
    outliers: tuple[str, ...]
    primary: frozenset[str]


class _LangPair(msgspec.Struct, forbid_unknown_fields=True):
    reference: str | None = None
    gold: dict[str, str] | None = None
    outliers: tuple[str, ...] = ()
    more_primary: tuple[str, ...] = ()


class _TestSet(msgspec.Struct, forbid_unknown_fields=True):
    reference: str
    gold: dict[str, str]
    primary: tuple[str, ...]
    lang_pairs: dict[str, _LangPair]


class _Data(msgspec.Struct, forbid_unknown_fields=True):
    source: str
    test_sets: dict[str, _TestSet]


def find(test_set: str, lang_pair: str) -> TestSetMeta | None:
    """Returns what is standard for a language pair of a test set; None if it is not known.

    >>> found = find("wmt21.news", "en-de")
    >>> found.reference, found.gold["seg"], "cushLEPOR(LM)" in found.primary
    ('refC', 'mqm', True)
    """
    of_set = _read().test_sets.get(test_set)
    if of_set is None or lang_pair not in of_set.lang_pairs:
        return None
    of_pair = of_set.lang_pairs[lang_pair]
    return TestSetMeta(
        of_pair.reference or of_set.reference,
        of_set.gold if of_pair.gold is None else of_pair.gold,
        of_pair.outliers,
        frozenset((*of_set.primary, *of_pair.more_primary)),
    )


@functools.cache
def _read() -> _Data:
    return msgspec.json.decode(_DATA.read_bytes(), type=_Data)
