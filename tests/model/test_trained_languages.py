"""What is known of scripts without langcodes is what langcodes says."""

from __future__ import annotations

import pytest

from matese.model import trained_languages


@pytest.mark.parametrize(("lang", "script"), trained_languages._USUAL.items())
def test_usual_scripts(lang: str, script: str) -> None:
    assert trained_languages.script_of_language(lang) == script


@pytest.mark.parametrize("code", ["Latn", "Cyrl"])
def test_names_of_scripts(code: str) -> None:
    assert trained_languages._NAMES[code] == (trained_languages.name_of_script(code),)
    assert trained_languages._of_language("und-" + code) == {trained_languages.name_of_script(code)}


def test_a_language_that_is_not_listed_has_a_script() -> None:
    assert trained_languages._of_language("el") == {"GREEK"}
    assert trained_languages._of_language("zh_TW") == {"CJK"}
