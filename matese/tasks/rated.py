"""Ratings of systems: from files, from Python, or by a model that marks translations first."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from matese.annotation import Rating, Segment
from matese.errors import UsageError, shortened
from matese.files import given_ratings, keep_newest, short_names, write_lines
from matese.mqm import Basis
from matese.tasks import annotators, notices, texts
from matese.tasks.annotators import Marking
from matese.tasks.files import read_tokens
from matese.tasks.texts import Raters, TextFiles, require
from matese.tasks.weights import Weighted
from matese.validation.options import group, option

if TYPE_CHECKING:
    from matese.evaluation.spans.evaluation import NamedRatings
    from matese.formats.format import ReadOptions
    from matese.formats.segments import GivenSegments
    from matese.tasks.texts import RatingsOrFile, Systems

    AnyRatings: TypeAlias = (
        Mapping[str, RatingsOrFile] | Sequence[str | PathLike[str] | Rating | Sequence[Rating]] | RatingsOrFile
    )
    """Ratings of systems; of one system also its ratings alone, in any form."""

N_KEPT = 8
"""Files of ratings in the user's cache folder, two of each training; the oldest are removed."""


def systems_given(ratings: object) -> Any:  # noqa: ANN401
    """Returns the ratings by system, or a list of files and of lists of ratings; `texts.by_system` reads them."""
    from matese.evaluation.spans.evaluation import NamedRatings
    from matese.formats.tables import frames

    if isinstance(ratings, Mapping) and not frames.is_data_set(ratings):
        return dict(ratings)
    is_one = frames.is_data_set(ratings) or isinstance(ratings, str | PathLike | NamedRatings)
    if is_one or not isinstance(ratings, Iterable):
        return (ratings_given(ratings),)
    several = tuple(ratings)
    is_one = bool(several) and all(isinstance(value, Rating) for value in several)
    return (several,) if is_one else tuple(map(ratings_given, several))


def as_systems(ratings: AnyRatings) -> Systems:
    """Returns the ratings of a request, which `systems_given` has converted."""
    return cast("Systems", ratings)


def files_of(ratings: AnyRatings) -> list[str]:
    """Returns the files among the ratings of a request."""
    systems = as_systems(ratings)
    every = systems.values() if isinstance(systems, Mapping) else systems
    return [ratings_or_file for ratings_or_file in every if isinstance(ratings_or_file, str)]


def ratings_given(ratings: object) -> Any:  # noqa: ANN401
    """Returns a path as text, a table or data set as its ratings, and anything else as it is."""
    from matese.formats.tables import frames

    if frames.is_data_set(ratings):
        return tuple(frames.of_data_set(ratings))
    return os.fspath(ratings) if isinstance(ratings, PathLike) else ratings


def files_or_ratings(data: object) -> tuple[str, ...]:
    """Returns files of ratings; ratings, or a table or data set, whose split "train" counts, become a file.

    It lies in the user's cache folder, where a resumed run finds it, among the newest ones.
    """
    from matese.formats.tables import frames, jsonl

    ratings = frames.of_data_set(data, splits=("train",)) if frames.is_data_set(data) else data
    if isinstance(ratings, str | PathLike):
        return (os.fspath(ratings),)
    if not isinstance(ratings, Iterable):
        raise UsageError(f"{shortened(ratings)}: must be files, a table or a list of ratings")
    several = tuple(ratings)
    if not several or not all(isinstance(rating, Rating) for rating in several):
        return tuple(os.fspath(cast("str", path)) for path in several)
    lines = [jsonl.dumps(cast("Rating", rating)) for rating in several]
    name = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    path = given_ratings() / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_lines(path, lines)
    keep_newest(N_KEPT, path.parent)
    return (str(path),)


