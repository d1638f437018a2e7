"""Where the source of a file of one language is, by the names of its folder and of itself."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from matese.text import languages

_ENGLISH = ("en", "en-US", "en_US", "en-GB", "en_GB")
_ENDINGS = (".xml", ".json", ".arb")
_CODE = re.compile(r"[a-z]{2,3}(?:[-_](?:[A-Z][a-z]{3}|[A-Z]{2}|[0-9]{3}))*")
_ANDROID_FOLDER = re.compile(r"values-(?:b\+([\w+]+)|([a-z]{2,3}(?:-r[A-Z]{2})?))")


def language_of(path: str | Path) -> str | None:
    """Returns the language that the names of a file and its folder state; None if they state none.

    >>> [language_of(path) for path in ("values-pt-rBR/strings.xml", "values/a.xml", "de/app.json", "src/a_fr.arb")]
    ['pt-BR', None, 'de', 'fr']
    """
    place = _place_of_language(path)
    if place is None:
        return None
    folder = _ANDROID_FOLDER.fullmatch(place[1])
    return (folder[1] or folder[2]).replace("+", "-").replace("-r", "-") if folder else place[1]


def _place_of_language(path: str | Path) -> tuple[int, str] | None:
    """Returns the part of a path, -1 for the file's name, and what names the language in it; None if nothing does."""
    parts = Path(os.path.abspath(path)).parts
    if (folder := _ANDROID_FOLDER.fullmatch(parts[-2])) is not None:
        return -2, folder[0]
    stem = parts[-1].partition(".")[0] if parts[-1].count(".") == 1 else parts[-1].rpartition(".")[0]
    tails = [stem[match.end() :] for match in re.finditer(r"[._-]", stem)]
    names = [(-2, parts[-2]), *((-1, text) for text in (stem, *tails))]
    codes = [(part, text) for part, text in names if _CODE.fullmatch(text) and is_language(text)]
    # Many words of three letters are codes of languages: "app", "src".
    return min(codes, key=lambda code: len(re.split("[-_]", code[1])[0]), default=None)


def is_language(code: str) -> bool:
    """Whether a text is a code of a language."""
    return languages.parse_or_none(f"en-{code}") is not None


def source_of(path: str | Path, source_lang: str | None = None) -> str | None:
    """Returns the file of the source of a translation; None if it is not there, or the file is the source itself."""
    place = _place_of_language(path)
    if place is None:
        return None
    part, code = place
    wanted = [source_lang] if source_lang else []
    names = ("values",) if _ANDROID_FOLDER.fullmatch(code) else (*wanted, *_ENGLISH)
    parts = list(Path(path).parts)
    if len(parts) < -part:
        parts = list(Path(os.path.abspath(path)).parts)
    for name in names:
        head, _, tail = parts[part].rpartition(code)
        candidate = Path(*parts[:part], f"{head}{name}{tail}", *(parts[part + 1 :] if part < -1 else ()))
        if name != code and candidate.is_file():
            return str(candidate)
    return None


def has_fallback(path: str | Path, source_lang: str) -> bool:
    """Whether a file of a region need not have all texts: its language has a file of its own, or is the source's.

    Of a language in several scripts, such a file is one of a script without a region.
    """
    language, *rest = re.split("[-_]", language_of(path) or "")
    if not rest:
        return False
    general = re.compile(language + ("" if len(rest[-1]) == 4 else r"([-_]\w{4})?"))
    is_of_source = language == re.split("[-_]", source_lang)[0]
    return is_of_source or any(map(general.fullmatch, _other_languages(path)))


def _other_languages(path: str | Path) -> Iterator[str]:
    """Yields the languages of the files beside another one whose names differ in the language alone."""
    part, code = _place_of_language(path) or (-1, "")
    whole = Path(os.path.abspath(path))
    folder = whole.parents[-part - 1]
    head, _, tail = whole.parts[part].rpartition(code)
    with contextlib.suppress(OSError):  # a folder that may not be listed
        for name in os.listdir(folder):
            other = os.path.join(folder, name, *([] if part == -1 else [whole.name]))
            if name.startswith(head) and name.endswith(tail) and os.path.isfile(other):
                yield language_of(other) or ""


def read_beside(path: str) -> list[str]:
    """Returns the files that are read with a file: its source."""
    source = source_of(path) if path.endswith(_ENDINGS) else None
    return [] if source is None else [source]


def without_sources(paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """Returns files without those that are the source of another one of them, and these."""
    files = list(paths)
    sources_of_files = {os.path.abspath(source) for path in files for source in read_beside(path)}
    sources = [path for path in files if os.path.abspath(path) in sources_of_files]
    return [path for path in files if path not in sources], sources
