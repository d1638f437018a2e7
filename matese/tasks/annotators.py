"""What annotates: a model, a language model, or checks, alone or beside each other."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from matese.annotation import Rating, Segment, TokenScores
from matese.checks import chosen
from matese.checks.chosen import ChosenRules
from matese.errors import InputError, UsageError, check_installed, counted, one_of, unknown
from matese.files import beside
from matese.model.decoding_choice import DecodingChoice
from matese.tasks import notices
from matese.tasks.texts import Reads, require
from matese.validation.options import (
    Count,
    CountOrZero,
    File,
    Folder,
    Options,
    Positive,
    group,
    option,
    options_of,
)

if TYPE_CHECKING:
    from matese import mqm
    from matese.checks.rule import Rule
    from matese.finished_work import FinishedWork
    from matese.formats.segments import GivenSegments
    from matese.language_model.llm_annotator import LanguageModel
    from matese.model.annotator import Annotator

_PREFIX = "openai:"
_FOR_PEOPLE = 0.5
"""Minimum confidence in formats that people correct, as a share of the model's own."""


def device(name: object) -> str:
    """Returns the name of a device; loading the model checks whether it is available."""
    names = ("auto", "cpu", "cuda", "mps")
    if name not in names and not re.fullmatch(r"cuda:[0-9]{1,3}", str(name)):
        raise UsageError(unknown("device", str(name), names, allowed=one_of((*names, "cuda:N"))))
    return str(name)


@dataclass(frozen=True, kw_only=True)
class Computing(Options):
    """Where and how a model computes.

    Attributes:
        device: auto, cpu, cuda, cuda:N or mps (default: auto).
        engine: numpy or torch, which compute the same: numpy starts at once and needs less memory, torch is faster
            after that (default: auto: numpy for small models and few segments, or where memory is short).
        batch_tokens: most padded tokens in a batch (default: chosen for the machine).
        precision: auto, bf16 or float32 (default: auto: float32 for small models, else bf16 if the hardware supports
            it).
        threads: CPU threads (default: the cores that the process may use).
    """

    device: str = option("auto", take=device, metavar="DEVICE")
    engine: Literal["auto", "numpy", "torch"] = "auto"
    batch_tokens: Count | None = None
    precision: Literal["auto", "bf16", "float32"] = "auto"
    threads: Count | None = None


@dataclass(frozen=True, kw_only=True)
class Intervals(Options):
    """Several predictions, for intervals and votes.

    Attributes:
        uncertainty: make several predictions, for intervals and votes: dropout:N (N passes with dropout; dropout:N:P
            switches off a share P of the units, default 0.1), models:DIR,DIR (several models instead of --model, median
            of the expected scores), span-models:DIR,DIR (median of the scores of their spans) or references (each
            reference alone); docs/explain.md explains the intervals.
        interval_scale: factor of the intervals of expected scores: uncertainty.scale of matese evaluate on dev data
            (default: 1).
    """

    uncertainty: str | None = option(None, metavar="HOW")
    interval_scale: Positive = 1.0


@dataclass(frozen=True)
class Loading(DecodingChoice):
    """A model that marks errors, with the options of `matese.load`.

    Attributes:
        model: name of an embedded model, a model directory, or a hub id (ORG/NAME[@REVISION]) (default:
            mini).
    """

    model: str = option("mini", metavar="MODEL")
    computing: Computing = group(Computing)
    intervals: Intervals = group(Intervals)

    def arguments(self, weights: mqm.AnyWeights) -> dict[str, Any]:
        """Returns the arguments of `matese.load`."""
        choice = DecodingChoice(**{field.name: getattr(self, field.name) for field in fields(DecodingChoice)})
        of_model = {"model": self.model, **vars(self.computing), **vars(self.intervals)}
        return {**of_model, "weights": weights, "choice": choice}


def rules(names: object) -> str:
    """Returns the names of rules, separated by commas, as `matese.checks.chosen.choose` describes them."""
    text = chosen.as_text(names)
    chosen.choose(text)
    return text