@dataclass(frozen=True)
class RatedOrTexts(Weighted):
    """Ratings of systems, or translations that a model marks first.

    Attributes:
        ratings: files of ratings, instead of texts.
    """

    ratings: AnyRatings = option((), take_all=systems_given, metavar="RATINGS")
    _: KW_ONLY
    texts: TextFiles = group(TextFiles)
    marking: Marking = group(Marking)

    def __post_init__(self) -> None:
        super().__post_init__()
        n_forms = bool(self.ratings) + bool(self.texts.hyp) + bool(self.texts.input)
        require(n_forms == 1, "give either RATINGS, translations (--hyp) or a table (--input)")
        problem = "--checks is for translations: give their files with --input, not as RATINGS, or leave it out"
        require(not self.ratings or self.marking.checks is None, problem)
        if self.marking.is_only_checks:
            self.marking.check_without_model()

    @property
    def files(self) -> list[str]:
        """The files that are read."""
        return [*files_of(self.ratings), *self.texts.files]


@dataclass(frozen=True)
class Rated(RatedOrTexts):
    """Ratings of systems, one per segment, or translations that a model marks first.

    Attributes:
        baseline: another system, a name or a file.
        by: score that decides: spans or expected (default: expected if all ratings have an expected score).
    """

    _: KW_ONLY
    raters: Raters = group(Raters)
    baseline: RatingsOrFile | None = option(None, take=ratings_given, metavar="SYSTEM")
    by: Basis | None = option(None, metavar="SCORE")

    @property
    def files(self) -> list[str]:
        """The files that are read."""
        ratings = files_of(self.ratings)
        named = super().files
        is_other = _is_file(self.baseline) and not self.texts.input
        is_other = is_other and self.baseline not in (*ratings, *self.texts.hyp)
        return [str(self.baseline), *named] if is_other else named


@dataclass(frozen=True, slots=True)
class RatedSystems:
    """Systems to compare.

    Attributes:
        systems: the ratings of each, one per segment.
        baseline: its name; None for none.
        warnings: of the model that rated them.
        n_given: number of segments of each system before a selection of segments.
    """

    systems: dict[str, list[Rating]]
    baseline: str | None
    warnings: Sequence[str] = ()
    n_given: Mapping[str, int] = field(default_factory=dict)


def find(request: Rated, *, command: str, wanted: Callable[[Segment], bool] | None = None) -> RatedSystems:
    """Returns the ratings of files, or of a model; `command` is named in messages, and `wanted` leaves segments out.

    Raises:
        InputError: if there are none, a segment has several raters, or the baseline is no system.
    """
    if not request.ratings:
        return _marked(request, command, wanted)
    options = texts.read_options(request.texts, untranslated=True)
    several, baseline = _with_baseline(request, options)
    single = {
        name: texts.one_per_segment(ratings, request.raters, name=name, weights=request.penalties)
        for name, ratings in several.items()
    }
    n_given = {name: len(ratings) for name, ratings in single.items()}
    if wanted is not None:
        single = {name: [rating for rating in ratings if wanted(rating.segment)] for name, ratings in single.items()}
    return RatedSystems(single, baseline, n_given=n_given)


def systems(ratings: Systems, options: ReadOptions, *, must_be_rated: bool = True) -> dict[str, tuple[Rating, ...]]:
    """Returns the ratings of each system; of files alone as the command line reads them.

    Raises:
        InputError: if a file cannot be read, or has no ratings though it must.
    """
    files = [value for value in ratings if isinstance(value, str)]
    if files and not isinstance(ratings, Mapping) and len(files) == len(ratings):
        return texts.systems(files, options, must_be_rated=must_be_rated)
    return texts.by_system(ratings, untranslated=options.untranslated)


