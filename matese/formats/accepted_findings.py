"""Findings that a person accepts as correct, until their text changes: one JSON object a line.

    {"unit": "de.po: unit Save", "text": "3f0c...", "rule": "numbers", "words": "17", "who": "anna", "why": "a version"}

`text` is a digest of source and translation, as `digest` makes it. A line without `words` accepts every finding of the
rule in the text, and one without `rule` whatever a rule finds there. `unit` is for readers, and tells which accepted
texts have changed. A line may also be a rating of our JSONL: a text in which a person found no error is accepted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from matese.annotation import AnyError, ErrorSpan, Omission, Rating, Segment
from matese.errors import FormatError, InputError
from matese.files import name_of, read_lines, replacing
from matese.formats import person_review
from matese.formats.tables import jsonl

USUAL_NAME = "matese-accepted.jsonl"
_LINE_NUMBER = re.compile(r" \(line \d+\)$")


class Acceptance(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A line of the file."""

    unit: str
    text: str
    rule: str | None = None
    words: str | None = None
    who: str | None = None
    why: str | None = None


def digest(segment: Segment) -> str:
    """Returns what tells a translation and its source from others.

    >>> digest(Segment("Ja", "Yes")), digest(Segment("Ja")) == digest(Segment("Ja", ""))
    ('646258e3a0912b1b', True)
    """
    text = f"{segment.source or ''}\0{segment.hypothesis}"
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def unit_of(segment: Segment) -> str:
    """Returns what people call a unit, without the line of its file, which changes."""
    label = _LINE_NUMBER.sub("", segment.label)
    return label if segment.file is None else f"{Path(segment.file).name}: {label}"


def words_of(error: AnyError, segment: Segment) -> str | None:
    """Returns the words that are wrong or missing; None if they are not known."""
    if isinstance(error, ErrorSpan):
        return segment.hypothesis[error.start : error.end]
    return error.words(segment) if isinstance(error, Omission) else error.words


def acceptance(error: AnyError, segment: Segment, who: str | None, why: str | None) -> Acceptance:
    """Returns the line that accepts a finding."""
    return Acceptance(unit_of(segment), digest(segment), error.rule, words_of(error, segment), who, why or None)


class Accepted:
    """What is accepted: findings of files, and texts in which people found no error."""

    def __init__(self) -> None:
        """Accepts nothing yet."""
        self._of_text: dict[str, list[Acceptance]] = {}
        self._texts_of_unit: dict[str, set[str]] = {}

    def read(self, path: str) -> None:
        """Adds the lines of a file. Raises FormatError at a line that is neither an acceptance nor a rating."""
        for number, line in enumerate(read_lines(path), start=1):
            if not line.strip():
                continue
            try:
                if '"hypothesis"' in line:
                    self.add_rating(jsonl.loads(line))
                else:
                    self.add(msgspec.json.decode(line, type=Acceptance))
            except (msgspec.DecodeError, InputError) as error:
                allowed = 'must be an object with "unit" and "text", as matese gate --accept writes it, or a rating'
                raise FormatError(name_of(path), number, f"{error}: {allowed}") from None

    def add(self, accepted: Acceptance) -> None:
        """Adds a line."""
        self._of_text.setdefault(accepted.text, []).append(accepted)
        self._texts_of_unit.setdefault(accepted.unit, set()).add(accepted.text)

    def add_rating(self, rating: Rating) -> None:
        """Adds a text in which a person has found no error."""
        if rating.errors == () and not rating.all_errors and not person_review.is_of_model(rating):
            self.add(Acceptance(unit_of(rating.segment), digest(rating.segment), who=rating.rater))

    def has(self, error: AnyError, segment: Segment) -> bool:
        """Whether a finding of a rule is accepted."""
        return error.rule is not None and any(
            line.rule in (None, error.rule) and line.words in (None, words_of(error, segment))
            for line in self._of_text.get(digest(segment), ())
        )

    def is_outdated(self, segment: Segment) -> bool:
        """Whether the unit was accepted with other texts."""
        texts = self._texts_of_unit.get(unit_of(segment))
        return texts is not None and digest(segment) not in texts


def add_to_file(path: str | Path, lines: Iterable[Acceptance], *, instead_of: Collection[str] = ()) -> int:
    """Adds lines that a file lacks, and returns their number; lines of the texts with the digests `instead_of` go."""
    file = Path(path)
    old = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    kept = [line for line in old if not instead_of or _text_of(line) not in instead_of]
    encoded = (msgspec.json.encode(line).decode() for line in lines)
    added = [line for line in dict.fromkeys(encoded) if line not in kept]
    if added or kept != old:
        with replacing(file) as target:
            text = "".join(f"{line}\n" for line in (*kept, *added))
            target.write_text(text, encoding="utf-8", newline="\n")
    return len(added)


def _text_of(line: str) -> str | None:
    """Returns the digest of the text that a line accepts; None for a rating, or what `Accepted.read` will refuse."""
    try:
        return msgspec.json.decode(line, type=Acceptance).text
    except msgspec.DecodeError:
        return None
