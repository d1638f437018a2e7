"""What annotates: a model, a language model, or checks, alone or beside each other."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from matese.annotation import Rating, Segment, TokenScores
from matese.checks import chosen
from matese.checks.chosen import ChosenRules
from matese.errors import InputError, check_installed, counted
from matese.files import beside
from matese.tasks import notices
from matese.tasks.request import Checked, option
from matese.tasks.texts import Reads, require
from matese.tasks.values import POSITIVE, PROBABILITY, Device, File, OneOf, Several, Text, Whole
from matese.tasks.weights import Weighted

if TYPE_CHECKING:
    from matese import mqm
    from matese.checks.rule import Rule
    from matese.finished_work import FinishedWork
    from matese.formats.segments import GivenSegments
    from matese.language_model.llm_annotator import LanguageModel
    from matese.model.annotator import Annotator

PRECISIONS = ("auto", "bf16", "float32")
_PREFIX = "openai:"
_MOST_LOOKED_AT = 2_000
"""Segments whose languages are looked at."""
_FOR_PEOPLE = 0.5
"""Minimum confidence in formats that people correct, as a share of the model's own."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DecodingOptions(Checked):
    """Options that every command with a model has, by the names of the fields of `DecodingChoice`.

    Attributes:
        min_confidence: mark every span with at least this confidence (between 0 and 1; default: the model's own
            minimum).
        use: what the marks are for: interface for the strings of a program, of which at most one right one in ten gets
            a mark (default: texts of any kind, of whose marks people confirm half).
    """

    min_confidence: float | None = option(None, PROBABILITY)
    use: str | None = option(None, OneOf("use", ("interface",)))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Model(DecodingOptions, Weighted):
    """A model that marks errors, with the options of `matese.load`.

    Attributes:
        model: name of an embedded model, a model directory, or a hub id (ORG/NAME) (default: mini).
        device: auto, cpu, cuda, cuda:N or mps (default: auto).
        batch_tokens: most padded tokens in a batch (default: chosen for the machine).
        engine: numpy or torch, which compute the same: numpy starts at once and needs less memory, torch is faster
            after that (default: auto: numpy for small models and few segments, or where memory is short).
        precision: auto, bf16 or float32 (default: auto: float32 for small models, else bf16 if the hardware supports
            it).
        threads: CPU threads (default: the cores that the process may use).
        uncertainty: make several predictions, for intervals and votes: dropout:N (N passes with dropout; dropout:N:P
            switches off a share P of the units, default 0.1), models:DIR,DIR (several models instead of --model, median
            of the expected scores), span-models:DIR,DIR (median of the scores of their spans) or references (each
            reference alone).
        interval_scale: factor of the intervals of expected scores: uncertainty.scale of matese evaluate on dev data
            (default: 1).
        error_free: also decide which segments are free of errors; the model must be calibrated for that
            (docs/research/wmt.md).
    """

    model: str = option("mini", Text("MODEL"))
    device: str = option("auto", Device())
    batch_tokens: int | None = option(None, Whole(1))
    engine: str = option("auto", OneOf("engine", ("auto", "numpy", "torch")))
    precision: str = option("auto", OneOf("precision", PRECISIONS))
    threads: int | None = option(None, Whole(1))
    uncertainty: str | None = option(None, Text("HOW"))
    interval_scale: float = option(1.0, POSITIVE)
    error_free: bool = False

    def loading(self) -> dict[str, Any]:
        """Returns the arguments of `matese.load`."""
        from matese.model.decoding import DecodingChoice

        given = {field.name: getattr(self, field.name) for field in fields(Model)}
        chosen = {field.name: given.pop(field.name) for field in fields(DecodingChoice) if field.name in given}
        return {**given, "choice": DecodingChoice(**chosen)}