def _with_baseline(request: Rated, options: ReadOptions) -> tuple[dict[str, tuple[Rating, ...]], str | None]:
    """Returns the ratings of all systems, the baseline included, and its name."""
    ratings = as_systems(request.ratings)
    baseline = request.baseline
    if baseline is None:
        return systems(ratings, options), None
    if not isinstance(baseline, str):
        name = "the baseline"
        return {name: tuple(texts.named(baseline, name, untranslated=True).ratings), **systems(ratings, options)}, name
    if _is_file(baseline) and baseline not in ratings:
        (name,) = short_names([baseline])
        ratings = {name: baseline, **ratings} if isinstance(ratings, Mapping) else (baseline, *ratings)
    several = systems(ratings, options)
    files = [] if isinstance(ratings, Mapping) else [value for value in ratings if isinstance(value, str)]
    # A file of ratings may name its system.
    of_file = systems([baseline], options) if baseline in files else ()
    return several, texts.baseline_name(baseline, files=files, names=several, of_file=of_file, where="")


def marked(request: RatedOrTexts) -> dict[str, list[Rating]]:
    """Returns the ratings of translations by a model, by system."""
    segments = texts.segments(request.texts, needs_context=not request.marking.is_only_checks, untranslated=True)
    of_systems, _ = _annotated(segments, request)
    return of_systems


def _marked(request: Rated, command: str, wanted: Callable[[Segment], bool] | None) -> RatedSystems:
    """Returns the ratings of a model, and the baseline."""
    hyp = request.texts.hyp
    baseline = request.baseline
    is_named = baseline is None or isinstance(baseline, str)
    require(
        is_named, "baseline is a list of ratings, but the systems are translations: mark both first, or name a file"
    )
    if hyp and _is_file(baseline) and baseline not in hyp:
        hyp = [str(baseline), *hyp]
    translations = replace(request.texts, hyp=hyp)
    segments = texts.segments(
        translations,
        needs_context=not request.marking.is_only_checks,
        untranslated=True,
        may_be_empty=wanted is not None,
    )
    where = f"then give files of ratings, as in matese {command} new.jsonl --baseline old.jsonl"
    name = texts.baseline_name(  # before the model works for an hour
        None if baseline is None else str(baseline),
        files=hyp,
        names=list(segments.counts),
        of_file=(),
        where=where if request.texts.input else "",
    )
    n_given = dict(segments.counts)
    if wanted is not None:
        segments = segments.where(wanted)
        if not segments:  # nothing to mark
            return RatedSystems({system: [] for system in n_given}, name, n_given=n_given)
    of_systems, warnings = _annotated(segments, request)
    return RatedSystems({system: of_systems.get(system, []) for system in n_given}, name, warnings, n_given)


def _annotated(segments: GivenSegments, request: RatedOrTexts) -> tuple[dict[str, list[Rating]], Sequence[str]]:
    """Returns the ratings of a model by system, with those of the checks, and its warnings."""
    from matese.formats.segments import system_of

    annotators.tell_rules(request.marking, segments)
    with annotators.opened(request.marking, len(segments), segments.forms, weights=request.weights) as marker:
        if not request.marking.is_only_checks:
            segments = texts.readable(segments, marker.needs, skip_incomplete=request.texts.skip_incomplete)
        of_systems: dict[str, list[Rating]] = {name: [] for name in segments.counts}
        for rating, _ in notices.progress(marker.annotate(segments), len(segments)):
            of_systems[system_of(rating.segment)].append(rating)
        return of_systems, marker.warnings()


def named(ratings: object, otherwise: str, options: ReadOptions) -> NamedRatings:
    """Returns ratings, or those of a file as the command line reads it, with a name; `otherwise` is for ratings alone.

    Raises:
        UsageError: if they are something else.
        InputError: if the file cannot be read.
    """
    from matese.evaluation.spans.evaluation import NamedRatings

    if isinstance(ratings, str):
        return NamedRatings(ratings, texts.ratings(ratings, options), read_tokens(ratings))
    return texts.named(ratings, otherwise)


def _is_file(path: object) -> bool:
    return isinstance(path, str) and (path == "-" or os.path.isfile(path))