@dataclass(frozen=True)
class Marking(Loading):
    """A model, rule-based checks, or both.

    Attributes:
        checks: run rule-based checks: all beside the model (also), all without it (only), none, or the named rules
            (numbers,codes; only,numbers without the model): blank, untranslated, language, scripts, numbers,
            placeholders, codes, addresses, repetition, artefacts, length (default: also for PO, XLIFF, other
            localisation files and --for interface, else none).
        terms: check the terms of a list, too: CSV or TSV with columns such as source, target, forbidden and
            do-not-translate, or TBX.
    """

    _: KW_ONLY
    checks: str | None = option(None, take=rules, metavar="RULES")
    terms: File | None = None
    error_free: bool = False

    @property
    def chosen_rules(self) -> ChosenRules:
        """The rules that run."""
        usual = chosen.choose("also") if self.use == "interface" else chosen.DEFAULT
        rules = usual if self.checks is None else chosen.choose(self.checks)
        return replace(rules, terms=self.terms)

    @property
    def is_only_checks(self) -> bool:
        """Whether rules alone annotate, without a model."""
        return not self.chosen_rules.has_model

    def check_without_model(self) -> None:
        """Raises a UsageError at an option that changes the marks of a model: rules alone run."""
        given = self.given()
        for each in (*options_of(DecodingChoice), *options_of(Intervals)):
            problem = f"{each.flag} needs a model, but rules alone run: leave it out, or leave out --checks only"
            require(each.name not in given, problem)


@dataclass(frozen=True)
class Asking(Options):
    """A language model, and what it is asked.

    Attributes:
        annotator: openai:MODEL: ask a language model instead of --model; the key is in the environment,
            OPENAI_API_KEY.
        base_url: address of the endpoint, such as http://localhost:8080/v1 (default: that of OpenAI).
        context: show a language model N segments of the document before and after each (default: 0).
        set: prompt=mqm|esa or a file in Jinja, steps=2 (score of esa in a second request), scheme=FILE (categories and
            severities), terms=FILE (a glossary), style=TEXT, judgements=N (mean score without outliers), max_tokens=N,
            requests_per_minute=N, concurrency=N, timeout=SECONDS, or parameters.NAME=VALUE for a parameter of each
            request; repeatable.
        cache: folder that keeps finished work for later runs (default: beside --output until it is complete; of
            --annotator, in the user's cache folder).
    """

    annotator: str | None = None
    _: KW_ONLY
    base_url: str | None = option(None, metavar="URL")
    context: CountOrZero = 0
    set: Sequence[str] = option((), metavar="KEY=VALUE", is_repeated=True)
    cache: Folder | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.annotator is None:
            for name in ("base_url", "context", "set"):
                require(not getattr(self, name), f"--{name.replace('_', '-')} is for --annotator only")
            return
        is_named = self.annotator.startswith(_PREFIX) and self.annotator != _PREFIX
        require(is_named, f"--annotator {self.annotator}: must be openai:MODEL, the model as the endpoint names it")


AnnotatedSegments = Iterator[tuple[Rating, TokenScores | None]]
"""Ratings in the order of their segments, with token scores if they are wanted."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What annotates: a model, a language model or rules, or a model and rules.

    Attributes:
        annotate: yields the rating of each segment, lazily and in order.
        needs: knows the texts that a segment must have.
        warnings: returns sentences for readers about what was annotated.
    """

    annotate: Callable[[Iterable[Segment]], AnnotatedSegments]
    needs: Reads
    warnings: Callable[[], list[str]] = list


class _Nothing:
    """What rules need."""

    needed = "nothing"

    def can_read(self, segment: Segment) -> bool:
        return True

    def check_texts(self, segment: Segment) -> None: ...


def _with_rules(marker: Marker, rules_of: Callable[[Segment], Sequence[Rule]]) -> Marker:
    """Returns a marker that also marks the findings of the rules for a segment."""

    def annotate(segments: Iterable[Segment]) -> AnnotatedSegments:
        from matese.checks import checker

        for rating, tokens in marker.annotate(segments):
            rules = rules_of(rating.segment)
            yield checker.add_findings(rating, rules) if rules else rating, tokens

    return replace(marker, annotate=annotate)


