"""What a request chooses reaches `matese.load`, by one name each."""

from __future__ import annotations

import inspect
from dataclasses import fields

import matese
from matese.model.decoding import DecodingChoice
from matese.tasks.annotators import Checking, DecodingOptions, Model


def test_a_request_s_choice_of_decoding_is_that_of_the_model() -> None:
    loading = Model(min_confidence=0.25, error_free=True).loading()
    assert loading["choice"] == DecodingChoice(min_confidence=0.25, error_free=True)
    assert loading.keys() <= inspect.signature(matese.load).parameters.keys()


def test_every_decoding_option_is_a_choice() -> None:
    assert {field.name for field in fields(DecodingOptions)} < {field.name for field in fields(DecodingChoice)}


def test_strings_of_a_program_are_checked_by_rules_too() -> None:
    of_table = {use: Checking(use=use).chosen_rules.of("csv") for use in (None, "interface")}
    assert (bool(of_table[None]), bool(of_table["interface"])) == (False, True)
    assert not Checking(use="interface", checks="none").chosen_rules.of("csv")
