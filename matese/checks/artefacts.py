"""What language models and broken encodings leave in a translation."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from matese.annotation import ErrorSpan, Severity
from matese.checks.rule import Rule, Texts

LEFTOVER = "Accuracy/Addition/Model output"
ENCODING = "Fluency/Character encoding"

_THINKING = regex.compile(r"(?is)(<think(?:ing)?>(?:.*?</think(?:ing)?>|.*)|</think(?:ing)?>)")
_FENCE = regex.compile(r"(?s)\A\s*(```\w*\n.*\n```)\s*\Z")
_PREAMBLE = regex.compile(
    r"(?i)\A\s*((?:(?:sure|certainly|of course|okay|ok)[,!.]\s+)?"
    r"(?:here(?:'s|’s| is| are)(?: the| your)?(?: \w+){0,2} translat(?:ion|ed)\b"
    r"|hier ist (?:die|deine|ihre) (?:\w+ )?übersetzung|voici (?:la|votre) traduction"
    r"|aquí (?:está|tienes) la traducción|ecco la traduzione|aqui está a tradução|вот перевод"
    r"|以下是.{0,8}(?:翻译|翻譯|译文|譯文)|以下は.{0,8}翻訳)"
    r"[^\n:：]{0,60}[:：])"
)
_LEFTOVERS = (
    (_THINKING, _THINKING),
    (_PREAMBLE, regex.compile("[:：]")),
    (_FENCE, regex.compile("```")),
)
"""What a model leaves, and what a source has in which it is no leftover."""
_NO_CHARACTER = regex.compile("[\ufffd\x80-\x84\x86-\x9f]+")
"""The sign for a character that was lost, and control characters, which are letters of another encoding."""


def find(texts: Texts) -> Iterator[ErrorSpan]:
    """Yields a model's thoughts and its preamble, a code fence around the text, and characters of a wrong encoding.

    Nothing that the source has, too.

    >>> from matese.annotation import Segment
    >>> text = "Here is the translation: Schön, Ã¼ber 5"
    >>> [text[span.start : span.end] for span in find(Texts(Segment(text, "Nice, over 5")))]
    ['Here is the translation:', 'Ã¼ber']
    """
    text = texts.hypothesis
    for pattern, of_source in _LEFTOVERS:
        if not of_source.search(texts.source):
            for match in pattern.finditer(text):
                yield ErrorSpan(*match.span(1), Severity.MAJOR, LEFTOVER)
    if not text.isascii():
        wrong = [match.span() for match in _NO_CHARACTER.finditer(text) if not _NO_CHARACTER.search(texts.source)]
        yield from (ErrorSpan(start, end, Severity.MAJOR, ENCODING) for start, end in wrong or _mojibake(texts))


def _mojibake(texts: Texts) -> Iterator[tuple[int, int]]:
    """Yields words that were written in UTF-8 and read as Windows-1252, and that ftfy finds unlikely."""
    from ftfy import bad_codecs, badness  # noqa: F401  # the first knows the codec

    if badness.is_bad(texts.hypothesis) and not badness.is_bad(texts.source):
        words = regex.finditer(r"\S+", texts.hypothesis)
        yield from (word.span() for word in words if badness.is_bad(word[0]) and _is_utf8(word[0]))


def _is_utf8(word: str) -> bool:
    try:
        word.encode("sloppy-windows-1252").decode()
    except UnicodeError:
        return False
    return True


RULE = Rule("artefacts", (LEFTOVER, ENCODING), find)