@contextlib.contextmanager
def opened(
    options: Marking,
    n_segments: int,
    forms: Mapping[str, str],
    *,
    weights: mqm.AnyWeights,
    asked: Asking | None = None,
    has_correction: bool = False,
    has_tokens: bool = False,
    finished: FinishedWork | None = None,
    for_people: bool = False,
) -> Iterator[Marker]:
    """Yields what annotates segments: a model, the checks, or both. Tells at the end what the model did.

    Args:
        options: of what annotates.
        n_segments: number of all segments.
        forms: the format of each of their files, which says what rules run by default.
        weights: penalties of errors.
        asked: names a language model, if one annotates.
        has_correction: whether it is asked for the corrected translation, too.
        has_tokens: whether the probabilities of every token are wanted.
        finished: where the ratings of a model are kept, if they are.
        for_people: whether people correct the marks: then the least confidence, if it is the model's own, is half of
            it, because a wrong span is removed more quickly than a missing one is noticed.
    """
    rules = options.chosen_rules
    rules_of_form = {form: rules.of(form) for form in {None, *forms.values()}}

    def rules_of(segment: Segment) -> Sequence[Rule]:
        return rules_of_form[forms.get(segment.file or "")]

    if not rules.has_model:
        from matese.checks import checker

        findings = partial(checker.annotate_segments, rules=rules.rules)
        yield Marker(lambda segments: ((rating, None) for rating in findings(segments)), _Nothing())
        return
    if asked is not None and asked.annotator is not None:
        faults = Counter[str]()
        with asked_model(asked, weights=weights, has_correction=has_correction) as language_model:
            marker = Marker(
                lambda segments: (
                    (rating, None) for rating in _checked(language_model.annotate_segments(segments), faults)
                ),
                language_model,
            )
            yield _with_rules(marker, rules_of)
        if has_correction and faults:
            by_rule = ", ".join(f"{rule} {n:,}" for rule, n in faults.most_common())
            notices.info(f"rules find faults in corrected translations ({by_rule}): look at these first")
        return
    with loaded(options, n_segments, weights=weights) as annotator:
        if for_people and options.min_confidence is None and options.use is None:
            annotator = annotator.with_decoding(annotator.decoding.marking_more(_FOR_PEOPLE))
        annotate = partial(annotator.annotate_kept, finished=finished, has_tokens=has_tokens)
        marker = Marker(annotate, annotator, lambda: annotator.counts.warnings)
        yield _with_rules(marker, rules_of) if any(rules_of_form.values()) else marker
        notices.info(*annotator.counts.notices)


def tell_rules(options: Marking, segments: GivenSegments) -> None:
    """Tells which of the rules that were asked for can say nothing about the texts.

    Raises:
        UsageError: if no rule can say anything.
    """
    if options.chosen_rules.is_default:
        return
    from matese.checks import rules
    from matese.checks.rule import Need

    asked = options.chosen_rules.rules
    idle = rules.idle(asked, segments)
    # Few files have inline codes.
    told = [rule for rule in asked if len(asked) < len(rules.TABLE) or rule not in idle or rule.needs is not Need.CODES]
    if lacking := [rule for rule in idle if rule in told]:
        problem = rules.why_idle(lacking)
        first = next(iter(segments), None)
        if first is not None and first.source is None and (names := list(first.extra or ())):
            import json

            example = json.dumps(names[0], ensure_ascii=False)
            problem += (
                f"; the other columns are {', '.join(names)}: name the source, such as --columns source={example}"
            )
        require(len(lacking) < len(told), f"no rule of --checks can run: {problem}")
        ran = ", ".join(rule.name for rule in told if rule not in lacking)
        notices.info(f"of the checks, only {ran} run: {problem}")


def _checked(ratings: Iterable[Rating], faults: Counter[str]) -> Iterator[Rating]:
    """Yields ratings; counts the rules that find a fault in a corrected translation."""
    from matese.checks import checker

    for rating in ratings:
        if rating.correction is not None:
            findings = checker.check(replace(rating.segment, hypothesis=rating.correction))
            faults.update({error.rule for error in findings.all_errors if error.rule is not None})
        yield rating


@contextlib.contextmanager
def asked_model(options: Asking, *, weights: mqm.AnyWeights, has_correction: bool = False) -> Iterator[LanguageModel]:
    """Yields the language model of a request; tells at the end what it did.

    Args:
        options: of the request, which names one.
        weights: penalties of errors.
        has_correction: whether the corrected translation is asked for.

    Raises:
        UsageError: if an option cannot be used, or the HTTP client is not installed.
    """
    from matese.validation import settings

    check_installed("--annotator", "openai", extra="llm")
    from matese.language_model.llm_annotator import OPENAI, LanguageModel, Settings

    asked = settings.parse("{}", Settings, path="--set", overrides=parse_settings(options.set))
    annotator = LanguageModel(
        (options.annotator or "").removeprefix(_PREFIX),
        base_url=options.base_url or OPENAI,
        prompt=asked.question(n_context=options.context, has_correction=has_correction),
        judgements=asked.judgements,
        parameters=asked.parameters,
        limits=asked,
        cache_directory=options.cache,
        weights=weights,
    )
    try:
        yield annotator
    finally:
        notices.info(*annotator.tally.notices(annotator.model))


