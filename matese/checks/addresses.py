"""Web and e-mail addresses of the source that the translation lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

import regex

from matese.annotation import Omission, Severity
from matese.checks import cldr
from matese.checks.rule import Need, Rule, Texts

LOST = "Accuracy/Omission/Address"

# Letters of other scripts stand beside an address without a space, as in Chinese; a mark at its end belongs to the
# sentence.
_ADDRESS = regex.compile(
    r"(?:https?://|ftp://|www\.)[A-Za-z0-9][A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*[A-Za-z0-9/=_~#-]"
    r"|(?<![A-Za-z0-9_.+-])[A-Za-z0-9][A-Za-z0-9_.+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
)
_EXAMPLE = regex.compile(r"@ex[ae]mple?\.")
_NO_PART_OF_NAME = regex.compile(r"[?#].*$|/$|^https?://|(?<=//|^)www\.")
_WIKI = regex.compile(r"(?:[\w-]+\.)*([\w-]+\.org)/wiki(?:/.*)?$")


def find(texts: Texts) -> Iterator[Omission]:
    """Yields the addresses that are rarer in the hypothesis; the address of another language's page is right.

    Such a page has another path, and often another host: example.org/en/, de.example.org, intro_en.html; and an article
    of a wiki has another title. A page below another one may be its translation, too. An e-mail address at "example"
    stands for one's own.
    """
    label = _label(texts.languages)
    left = Counter(_name(address, label) for address in _ADDRESS.findall(texts.hypothesis))
    for match in _ADDRESS.finditer(texts.source):
        name = _name(match[0], label)
        if left[name]:
            left[name] -= 1
        elif not _EXAMPLE.search(match[0]) and not any(longer.startswith(f"{name}/") for longer in left):
            yield Omission("source", None, match.start(), match.end(), Severity.MAJOR, LOST)


@cache
def _label(languages: tuple[str, str]) -> regex.Pattern[str]:
    """Returns what addresses call languages: two letters, or their names in English and in either language."""
    locales = [locale for lang in ("en", *languages) if (locale := cldr.locale(lang))]
    names = {locale.languages[lang] for locale in locales for lang in languages if lang in locale.languages}
    any_name = "|".join(regex.escape(name.casefold()) for name in {*names, *languages})
    return regex.compile(rf"(?<=[/.=_-]|^)(?:[a-z]{{2}}(?:[-_][a-z]{{2}})?|{any_name})(?=[/.&_]|$)")


def _name(address: str, label: regex.Pattern[str]) -> str:
    """Returns an address without what differs between languages.

    >>> label = _label(("en", "nl"))
    >>> _name("https://example.org/en-US/help/", label), _name("www.example.org/dutch/a", label)
    ('example.org/help', 'example.org/a')
    """
    bare = _NO_PART_OF_NAME.sub("", _NO_PART_OF_NAME.sub("", address.casefold()))
    bare = label.sub("", _WIKI.sub(r"\1", bare))
    return regex.sub("[/._]{2,}", "/", bare).strip("/.")


RULE = Rule("addresses", (LOST,), find, needs=Need.SOURCE)
