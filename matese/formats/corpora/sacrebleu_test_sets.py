"""Sources and references of test sets as sacreBLEU has them, which downloads a test set once and keeps it."""

from __future__ import annotations

from typing import Any

from matese.errors import InputError, UsageError, check_installed, near_miss, one_of
from matese.formats import languages


def files(name: str, lang_pair: str) -> tuple[str, list[str]]:
    """Returns the text files of the source and of the references of a test set.

    Raises:
        UsageError: if sacreBLEU knows no such test set, or it lacks the language pair.
        InputError: if it was not downloaded before and cannot be downloaded, or sacreBLEU is not installed.
    """
    check_installed("--test-set", "sacrebleu", extra="test-sets")
    from sacrebleu.dataset import DATASETS

    if name not in DATASETS:
        hint = near_miss(name, DATASETS)
        raise UsageError(f"unknown test set {name!r}{hint} must be one that sacrebleu --list names")
    test_set: Any = DATASETS[name]
    known = sorted(test_set.langpairs)
    pair = next((candidate for candidate in known if languages.agree(candidate, languages.parse(lang_pair))), None)
    if pair is None:
        raise UsageError(f"{name} has no {lang_pair}: must be {one_of(known)}")
    try:
        return test_set.get_source_file(pair), test_set.get_reference_files(pair)
    except (OSError, SystemExit) as error:
        problem = f"{name} {pair} was not downloaded before and cannot be downloaded now ({error})"
        allowed = f"must be reachable, or fetched elsewhere with sacrebleu -t {name} -l {pair} --echo src"
        raise InputError(f"{problem}: {allowed}") from None