def parse_settings(settings: Sequence[str]) -> list[tuple[str, str]]:
    """Returns the pairs of a dotted key and a YAML value of `--set`.

    Raises:
        UsageError: if one is no KEY=VALUE.
    """
    overrides = []
    for setting in settings:
        key, equals, value = setting.partition("=")
        require(bool(equals), f"--set {setting}: must be KEY=VALUE")
        overrides.append((key, value))
    return overrides


@contextlib.contextmanager
def finished_work(output: str | None, cache: str | None) -> Iterator[FinishedWork | None]:
    """Yields where the ratings of a model are kept: in `cache`, or beside the output until the body has completed it.

    None where there is no such place.
    """
    from matese.finished_work import FinishedWork, in_folder

    if cache is not None:
        with contextlib.closing(in_folder(cache)) as work:
            yield work
        return
    if output is None:
        yield None
        return
    work = FinishedWork(beside(output))
    if work.n_earlier:
        notices.info(f"resuming after {counted(work.n_earlier, 'segment')} in {work.path}")
    try:
        yield work
    except BaseException as failure:
        work.close()
        if work.n_results:
            kept = f"{counted(work.n_results, 'segment')} {'is' if work.n_results == 1 else 'are'} kept in {work.path}"
            is_hopeless = isinstance(failure, InputError)  # the same command would fail again
            notices.info(
                f"stopped by an error: {kept}" if is_hopeless else f"interrupted: {kept}; the same command resumes"
            )
        raise
    work.remove()


@contextlib.contextmanager
def loaded(
    options: Loading,
    n_segments: int | None = None,
    *,
    weights: mqm.AnyWeights = "matese",
) -> Iterator[Annotator]:
    """Loads the model of a request; in the body, other libraries write nothing to standard error.

    Args:
        options: of the model.
        n_segments: number of segments to annotate; None if unknown.
        weights: penalties of errors.

    Raises:
        ModelError: if there is no such model or it cannot be loaded.
        UsageError: if the device is not available on this machine.
    """
    method = options.intervals.uncertainty
    names = [options.model]
    if method is not None:
        from matese.model import uncertainty

        names = list(uncertainty.parse(method, scale=options.intervals.interval_scale).models) or names
    tell_licences(names)
    with notices.quiet():
        with notices.undisturbed():  # torch is imported here, if the model needs it
            from matese.model.annotator import load

            annotator = load(**options.arguments(weights), n_segments=n_segments)
        if options.min_confidence is not None:
            _tell_expectation(names[0], options.min_confidence)
        # Without dropout in training, its passes are not samples of the model's uncertainty.
        if method is not None and method.startswith("dropout") and annotator.config.layers.dropout == 0:
            advice = "its intervals need --interval-scale, see docs/explain.md"
            notices.info(f"the model was trained without dropout: {advice}")
        yield annotator


def _tell_expectation(model: str, min_confidence: float) -> None:
    """Tells precision and recall on the model's calibration data at a minimum confidence."""
    from matese.model.annotator import operating_points
    from matese.model.operating_point import nearest

    point = nearest(operating_points(model), min_confidence)
    if point is not None:
        measured = "" if point.min_confidence == min_confidence else f" (measured at {point.min_confidence:g})"
        notices.info(
            f"all spans from {min_confidence:g} on: on the calibration data{measured}, {100 * point.precision:.3g}% of "
            f"the marked spans overlap a span of a human rater, and {100 * point.recall:.3g}% of the raters' spans are "
            "found"
        )


def tell_licences(models: Iterable[str]) -> None:
    """Tells the licences of foreign models.

    Raises:
        ModelError: if a model does not exist; torch, which takes seconds to load, is not needed for that.
    """
    from matese.model.storage import checkpoint, model_card

    for name in models:
        directory = checkpoint.resolve(name)
        if not checkpoint.is_tagger(directory) and (licence := model_card.licence(directory)) is not None:
            notices.info(f"licence of {name}: {licence}")


@contextlib.contextmanager
def scoring(metrics: Sequence[str]) -> Iterator[None]:
    """Keeps other libraries quiet while metrics are computed in the body; tells the licences of their models.

    Raises:
        ModelError: if a model does not exist.
    """
    from matese.evaluation.metrics.correlation_options import SACREBLEU_BASELINES, base_name
    from matese.tasks import baselines

    names = {base_name(name) for name in metrics}
    tell_licences(filter(baselines.is_model, metrics))
    with notices.quiet():
        if not names <= SACREBLEU_BASELINES.keys():
            with notices.undisturbed():
                import torch  # noqa: F401
        yield
