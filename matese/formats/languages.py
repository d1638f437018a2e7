"""Language pairs in any usual form: "en-de", "en_DE", "eng-deu", "English-German"."""

from __future__ import annotations

from matese.errors import UsageError


def parse(pair: str) -> str:
    """Returns a language pair in our form: codes as short as possible, "_" before a script or region.

    Raises:
        UsageError: if these are not two languages.

    >>> parse("eng_DE"), parse("english-German"), parse("en-US-pt-br")
    ('en-de', 'en-de', 'en_US-pt_BR')
    """
    parts = pair.strip().replace("_", "-").split("-")
    for place in range(1, len(parts)):
        codes = [_code("-".join(side)) for side in (parts[:place], parts[place:])]
        if all(codes):
            return "-".join(str(code).replace("-", "_") for code in codes)
    raise UsageError(f"{pair!r} is not a language pair: must be two languages, such as en-de or english-german")


def agree(pair: str, other: str) -> bool:
    """Whether two language pairs in our form are of the same languages, whatever their regions.

    >>> agree("en-de_AT", "en-de"), agree("en-de", "de-en")
    (True, False)
    """
    first, second = ([side.split("_")[0].casefold() for side in lang_pair.split("-")] for lang_pair in (pair, other))
    return first == second


def names(pair: str) -> tuple[str, str]:
    """Returns the English names of a language pair in our form.

    >>> names("en-de"), names("en_US-pt_BR")
    (('English', 'German'), ('English (United States)', 'Portuguese (Brazil)'))
    """
    import langcodes

    source, _, target = pair.partition("-")
    return langcodes.Language.get(source).display_name(), langcodes.Language.get(target).display_name()


def _code(name: str) -> str | None:
    """Returns the code of a language, None if it is unknown."""
    import langcodes

    try:
        language = langcodes.Language.get(name)
        return language.to_tag() if language.is_valid() else None
    except ValueError:  # no language tag
        pass
    try:
        return langcodes.find(name).to_tag()
    except LookupError:
        return None
