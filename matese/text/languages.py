"""Languages and their pairs, in any usual form: "en-de", "en_DE", "eng-deu", "English-German"."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from matese.annotation import SegmentKey
from matese.errors import UsageError

_EAST_ASIAN_SCRIPTS: dict[str, Literal["zh", "ja", "ko"]] = {
    **dict.fromkeys(("Hani", "Hans", "Hant", "Hanb"), "zh"),
    **dict.fromkeys(("Jpan", "Hira", "Kana", "Hrkt"), "ja"),
    **dict.fromkeys(("Kore", "Hang"), "ko"),
}
"""The languages whose tokenizers suit texts in a script (ISO 15924)."""
_SCRIPTS = {
    "latin": "Latn",
    "cyrillic": "Cyrl",
    "arabic": "Arab",
    "devanagari": "Deva",
    "hebrew": "Hebr",
    "greek": "Grek",
    "shaw": "Shaw",
    "iqtelif": "Latn",
}
"""The scripts that locales of gettext name after "@"."""
_FLORES = re.compile("[a-z]{3}-[A-Z][a-z]{3}(-[A-Z]{2})?")
"""FLORES codes, such as eng_Latn, after "_" has become "-"."""


def parse(pair: str) -> str:
    """Returns a language pair in our form: codes as short as possible, "_" before a script or region.

    Raises:
        UsageError: if these are not two languages.

    >>> parse("eng_DE"), parse("english-German"), parse("en-US-pt-br")
    ('en-de', 'en-de', 'en_US-pt_BR')
    >>> parse("en-sr_RS@latin"), parse("es-ca@valencia")
    ('en-sr_Latn_RS', 'es-ca_valencia')
    >>> parse("eng_Latn-deu_Latn"), parse("zho_Hans-ekk_Latn"), parse("eng_Latn-zho_Hant_TW")
    ('en-de', 'zh_Hans-et', 'en-zh_Hant_TW')
    """
    parts = str(pair).strip().replace("_", "-").split("-")
    for place in range(1, len(parts)):
        codes = [_code("-".join(side)) for side in (parts[:place], parts[place:])]
        if all(codes):
            return "-".join(str(code).replace("-", "_") for code in codes)
    raise UsageError(f"{pair!r} is not a language pair: must be two languages, such as en-de or english-german")


def parse_or_none(pair: str) -> str | None:
    """Returns a language pair as `parse` does; None if these are not two languages."""
    try:
        return parse(pair)
    except UsageError:
        return None


def agree(pair: str, other: str) -> bool:
    """Whether two language pairs are of the same languages, whatever their scripts and regions.

    >>> agree("en-de_AT", "en-de"), agree("en-zh", "eng_Latn-cmn_Hans"), agree("en-de", "de-en")
    (True, True, False)
    """
    return languages_of_pair(pair) == languages_of_pair(other)


def is_same(code: str, other: str) -> bool:
    """Whether two codes are of the same language, whatever their scripts and regions.

    >>> is_same("deu_Latn", "de"), is_same("de", "nl")
    (True, False)
    """
    return agree(f"{code}-{code}", f"{other}-{other}")


def names(pair: str) -> tuple[str, str]:
    """Returns the English names of a language pair in our form.

    >>> names("en-de"), names("en_US-pt_BR")
    (('English', 'German'), ('English (United States)', 'Portuguese (Brazil)'))
    """
    import langcodes

    source, _, target = pair.partition("-")
    return langcodes.Language.get(source).display_name(), langcodes.Language.get(target).display_name()


def names_in(pair: str, language: str) -> str:
    """Returns the names of a pair's languages in a language; a code without a name stays.

    >>> names_in("en-de_AT", "de"), names_in("en-de", "en"), names_in("en-xx", "en")
    ('Englisch \u2192 Deutsch (Österreich)', 'English \u2192 German', 'English \u2192 xx')
    """
    import langcodes

    return " \u2192 ".join(
        langcodes.Language.get(tag).display_name(language)
        if langcodes.tag_is_valid(tag) and not tag.startswith("x")
        else tag
        for tag in language_tags(pair)
        if tag
    )


def _code(name: str) -> str | None:
    """Returns the code of a language, None if it is unknown."""
    import langcodes

    name = _without_modifier(name)
    try:
        language = langcodes.Language.get(name)
        if _FLORES.fullmatch(name):
            language = language.prefer_macrolanguage().simplify_script()
        return language.to_tag() if language.is_valid() else None
    except ValueError:  # no language tag
        pass
    try:
        return langcodes.find(name).to_tag()
    except LookupError:
        return None


def _without_modifier(name: str) -> str:
    """Returns the name of a locale of gettext, such as sr-RS@latin, as a language tag; any other name as it is."""
    import langcodes

    locale, at, modifier = name.partition("@")
    if not at:
        return name
    tag = locale.partition(".")[0]  # without the charset
    if script := _SCRIPTS.get(modifier.casefold()):
        language, hyphen, region = tag.partition("-")
        return f"{language}-{script}{hyphen}{region}"
    # Any other modifier is a variant of the language, or no part of it (@euro).
    return f"{tag}-{modifier}" if langcodes.tag_is_valid(f"{tag}-{modifier}") else tag


def languages_of(key: SegmentKey | None) -> tuple[str, str]:
    """Returns source and target language of a segment, without scripts and regions; "" for unknown.

    >>> languages_of(SegmentKey(lang_pair="en-es_MX")), languages_of(SegmentKey(lang_pair="deu_Latn-cmn_Hans"))
    (('en', 'es'), ('de', 'zh'))
    >>> languages_of(None)
    ('', '')
    """
    return languages_of_pair((key and key.lang_pair) or "")


@cache
def languages_of_pair(lang_pair: str) -> tuple[str, str]:
    """Returns the languages of a pair, as short as possible, without scripts and regions; "" for unknown.

    >>> languages_of_pair("en-zh_CN"), languages_of_pair("eng-cmn"), languages_of_pair("en")
    (('en', 'zh'), ('en', 'zh'), ('en', ''))
    """
    if not lang_pair:
        return "", ""  # without langcodes, whose import takes as long as marking several segments
    source, target = language_tags(lang_pair)
    return _language(source), _language(target)


def east_asian_target(key: SegmentKey | None) -> Literal["zh", "ja", "ko"] | None:
    """Returns the language of a segment's target if it is Chinese, Japanese or Korean, which need their own tokenizers.

    The script decides, stated or usual, so that Cantonese is Chinese, and Japanese in Latin letters is not Japanese.

    >>> names = "en-zh_TW", "en-yue", "eng_Latn-zho_Hans", "en-jpn", "en-ko", "en-ja_Latn", "zh-en"
    >>> [east_asian_target(SegmentKey(lang_pair=name)) for name in names]
    ['zh', 'zh', 'zh', 'ja', 'ko', None, None]
    """
    return _east_asian((key and key.lang_pair) or "")


@cache
def _east_asian(lang_pair: str) -> Literal["zh", "ja", "ko"] | None:
    import langcodes

    _, tag = language_tags(lang_pair)
    script = langcodes.Language.get(tag).maximize().script if langcodes.tag_is_valid(tag) else None
    return _EAST_ASIAN_SCRIPTS.get(script or "")


@cache
def language_tags(lang_pair: str) -> tuple[str, str]:
    """Returns two language tags; they are split at the first hyphen if no hyphen has a valid tag on either side."""
    import langcodes

    parts = lang_pair.replace("_", "-").split("-")
    for place in range(1, len(parts)):
        source = "-".join(parts[:place])
        target = "-".join(parts[place:])
        if langcodes.tag_is_valid(source) and langcodes.tag_is_valid(target):
            return source, target
    source, _, target = lang_pair.partition("-")
    return source, target


def _language(tag: str) -> str:
    """Returns the shortest code of a language; the first part of a tag that is not valid."""
    import langcodes

    if langcodes.tag_is_valid(tag):
        return langcodes.Language.get(tag).prefer_macrolanguage().language or ""
    return re.split("[-_]", tag.casefold())[0]
