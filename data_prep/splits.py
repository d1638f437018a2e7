"""Split data by source, so that no text is on two sides, and list the held-out texts that every use of data checks."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from matese.annotation import Segment
from matese.errors import FormatError
from matese.files import read_lines
from matese.preparation import normalise

COMMITTED = Path(__file__).with_name("held_out_sources.txt")
"""List of the default split: all of WMT22 and a tenth of WMT20 and WMT21. `python -m data_prep prepare --splits 1`
draws it again in `split-1/`, and `python -m data_prep check` compares the two."""

COMMITTED_WMT24 = Path(__file__).with_name("held_out_wmt24.txt")
"""List of a third of the rated sources of WMT24, those whose hash is divisible by 3: the test set `esa-test`."""

HELD_OUT_SHARE = 0.1
"""Perrella et al. 2022, section 3.2: 90 % of the sources for training and 10 % for validation."""

_N_HEX_DIGITS = 16


@lru_cache(maxsize=1 << 16)
def fingerprint(text: str) -> str:
    """Returns the hash of a text in a list: the first 16 hex digits of the SHA-256 of its normal form."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()[:_N_HEX_DIGITS]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Hashes of the held-out sources and their references, which must not be trained on."""

    hashes: frozenset[str]

    def __contains__(self, text: str) -> bool:
        """Whether a source or a translation is held out."""
        return fingerprint(text) in self.hashes

    def covers(self, segment: Segment) -> bool:
        """Whether the source of a segment or one of its references is held out.

        References count because the references of some data are the sources of other data: the talks of zh-en are
        translations of the talks of en-de.
        """
        return any(text in self for text in texts_of(segment))


def read_held_out(path: Path) -> HeldOut:
    """Returns the list in a file.

    Raises:
        FormatError: if a line is not a hash.
    """
    hashes = [line for line in read_lines(path) if line]
    for number, line in enumerate(hashes, start=1):
        if len(line) != _N_HEX_DIGITS or set(line) - set("0123456789abcdef"):
            raise FormatError(str(path), number, f"{line!r} is not a hash: must be {_N_HEX_DIGITS} hex digits")
    return HeldOut(frozenset(hashes))


@cache
def committed() -> HeldOut:
    """Returns the union of the two committed lists."""
    return HeldOut(read_held_out(COMMITTED).hashes | read_held_out(COMMITTED_WMT24).hashes)


def is_held_out(source: str) -> bool:
    """Whether a source or a translation is on a committed list. Check this before any use of data."""
    return source in committed()


def texts_of(segment: Segment) -> tuple[str, ...]:
    """Returns the non-blank texts among the source and the references of a segment."""
    texts = (segment.source or "", *segment.references)
    return tuple(text for text in texts if text.strip())


def draw(
    segments: Iterable[Segment],
    *,
    always: Iterable[Segment] = (),
    seed: int,
    number: int = 1,
    share: float = HELD_OUT_SHARE,
) -> HeldOut:
    """Returns a list that holds out a share of the sources.

    Sources that share a text (the reference of one is the source of another) form a group and are held out together.
    The share is drawn for each set of test sets and language pairs that a group belongs to. The draw uses hashes, so
    that added or removed data do not change the rest of the list. Some segments, such as whole test sets, are always
    held out. The splits of one seed, which differ in their number, are independent.
    """
    groups = _groups(segments)
    strata: dict[tuple[str, ...], list[_Group]] = defaultdict(list)
    for group in groups:
        strata[group.places].append(group)
    held_out = {fingerprint(text) for segment in always for text in texts_of(segment)}
    for members in strata.values():
        ranked = sorted(members, key=lambda group: hashlib.sha256(f"{seed}|{number}|{group.name}".encode()).digest())
        held_out.update(text for group in ranked[: round(share * len(members))] for text in group.texts)
    # Groups that share a text with an always held-out segment are held out too.
    for group in groups:
        if not held_out.isdisjoint(group.texts):
            held_out.update(group.texts)
    return HeldOut(frozenset(held_out))


@dataclass(frozen=True, slots=True)
class _Group:
    """Texts that are held out together."""

    name: str  # first of the hashes of its sources
    texts: frozenset[str]  # hashes of its sources and their references
    places: tuple[str, ...]  # test sets and language pairs of its sources, sorted


def _groups(segments: Iterable[Segment]) -> list[_Group]:
    """Returns the groups of texts that are connected through segments."""
    joined: dict[str, set[str]] = defaultdict(set)
    places: dict[str, set[str]] = defaultdict(set)
    for segment in segments:
        hashes = [fingerprint(text) for text in texts_of(segment)]
        for text in hashes:
            joined[text].add(hashes[0])
            joined[hashes[0]].add(text)
        if hashes and segment.key is not None:
            places[hashes[0]].add(f"{segment.key.test_set} {segment.key.lang_pair}")
    groups: list[_Group] = []
    seen: set[str] = set()
    for source in sorted(places):
        if source not in seen:
            texts = _reachable(source, joined)
            seen |= texts
            stands_in = set[str]().union(*(places.get(text, ()) for text in texts))
            groups.append(_Group(source, frozenset(texts), tuple(sorted(stands_in))))
    return groups


def _reachable(text: str, joined: Mapping[str, set[str]]) -> set[str]:
    reached = {text}
    waiting = [text]
    while waiting:
        new = joined[waiting.pop()] - reached
        reached |= new
        waiting.extend(new)
    return reached