@dataclass(frozen=True)
class Rules:
    """The rules that run, as `matese.checks.chosen.choose` describes: a text, or several words."""

    metavar: str = "RULES"

    def take(self, given: object) -> str:
        """Returns the words, separated by commas."""
        text = given if isinstance(given, str) else ",".join(given) if isinstance(given, tuple | list) else str(given)
        chosen.choose(text)
        return ",".join(word.strip() for word in text.split(","))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Checking(Model):
    """A model, rule-based checks, or both.

    Attributes:
        checks: run rule-based checks: all beside the model (also), all without it (only), none, or the named rules
            (numbers,codes; only,numbers without the model): blank, untranslated, language, scripts, numbers,
            placeholders, codes, addresses, repetition, artefacts, length (default: also for PO, XLIFF, other
            localisation files and --for interface, else none).
        terms: check the terms of a list, too: CSV or TSV with columns such as source, target, forbidden and
            do-not-translate, or TBX.
    """

    checks: str | None = option(None, Rules())
    terms: str | None = option(None, File())

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


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Asking(Checked):
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

    annotator: str | None = option(None, Text())
    base_url: str | None = option(None, Text("URL"))
    context: int = option(0, Whole(0))
    set: Sequence[str] = option((), Several(Text("KEY=VALUE"), is_repeated=True))
    cache: str | None = option(None, File("DIR"))

    def check_asked(self, *names: str) -> None:
        """Raises a UsageError unless the language model is named, or no option is given that is for one only.

        Args:
            names: further such options.
        """
        if self.annotator is None:
            for name in ("base_url", "context", "set", *names):
                require(not getattr(self, name), f"--{name.replace('_', '-')} is for --annotator only")
            return
        is_named = self.annotator.startswith(_PREFIX) and self.annotator != _PREFIX
        require(is_named, f"--annotator {self.annotator}: must be openai:MODEL, the model as the endpoint names it")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Marking(Checking, Asking):
    """What annotates: a model, a language model, or checks.

    Attributes:
        correct: ask a language model for the corrected translation, too.
        tokens: jsonl: add the probabilities of every token.
    """

    correct: bool = False
    tokens: bool = False

    def check(self) -> None:
        """Raises a UsageError if the options do not fit together."""
        self.check_asked("correct")
        if self.annotator is None:
            return
        require(self.model == "mini", "--annotator and --model are both given; give one of them")
        require(not self.is_only_checks, "--annotator: leave out --checks only")
        of_model = ("batch_tokens", "threads", "tokens", "uncertainty")
        for name in (*(field.name for field in fields(DecodingOptions)), *of_model):
            is_given = getattr(self, name) not in (None, False)
            flag = "for" if name == "use" else name.replace("_", "-")
            require(not is_given, f"--{flag} is for --model; leave out --annotator")

    @property
    def has_own_model(self) -> bool:
        """Whether the marks are those of a model of ours."""
        return not self.is_only_checks and self.annotator is None


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
            yield checker.add_findings(rating, rules) if rules and rating.errors is not None else rating, tokens

    return replace(marker, annotate=annotate)


