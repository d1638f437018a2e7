"""Published test sets: what mt-metrics-eval takes for granted of those of WMT, and the texts that sacreBLEU has."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import msgspec

from matese.errors import InputError, UsageError, check_installed, one_of, unknown
from matese.text import languages

_DATA = Path(__file__).parents[1] / "mt_metrics_eval_meta.json"
"""The file names its source."""


class TestSetMeta(msgspec.Struct, frozen=True):
    """What is standard for a language pair of a test set.

    Attributes:
        reference: that metrics use.
        gold: names of the human scores by level, "sys" and "seg"; empty if there are none.
        primary: metrics that are primary submissions or baselines, without the reference in their names.
        outliers: systems that are left out.
        scores_humans: whether the official task also scored human translations as systems.
        earlier_gold: names that the human scores had in earlier releases of the data, as `gold`.
    """

    __test__ = False  # its name would make pytest collect it

    reference: str
    gold: dict[str, str]
    primary: frozenset[str]
    outliers: tuple[str, ...] = ()
    scores_humans: bool = False
    earlier_gold: dict[str, str] = {}


def find_meta(test_set: str, lang_pair: str) -> TestSetMeta | None:
    """Returns what is standard for a language pair of a test set; None if it is not known.

    >>> meta = find_meta("wmt21.news", "en-de")
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


def text_files(name: str, lang_pair: str) -> tuple[str, list[str]]:
    """Returns the text files of the source and of the references of a test set of sacreBLEU, which keeps them.

    Raises:
        UsageError: if sacreBLEU knows no such test set, or it lacks the language pair.
        InputError: if it was not downloaded before and cannot be downloaded, or sacreBLEU is not installed.
    """
    check_installed("--test-set", "sacrebleu", extra="test-sets")
    from sacrebleu.dataset import DATASETS

    if name not in DATASETS:
        raise UsageError(unknown("test set", name, DATASETS, allowed="one that sacrebleu --list names"))
    test_set: Any = DATASETS[name]
    pairs = sorted(test_set.langpairs)
    pair = next((candidate for candidate in pairs if languages.agree(candidate, languages.parse(lang_pair))), None)
    if pair is None:
        raise UsageError(f"{name} has no {lang_pair}: must be {one_of(pairs)}")
    try:
        return test_set.get_source_file(pair), test_set.get_reference_files(pair)
    except (OSError, SystemExit) as error:
        problem = f"{name} {pair} was not downloaded before and cannot be downloaded now ({error})"
        allowed = f"must be reachable, or fetched elsewhere with sacrebleu -t {name} -l {pair} --echo src"
        raise InputError(f"{problem}: {allowed}") from None
