"""Web and e-mail addresses of the source that the translation lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import regex

from matese.annotation import Omission, Severity
from matese.checks.rule import Rule, Texts

LOST = "Accuracy/Omission/Address"

# Letters of other scripts stand beside an address without a space, as in Chinese; a mark at its end belongs to the
# sentence.
_ADDRESS = regex.compile(
    r"(?:https?://|ftp://|www\.)[A-Za-z0-9][A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]*[A-Za-z0-9/=_~#-]"
    r"|(?<![A-Za-z0-9_.+-])[A-Za-z0-9][A-Za-z0-9_.+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"
)
# A page in another language has another path, and often another host: example.org/en/, de.example.org, example.de.
_IN_A_LANGUAGE = regex.compile(
    r"(?i)(?<=[/.=])[a-z]{2}(?:[-_][a-z]{2})?(?=[/.&]|$)|[?#].*$|/$|^https?://|(?<=//|^)www\."
)


def find(texts: Texts) -> Iterator[Omission]:
    """Yields the addresses that are rarer in the hypothesis; the address of another language's page is right."""
    if "://" not in texts.source and "www." not in texts.source and "@" not in texts.source:
        return
    left = Counter(map(_name, _ADDRESS.findall(texts.hypothesis)))
    for match in _ADDRESS.finditer(texts.source):
        name = _name(match[0])
        if left[name]:
            left[name] -= 1
        else:
            yield Omission("source", None, match.start(), match.end(), Severity.MAJOR, LOST)


def _name(address: str) -> str:
    """Returns an address without what differs between languages.

    >>> _name("https://example.org/en-US/help/"), _name("www.example.org/de/help")
    ('example.org/help', 'example.org/help')
    """
    bare = _IN_A_LANGUAGE.sub("", address.casefold())
    return regex.sub("[/.]{2,}", "/", bare).strip("/.")


RULE = Rule("addresses", "a web or e-mail address is missing or differs", (LOST,), find, needs_source=True)
