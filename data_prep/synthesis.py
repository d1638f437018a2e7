"""Make synthetic training data: human ratings with injected errors of known place and severity."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from matese import files, mqm
from matese.annotation import ErrorSpan, Overall, Rating, Scale, Segment, Severity, UnplacedError
from matese.corruption import meaning_errors, pools, wording_errors
from matese.corruption.edits import DrawEdit, Edit, Setting, words_in
from matese.corruption.pools import Pool
from matese.formats.tables import jsonl
from matese.text.languages import languages_of

RATER = "synthetic"

KINDS: Mapping[str, tuple[DrawEdit, float]] = {
    "number": (meaning_errors.number, 25),
    "negation": (meaning_errors.negation, 12),
    "antonym": (meaning_errors.antonym, 18),
    "related": (meaning_errors.related, 20),
    "tense": (meaning_errors.tense, 8),
    "role": (meaning_errors.role, 6),
    "entity": (meaning_errors.entity, 15),
    "word": (meaning_errors.word, 8),
    "form": (meaning_errors.form, 9),
    "omission": (wording_errors.omission, 18),
    "addition": (wording_errors.addition, 7),
    "repetition": (wording_errors.repetition, 4),
    "untranslated": (wording_errors.untranslated, 6),
    "order": (wording_errors.order, 7),
    "typo": (wording_errors.typo, 4),
    "punctuation": (wording_errors.punctuation, 3),
    "casing": (wording_errors.casing, 3),
    "truncated": (wording_errors.truncated, 3),
    "glued": (wording_errors.glued, 3),
}
"""The kinds of errors and their weights; if a kind fits nowhere, another is drawn."""

_WORDING = ("form", "repetition", "order", "typo", "punctuation", "casing", "truncated", "glued")
MEANING = tuple(kind for kind in KINDS if kind not in _WORDING)
"""The kinds that change the meaning."""

N_ERRORS = {1: 0.6, 2: 0.27, 3: 0.13}
"""Probability of each number of errors in a hypothesis."""

WHOLE = {"copy": 0.04, "copy+error": 0.08, "source": 0.01, "other": 0.015, "shuffled": 0.005, "remnant": 0.007}
"""Cases that replace the whole hypothesis, with their shares of the ratings."""

_N_TRIES = 4
_ENDS = frozenset({"truncated", "glued"})
"""Kinds that could remove previously injected errors."""
_CATEGORY = "Synthetic/"
_PENALTIES: Mapping[Scale, tuple[float, float, float, float]] = {
    "mqm": (0.0, mqm.MATESE.minor, mqm.MATESE.major, mqm.LOWEST_SCORE),
    "esa": (100.0, 5.0, 20.0, 0.0),
}
"""For each scale: best value, penalties of a Minor and a Major error, and lowest value."""


@dataclass(frozen=True, slots=True)
class Synthetic:
    """A synthetic rating.

    Attributes:
        rating: of the wrong hypothesis, or of a copy of a reference.
        kinds: of the injected errors, in the order in which they were injected.
    """

    rating: Rating
    kinds: tuple[str, ...] = ()


def synthesise(
    inputs: Iterable[Path], output: Path, *, share: float, seed: int = 0, progress: Callable[[str], None]
) -> Counter[str]:
    """Writes the synthetic ratings and returns the counts of cases, kinds of error and skipped ratings.

    The draws for a rating depend only on the seed, its number and the pools.

    Raises:
        FormatError: if an input is not JSONL of ratings.
        OSError: if a file cannot be read or written.
    """
    ratings, languages = read(inputs, progress)
    counts: Counter[str] = Counter()
    progress("writing")
    synthetic = (
        _made(rating, languages, share, random.Random(f"synthesis|{seed}|{number}"), counts)
        for number, rating in enumerate(ratings)
    )
    files.write_lines(output, (jsonl.dumps(case.rating) for case in itertools.chain.from_iterable(synthetic)))
    return counts


def read(inputs: Iterable[Path], progress: Callable[[str], None]) -> tuple[Sequence[Rating], Mapping[str, Pool]]:
    """Returns the ratings of JSONL files and the words of each of their languages."""
    ratings: list[Rating] = []
    for path in inputs:
        progress(f"reading {path}")
        ratings.extend(jsonl.read(path))
    progress("collecting words")
    return ratings, pools.build_all(rating.segment for rating in ratings)


def setting_of(pair: tuple[str, str], source: str | None, languages: Mapping[str, Pool]) -> Setting:
    """Returns what the errors of a segment are drawn from, for its source and target language."""
    compounds = languages[pair[0]].compounds if pair[0] in languages else frozenset[str]()
    return Setting(languages[pair[1]], source, compounds)


def inject(
    rating: Rating, setting: Setting, rng: random.Random, n_errors: int, *, kinds: Collection[str] = KINDS
) -> Synthetic | None:
    """Returns the rating with up to `n_errors` injected errors of the kinds; None if no error fits anywhere.

    Existing spans move with the text. An error never changes the text of an existing span, except that the end of the
    text may be replaced as a whole.
    """
    injected: list[str] = []
    before = rating.segment.hypothesis
    while len(injected) < n_errors:
        drawn = _drawn(rating, setting, rng, kinds if not injected else [kind for kind in kinds if kind not in _ENDS])
        if drawn is None or drawn[1].segment.hypothesis == before:
            break
        kind, rating = drawn
        injected.append(kind)
    return Synthetic(replace(rating, rater=RATER), tuple(injected)) if injected else None


def whole(case: str, rating: Rating, setting: Setting, rng: random.Random) -> Synthetic | None:
    """Returns a case of `WHOLE` for a rating; None if the rating lacks the texts for it."""
    segment = rating.segment
    scale: Scale = rating.overall.scale if rating.overall and rating.overall.scale in _PENALTIES else "mqm"
    best, _, _, worst = _PENALTIES[scale]
    if case.startswith("copy"):
        if not any(reference.strip() for reference in segment.references):
            return None
        text = rng.choice([reference for reference in segment.references if reference.strip()])
        copied = Rating(replace(segment, hypothesis=text, references=(text,)), RATER, (), overall=Overall(best, scale))
        return Synthetic(copied) if case == "copy" else inject(copied, setting, rng, 1)
    wrong = _wrong_text(case, segment, setting, rng)
    if wrong is None or wrong.strip() in ("", segment.hypothesis.strip(), *map(str.strip, segment.references)):
        return None
    start = len(wrong) - len(wrong.lstrip())
    end = len(wrong.rstrip())
    span = ErrorSpan(start, end, Severity.MAJOR, _CATEGORY + case)
    return Synthetic(Rating(replace(segment, hypothesis=wrong), RATER, (span,), overall=Overall(worst, scale)))


def _made(
    rating: Rating, languages: Mapping[str, Pool], share: float, rng: random.Random, counts: Counter[str]
) -> Iterator[Synthetic]:
    """Yields the synthetic ratings made from one rating and counts them."""
    pair = languages_of(rating.segment.key)
    if not pair[1]:
        counts["skipped: no language pair"] += 1
        return
    setting = setting_of(pair, rating.segment.source, languages)
    if rng.random() < share:
        if rating.errors is None:
            counts["skipped: rating without spans"] += 1
        else:
            n_errors = rng.choices(list(N_ERRORS), list(N_ERRORS.values()))[0]
            yield from _counted("injected", inject(rating, setting, rng, n_errors), counts)
    for case, whole_share in WHOLE.items():
        if rng.random() < whole_share:
            yield from _counted(case, whole(case, rating, setting, rng), counts)


def _counted(case: str, made: Synthetic | None, counts: Counter[str]) -> Iterator[Synthetic]:
    if made is None:
        counts[f"skipped: {case} does not apply"] += 1
        return
    counts[case] += 1
    counts.update(f"error: {kind}" for kind in made.kinds)
    yield made


def _drawn(rating: Rating, setting: Setting, rng: random.Random, kinds: Collection[str]) -> tuple[str, Rating] | None:
    """Returns one of the kinds of error at random and the rating with it; None if no kind fits anywhere."""
    weights = {name: KINDS[name][1] for name in kinds}
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
    """Whether an edit is next to an injected error that it might undo, as a second negation undoes the first."""
    injected = (error for error in errors if (error.category or "").startswith(_CATEGORY))
    return any(error.start - 1 <= edit.end and edit.start <= error.end + 1 for error in injected)


def _edited(rating: Rating, edit: Edit, moved: tuple[ErrorSpan, ...], name: str) -> Rating:
    errors = moved
    unplaced = rating.unplaced
    if edit.marked is None:
        unplaced = (*unplaced, UnplacedError(edit.severity, "Accuracy/Omission"))
    else:
        errors = (*errors, ErrorSpan(*edit.marked, edit.severity, _CATEGORY + name))
    segment = replace(rating.segment, hypothesis=edit.apply(rating.segment.hypothesis))
    overall = lowered(rating.overall, edit.severity)
    return replace(rating, segment=segment, errors=errors, unplaced=unplaced, overall=overall, estimate=None)


def lowered(overall: Overall | None, severity: Severity) -> Overall | None:
    """Returns the overall judgement minus the penalty of an error; None on a scale without penalties."""
    if overall is None or overall.scale not in _PENALTIES:
        return None
    _, minor, major, lowest = _PENALTIES[overall.scale]
    value = overall.value - (major if severity is Severity.MAJOR else minor)
    return Overall(min(overall.value, max(value, lowest)), overall.scale)


def _wrong_text(case: str, segment: Segment, setting: Setting, rng: random.Random) -> str | None:
    if case == "source":
        # A short text, such as a name, may be its own translation.
        return segment.source if len(pools.words_of(segment.source or "")) >= 3 else None
    if case == "other":
        # Similar texts may be translations of the same source, which are not wrong.
        text = rng.choice(setting.pool.texts)
        words, other_words = (
            {each[slice(*place)] for place in words_in(each, setting.pool)} for each in (segment.hypothesis, text)
        )
        return text if len(words & other_words) <= len(other_words) / 2 else None
    if case == "remnant":
        places = words_in(segment.hypothesis, setting.pool)
        if not places:
            return None
        last = rng.randint(-2, 2)
        return segment.hypothesis[: places[last][1]] if 0 <= last < len(places) // 2 else rng.choice([".", "...", "-"])
    return wording_errors.shuffled(segment.hypothesis, rng, setting)
