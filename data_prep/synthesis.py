"""Synthetic training data: human ratings into which errors are injected whose place and severity are known."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from data_prep import injection, meaning, pools, writing
from data_prep.edits import Edit, Kind, Setting, words_in
from data_prep.pools import Pool
from matese.annotation import ErrorSpan, Overall, Rating, Scale, Segment, SegmentKey, Severity, UnplacedError
from matese.formats import jsonl

RATER = "synthetic"

KINDS: Mapping[str, tuple[Kind, float]] = {
    "number": (meaning.number, 25),
    "negation": (meaning.negation, 12),
    "antonym": (meaning.antonym, 12),
    "entity": (meaning.entity, 15),
    "word": (meaning.word, 14),
    "form": (meaning.form, 9),
    "omission": (injection.omission, 18),
    "addition": (injection.addition, 7),
    "repetition": (injection.repetition, 4),
    "untranslated": (injection.untranslated, 6),
    "order": (injection.order, 7),
    "typo": (injection.typo, 4),
    "punctuation": (injection.punctuation, 3),
    "casing": (injection.casing, 3),
    "truncated": (injection.truncated, 3),
    "glued": (injection.glued, 3),
}
"""What makes an error of each kind, and how often it is drawn; one that finds no place is drawn anew."""

N_ERRORS = {1: 0.6, 2: 0.27, 3: 0.13}
"""How many errors are injected into a hypothesis, and how often."""

WHOLE = {"copy": 0.04, "copy+error": 0.08, "source": 0.01, "other": 0.015, "shuffled": 0.005, "remnant": 0.007}
"""Cases of a whole segment, each a share of the ratings that are read; "copy" is what `--copies` sets."""

_N_TRIES = 4
_CATEGORY = "Synthetic/"
_PENALTIES: Mapping[Scale, tuple[float, float, float, float]] = {
    "mqm": (0.0, 1.0, 5.0, -25.0),
    "esa": (100.0, 5.0, 20.0, 0.0),
}
"""Of each scale: the best value, what a Minor and a Major take from it, the lowest."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is made.

    Attributes:
        inputs: files of ratings in our JSONL.
        output: the file to write; its parent must be there.
        share: of the ratings that get errors injected.
        copies: of the ratings, how many more become a copy of a reference, free of errors.
        seed: of all that is drawn; what is drawn for a rating depends on its number and on the pools alone.
    """

    inputs: tuple[Path, ...]
    output: Path
    share: float = 0.35
    copies: float = WHOLE["copy"]
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("share", "copies"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"--{name} {getattr(self, name)}: must be between 0 and 1")


def synthesise(options: Options, progress: Callable[[str], None]) -> Counter[str]:
    """Writes the synthetic ratings and returns counts: of injected kinds, of whole cases, of what was skipped.

    Args:
        options: what to make.
        progress: is told what is being done.

    Raises:
        FormatError: if an input is not in our format.
        OSError: if a file cannot be read or written.
    """
    ratings: list[Rating] = []
    for path in options.inputs:
        progress(f"reading {path}")
        ratings.extend(jsonl.read(path))
    progress("collecting words")
    languages = pools.build_all(rating.segment for rating in ratings)
    counts: Counter[str] = Counter()
    progress("writing")
    made = (
        _made(rating, languages, options, random.Random(f"synthesis|{options.seed}|{number}"), counts)
        for number, rating in enumerate(ratings)
    )
    writing.write(options.output, itertools.chain.from_iterable(made))
    return counts


def inject(rating: Rating, setting: Setting, rng: random.Random, n_errors: int) -> Rating | None:
    """Returns the rating with errors injected, as many as find a place and undo no other; None if none does.

    The spans that are there move with the text; an error goes where it changes none of theirs, save that an end of the
    text may go as a whole.
    """
    names: list[str] = []
    before = rating.segment.hypothesis
    while len(names) < n_errors:
        found = _drawn(rating, setting, rng, is_first=not names)
        if found is None or found[1].segment.hypothesis == before:
            break
        name, rating = found
        names.append(name)
    return _named(rating, names) if names else None


def whole(case: str, rating: Rating, setting: Setting, rng: random.Random) -> Rating | None:
    """Returns a case of `WHOLE`; None where the rating has not what it is made of."""
    segment = rating.segment
    scale: Scale = rating.overall.scale if rating.overall and rating.overall.scale in _PENALTIES else "mqm"
    best, _, _, worst = _PENALTIES[scale]
    if case.startswith("copy"):
        if not any(reference.strip() for reference in segment.references):
            return None
        text = rng.choice([reference for reference in segment.references if reference.strip()])
        copied = Rating(replace(segment, hypothesis=text, references=(text,)), RATER, (), overall=Overall(best, scale))
        copied = _named(copied, ["copy"])
        return copied if case == "copy" else inject(copied, setting, rng, 1)
    wrong = _wrong_text(case, segment, setting, rng)
    if wrong is None or wrong.strip() in ("", segment.hypothesis.strip(), *map(str.strip, segment.references)):
        return None
    start, end = len(wrong) - len(wrong.lstrip()), len(wrong.rstrip())
    span = ErrorSpan(start, end, Severity.MAJOR, _CATEGORY + case)
    bad = Rating(replace(segment, hypothesis=wrong), RATER, (span,), overall=Overall(worst, scale))
    return _named(bad, [case])


def _made(
    rating: Rating, languages: Mapping[str, Pool], options: Options, rng: random.Random, counts: Counter[str]
) -> Iterator[Rating]:
    """Yields what is made of one rating and counts it."""
    pair = pools.languages_of(rating.segment.key)
    if pair is None:
        counts["skipped: no language pair"] += 1
        return
    compounds = languages[pair[0]].compounds if pair[0] in languages else frozenset[str]()
    setting = Setting(languages[pair[1]], rating.segment.source, compounds)
    if rng.random() < options.share:
        if rating.errors is None:
            counts["skipped: no spans were asked for"] += 1
        else:
            n_errors = rng.choices(list(N_ERRORS), list(N_ERRORS.values()))[0]
            yield from _counted("injected", inject(rating, setting, rng, n_errors), counts)
    for case, share in (WHOLE | {"copy": options.copies}).items():
        if rng.random() < share:
            yield from _counted(case, whole(case, rating, setting, rng), counts)


def _counted(case: str, made: Rating | None, counts: Counter[str]) -> Iterator[Rating]:
    if made is None:
        counts[f"skipped: {case}, nothing applies"] += 1
        return
    counts[case] += 1
    key = made.segment.key
    for kind in (key.system if key and key.system else "").split("+"):
        if kind in KINDS:
            counts[f"error: {kind}"] += 1
    yield made


def _drawn(rating: Rating, setting: Setting, rng: random.Random, *, is_first: bool) -> tuple[str, Rating] | None:
    """Returns the rating with one error more, and its kind, drawn anew while a kind finds no place."""
    weights = {name: weight for name, (_, weight) in KINDS.items()}
    if not is_first:
        # They could take away what was injected before.
        del weights["truncated"], weights["glued"]
    while weights:
        name = rng.choices(list(weights), list(weights.values()))[0]
        for _ in range(_N_TRIES):
            edit = KINDS[name][0](rating.segment.hypothesis, rng, setting)
            moved = edit.moved(rating.errors or ()) if edit else None
            if not edit or moved is None or _is_beside(edit, rating.errors or ()):
                continue
            if edit.apply(rating.segment.hypothesis).strip():
                return name, _edited(rating, edit, moved, name)
        del weights[name]
    return None


def _is_beside(edit: Edit, errors: Sequence[ErrorSpan]) -> bool:
    """Whether a change is next to an error that was injected: it might undo it, as a second negation does a first."""
    injected = (error for error in errors if (error.category or "").startswith(_CATEGORY))
    return any(error.start - 1 <= edit.end and edit.start <= error.end + 1 for error in injected)


def _edited(rating: Rating, edit: Edit, moved: tuple[ErrorSpan, ...], name: str) -> Rating:
    errors, unplaced = moved, rating.unplaced
    if edit.marked is None:
        unplaced = (*unplaced, UnplacedError(edit.severity, "Accuracy/Omission"))
    else:
        errors = (*errors, ErrorSpan(*edit.marked, edit.severity, _CATEGORY + name))
    segment = replace(rating.segment, hypothesis=edit.apply(rating.segment.hypothesis))
    overall = _lowered(rating.overall, edit.severity)
    return replace(rating, segment=segment, errors=errors, unplaced=unplaced, overall=overall)


def _lowered(overall: Overall | None, severity: Severity) -> Overall | None:
    """Returns a judgement less the penalty; None on a scale that has none, where the old one would be wrong."""
    if overall is None or overall.scale not in _PENALTIES:
        return None
    _, minor, major, lowest = _PENALTIES[overall.scale]
    value = overall.value - (major if severity is Severity.MAJOR else minor)
    return Overall(min(overall.value, max(value, lowest)), overall.scale)


def _wrong_text(case: str, segment: Segment, setting: Setting, rng: random.Random) -> str | None:
    if case == "source":
        # A name or a number alone may well be its own translation.
        return segment.source if len(pools.words_of(segment.source or "")) >= 3 else None
    if case == "other":
        # Another system's translation of the same source would be no error.
        text = rng.choice(setting.pool.texts)
        words, others = (
            {each[slice(*place)] for place in words_in(each, setting.pool)} for each in (segment.hypothesis, text)
        )
        return text if len(words & others) <= len(others) / 2 else None
    if case == "remnant":
        places = words_in(segment.hypothesis, setting.pool)
        if not places:
            return None
        last = rng.randint(-2, 2)
        return segment.hypothesis[: places[last][1]] if 0 <= last < len(places) // 2 else rng.choice([".", "...", "-"])
    return injection.shuffled(segment.hypothesis, rng, setting)


def _named(rating: Rating, kinds: Sequence[str]) -> Rating:
    key = rating.segment.key or SegmentKey()
    key = replace(key, system="+".join([key.system or "", *kinds]))
    return replace(rating, segment=replace(rating.segment, key=key), rater=RATER)