@contextlib.contextmanager
def opened(
    options: Checking,
    n_segments: int,
    forms: Mapping[str, str],
    *,
    finished: FinishedWork | None = None,
    for_people: bool = False,
) -> Iterator[Marker]:
    """Yields what annotates segments: a model, the checks, or both. Tells at the end what the model did.

    Args:
        options: of what annotates.
        n_segments: number of all segments.
        forms: the format of each of their files, which says what rules run by default.
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

        findings = partial(checker.annotate_segments, chosen=rules.rules)
        yield Marker(lambda segments: ((rating, None) for rating in findings(segments)), _Nothing())
        return
    if isinstance(options, Marking) and options.annotator is not None:
        faults = Counter[str]()
        with asking(options, weights=options.weights, has_correction=options.correct) as other:
            asked = Marker(
                lambda segments: ((rating, None) for rating in _checked(other.annotate_segments(segments), faults)),
                other,
            )
            yield _with_rules(asked, rules_of)
        if options.correct and faults:
            found = ", ".join(f"{rule} {n:,}" for rule, n in faults.most_common())
            notices.info(f"rules find faults in corrected translations ({found}): look at these first")
        return
    with loaded(options, n_segments) as annotator:
        if for_people and options.min_confidence is None and options.use is None:
            annotator = annotator.with_decoding(annotator.decoding.marking_more(_FOR_PEOPLE))
        has_tokens = isinstance(options, Marking) and options.tokens
        annotate = partial(annotator.annotate_kept, finished=finished, has_tokens=has_tokens)
        marker = Marker(annotate, annotator, lambda: annotator.counts.warnings)
        yield _with_rules(marker, rules_of) if any(rules_of_form.values()) else marker
        notices.info(*annotator.counts.notices)


def tell_rules(options: Checking, given: GivenSegments) -> None:
    """Tells which of the rules that were asked for can say nothing about the texts.

    Raises:
        UsageError: if no rule can say anything.
    """
    if options.chosen_rules.is_default:
        return
    from matese.checks import rules
    from matese.checks.rule import Need

    asked = options.chosen_rules.rules
    idle = rules.idle(asked, given)
    # Few files have inline codes.
    told = [rule for rule in asked if len(asked) < len(rules.TABLE) or rule not in idle or rule.needs is not Need.CODES]
    if lacking := [rule for rule in idle if rule in told]:
        problem = rules.why_idle(lacking)
        first = next(iter(given), None)
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
def asking(options: Asking, *, weights: mqm.AnyWeights, has_correction: bool = False) -> Iterator[LanguageModel]:
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

    how = settings.parse("{}", Settings, path="--set", overrides=parse_settings(options.set))
    annotator = LanguageModel(
        (options.annotator or "").removeprefix(_PREFIX),
        base_url=options.base_url or OPENAI,
        prompt=how.question(n_context=options.context, has_correction=has_correction),
        judgements=how.judgements,
        parameters=how.parameters,
        limits=how,
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
def finished_work(options: Marking, output: str | None) -> Iterator[FinishedWork | None]:
    """Yields where the ratings of a model are kept: in `cache`, or beside the output until the body has completed it.

    None where there is no such place, or no model.
    """
    from matese.finished_work import FinishedWork, in_folder

    if options.has_own_model and options.cache is not None:
        with contextlib.closing(in_folder(options.cache)) as work:
            yield work
        return
    if not options.has_own_model or output is None:
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
def loaded(options: Model, n_segments: int | None = None) -> Iterator[Annotator]:
    """Loads the model of a request; in the body, other libraries write nothing to standard error.

    Args:
        options: of the model.
        n_segments: number of segments to annotate; None if unknown.

    Raises:
        ModelError: if there is no such model or it cannot be loaded.
        UsageError: if the device is not available on this machine.
    """
    how = options.uncertainty
    names = [options.model]
    if how is not None:
        from matese.model import uncertainty

        names = list(uncertainty.parse(how, scale=options.interval_scale).models) or names
    tell_licences(names)
    with notices.quiet():
        with notices.undisturbed():  # torch is imported here, if the model needs it
            from matese.model.annotator import load

            annotator = load(**options.loading(), n_segments=n_segments)
        if options.min_confidence is not None:
            _tell_expectation(names[0], options.min_confidence)
        # Without dropout in training, its passes are not samples of the model's uncertainty.
        if how is not None and how.startswith("dropout") and annotator.config.layers.dropout == 0:
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
    from matese.evaluation.metrics.correlation_options import BASELINES, SACREBLEU_BASELINES, base_name
    from matese.tasks import baselines

    names = {base_name(name) for name in metrics}
    tell_licences(name for name in metrics if base_name(name) not in BASELINES and baselines.is_model(name))
    with notices.quiet():
        if not names <= SACREBLEU_BASELINES.keys():
            with notices.undisturbed():
                import torch  # noqa: F401
        yield
