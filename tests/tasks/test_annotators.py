"""What a request chooses reaches `matese.load`, by one name each."""

from __future__ import annotations

import inspect

import matese
from matese.model.decoding_choice import DecodingChoice
from matese.tasks.annotators import Loading, Marking


def test_a_request_s_choice_of_decoding_is_that_of_the_model() -> None:
    loading = Loading(min_confidence=0.25, error_free=True).arguments("matese")
    assert loading["choice"] == DecodingChoice(min_confidence=0.25, error_free=True)
    assert loading.keys() <= inspect.signature(matese.load).parameters.keys()


def test_strings_of_a_program_are_checked_by_rules_too() -> None:
    of_table = {use: Marking(use=use).chosen_rules.of("csv") for use in (None, "interface")}
    assert (bool(of_table[None]), bool(of_table["interface"])) == (False, True)
    assert not Marking(use="interface", checks="none").chosen_rules.of("csv")
