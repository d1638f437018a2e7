"""What annotates: a model, a language model, or checks; beside each other, and resumed.

All have one protocol, `Marker`. `beside_checks` and `resumed` return such an annotator around another one.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

from matese.annotation import Segment
from matese.errors import FormatError, InputError, check_installed, counted
from matese.files import beside
from matese.tasks import notices
from matese.tasks.request import Checked, changing_ratings, option
from matese.tasks.texts import Reads, require
from matese.tasks.values import POSITIVE, PROBABILITY, Device, OneOf, Several, Text, Whole
from matese.tasks.weights import Weighted
from matese.version import __version__

if TYPE_CHECKING:
    from matese.checks.rule import Rule
    from matese.formats.segments import SystemSegments
    from matese.language_model.llm_annotator import LanguageModel
    from matese.model.annotator import Annotator
    from matese.tasks.journal import AnnotatedSegments, Journal

PRECISIONS = ("auto", "bf16", "float32")
_PREFIX = "openai:"
_MOST_LOOKED_AT = 2_000
"""Segments whose findings are counted where nothing was said about rules."""
_FOR_PEOPLE = 0.5
"""Minimum confidence in formats that people correct, as a share of the model's own."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DecodingOptions(Checked):
    """Options that every command with a model has, by the names of the fields of `DecodingChoice`.

    Attributes:
        min_confidence: mark every span with at least this confidence (between 0 and 1; default: the model's own
            minimum).
    """

    min_confidence: float | None = option(None, PROBABILITY, changes_ratings=False)


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

    model: str = option("mini", Text("MODEL"), changes_ratings=False)
    device: str = option("auto", Device(), changes_ratings=False)
    batch_tokens: int | None = option(None, Whole(1), changes_ratings=False)
    engine: str = option("auto", OneOf("engine", ("auto", "numpy", "torch")), changes_ratings=False)
    precision: str = option("auto", OneOf("precision", PRECISIONS))
    threads: int | None = option(None, Whole(1), changes_ratings=False)
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
    """The rules that run, as `matese.checks.rules.choose` describes: a text, or several words."""

    metavar: str = "RULES"

    def take(self, given: object) -> str:
        """Returns the words, separated by commas."""
        from matese.checks import rules

        text = given if isinstance(given, str) else ",".join(given) if isinstance(given, tuple | list) else str(given)
        rules.choose(text)
        return ",".join(word.strip() for word in text.split(","))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Checking(Model):
    """A model, rule-based checks, or both.

    Attributes:
        checks: run rule-based checks: all beside the model (also), all without it (only), none, or the named rules
            (numbers,codes; only,numbers without the model): blank, untranslated, language, scripts, numbers,
            placeholders, codes, addresses, repetition (default: also for PO, XLIFF, TMX and subtitles, else none).
    """

    checks: str | None = option(None, Rules())

    @property
    def is_only_checks(self) -> bool:
        """Whether rules alone annotate, without a model."""
        return self.checks is not None and "only" in self.checks.split(",")

    def rules(self, source_format: str | None) -> Sequence[Rule]:
        """Returns the rules that run: by default all for localisation files, which people correct, else none."""
        from matese.checks import rules

        if self.checks is not None:
            return rules.choose(self.checks).rules
        if source_format is None:
            return ()
        from matese.formats.registry import BY_NAME

        form = BY_NAME.get(source_format)
        return rules.TABLE if form is not None and form.is_for_localisation else ()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Marking(Checking):
    """What annotates: a model, a language model, or checks.

    Attributes:
        annotator: openai:MODEL: ask a language model instead of --model; the key is in the environment,
            OPENAI_API_KEY.
        base_url: address of the endpoint, such as http://localhost:8080/v1 (default: that of OpenAI).
        set: prompt=mqm|esa, steps=2 (score of esa in a second request), judgements=N (mean score without outliers),
            max_tokens=N, requests_per_minute=N, concurrency=N, timeout=SECONDS, cache=DIR, or parameters.NAME=VALUE for
            a parameter of each request; repeatable.
        tokens: jsonl: add the probabilities of every token.
    """

    annotator: str | None = option(None, Text())
    base_url: str | None = option(None, Text("URL"))
    set: Sequence[str] = option((), Several(Text("KEY=VALUE"), is_repeated=True))
    tokens: bool = False

    def check(self) -> None:
        """Raises a UsageError if the options do not fit together."""
        if self.annotator is None:
            for name in ("base_url", "set"):
                require(not getattr(self, name), f"--{name.replace('_', '-')} is for --annotator only")
            return
        is_named = self.annotator.startswith(_PREFIX) and self.annotator != _PREFIX
        require(is_named, f"--annotator {self.annotator}: must be openai:MODEL, the model as the endpoint names it")
        require(self.model == "mini", "--annotator and --model are both given; give one of them")
        require(not self.is_only_checks, "--annotator: leave out --checks only")
        of_model = ("batch_tokens", "threads", "tokens", "uncertainty")
        for name in (*(field.name for field in fields(DecodingOptions)), *of_model):
            is_given = getattr(self, name) not in (None, False)
            require(not is_given, f"--{name.replace('_', '-')} is for --model; leave out --annotator")

    @property
    def has_own_model(self) -> bool:
        """Whether the marks are those of a model of ours."""
        return not self.is_only_checks and self.annotator is None


class Marker(Reads, Protocol):
    """What annotates segments, whatever it is."""

    @property
    def signature(self) -> str | None:
        """Names what can change a rating; None if the annotator itself resumes an interrupted run."""

    @property
    def n_earlier(self) -> int:
        """Number of ratings that an earlier run has left."""

    @property
    def warnings(self) -> list[str]:
        """Sentences for readers about what was annotated."""

    def annotate(self, segments: Iterable[Segment]) -> AnnotatedSegments:
        """Yields the rating of each segment, lazily and in order, with token scores if they are wanted."""

    def counts(self) -> Mapping[str, Any]:
        """Returns what the warnings and notices are made of."""

    def count_on(self, counts: Mapping[str, Any]) -> None:
        """Continues from what an earlier run has counted."""


class _Uncounted:
    """An annotator that counts nothing, or tells it itself when it is closed."""

    n_earlier: int = 0

    @property
    def warnings(self) -> list[str]:
        """None."""
        return []

    def counts(self) -> Mapping[str, Any]:
        """Returns nothing."""
        return {}

    def count_on(self, counts: Mapping[str, Any]) -> None:
        """Counts nothing."""


class OfChecks(_Uncounted):
    """Rules alone."""

    signature = __version__
    needed = "nothing"

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules

    def can_read(self, segment: Segment) -> bool:
        """Every segment can be checked."""
        return True

    def check_texts(self, segment: Segment) -> None:
        """Raises nothing."""

    def annotate(self, segments: Iterable[Segment]) -> AnnotatedSegments:
        """Yields the findings in each segment."""
        from matese.checks import checker

        return ((rating, None) for rating in checker.annotate_segments(segments, self._rules))


class _AsReader(_Uncounted):
    """An annotator that needs the texts that another one needs, or a model."""

    def __init__(self, reader: Reads) -> None:
        self.needed = reader.needed
        self.can_read = reader.can_read
        self.check_texts = reader.check_texts


class OfModel(_AsReader):
    """A model."""

    def __init__(self, model: Annotator, *, has_tokens: bool = False) -> None:
        """Wraps a model that is loaded; `has_tokens` says whether the scores of every token are wanted."""
        super().__init__(model)
        self._model = model
        self._has_tokens = has_tokens

    @property
    def signature(self) -> str:
        """Those of all kinds of input."""
        return " ".join(self._model.signature(kind) for kind in self._model.config.texts.inputs)

    @property
    def warnings(self) -> list[str]:
        """Those of the model."""
        return self._model.counts.warnings

    def annotate(self, segments: Iterable[Segment]) -> AnnotatedSegments:
        """Yields what the model marks."""
        if self._has_tokens:
            return self._model.annotate_tokens(segments)
        return ((rating, None) for rating in self._model.annotate_segments(segments))

    def counts(self) -> Mapping[str, Any]:
        """Returns the counts of the model."""
        return asdict(self._model.counts)

    def count_on(self, counts: Mapping[str, Any]) -> None:
        """Lets the model count on."""
        from matese.model.annotator import Counts
        from matese.validation import plain_values

        self._model.count_on(plain_values.convert(counts, Counts))


class OfLanguageModel(_AsReader):
    """A language model, whose cache resumes an interrupted run."""

    signature = None

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self._model = model

    def annotate(self, segments: Iterable[Segment]) -> AnnotatedSegments:
        """Yields what the model answers."""
        return ((rating, None) for rating in self._model.annotate_segments(segments))


class _Around(_AsReader):
    """An annotator around another one, which it asks for everything but the ratings."""

    def __init__(self, inner: Marker) -> None:
        super().__init__(inner)
        self.inner = inner
        self.signature = inner.signature
        self.n_earlier = inner.n_earlier

    @property
    def warnings(self) -> list[str]:
        """Those of the inner one."""
        return self.inner.warnings

    def counts(self) -> Mapping[str, Any]:
        """Returns those of the inner one."""
        return self.inner.counts()

    def count_on(self, counts: Mapping[str, Any]) -> None:
        """Lets the inner one count on."""
        self.inner.count_on(counts)


class RulesByFile:
    """The rules that run on a segment: those that were chosen or, by default, those for the format of its file."""

    def __init__(self, options: Checking) -> None:
        self._options = options
        self._of_file: dict[str | None, Sequence[Rule]] = {}

    def __call__(self, segment: Segment) -> Sequence[Rule]:
        """Returns the rules."""
        file = segment.file
        if file not in self._of_file:
            self._of_file[file] = self._options.rules(_format_of(file))
        return self._of_file[file]


def _format_of(file: str | None) -> str | None:
    """Returns the format of a file; None for text, and for what can be read only once."""
    if file is None or not os.path.isfile(file):
        return None
    from matese.formats import detection

    try:
        return detection.detect(file)
    except FormatError:
        return None


class BesideChecks(_Around):
    """Another annotator and rules together, and a count of what rules would add where nothing was said about them."""

    def __init__(self, inner: Marker, rules: Callable[[Segment], Sequence[Rule]], *, is_chosen: bool) -> None:
        """Takes the function that returns the rules of a segment, and whether the user chose them."""
        super().__init__(inner)
        self._rules = rules
        self._n_left = 0 if is_chosen else _MOST_LOOKED_AT
        self._n_found = 0

    def annotate(self, segments: Iterable[Segment]) -> AnnotatedSegments:
        """Yields its ratings with the findings of the checks added."""
        from matese.checks import checker

        for rating, tokens in self.inner.annotate(segments):
            rules = self._rules(rating.segment)
            if rating.errors is not None and rules:
                yield checker.add_findings(rating, rules), tokens
                continue
            if rating.errors is not None and self._n_left:
                self._n_left -= 1
                self._n_found += checker.n_new(rating)
            yield rating, tokens

    def tell(self) -> None:
        """Reports the count."""
        if self._n_found:
            where = "" if self._n_left else f" in the first {_MOST_LOOKED_AT:,} segments"
            found = f"{counted(self._n_found, 'finding')} of rule-based checks that the model did not mark"
            notices.info(f"not added: {found}{where} (--checks also adds such findings)")


class Resumed(_Around):
    """Another annotator whose ratings are kept in a journal, and taken from it."""

    def __init__(self, inner: Marker, journal: Journal) -> None:
        super().__init__(inner)
        self._journal = journal
        self.n_earlier = journal.n_earlier

    def annotate(self, segments: Iterable[Segment]) -> AnnotatedSegments:
        """Yields the ratings of the earlier run, then further ones, which are kept."""
        inner = self.inner
        return self._journal.annotate(segments, inner.annotate, counted=inner.counts, count_on=inner.count_on)


@contextlib.contextmanager
def opened(options: Checking, n_segments: int, *, for_people: bool = False) -> Iterator[Marker]:
    """Yields what annotates segments: a model, the checks, or both. Tells at the end what the model did.

    Args:
        options: of what annotates.
        n_segments: number of all segments.
        for_people: whether people correct the marks: then the least confidence, if it is the model's own, is half of
            it, because a wrong span is removed more quickly than a missing one is noticed.
    """
    if options.is_only_checks:
        yield OfChecks(options.rules(None))
        return
    if isinstance(options, Marking) and options.annotator is not None:
        with _asking(options, options.annotator) as other:
            yield from _with_rules(OfLanguageModel(other), options)
        return
    with loaded(options, n_segments) as annotator:
        chosen = annotator.decoding
        if for_people and options.min_confidence is None and chosen.min_confidence is not None:
            lowered = chosen.marking_from(_FOR_PEOPLE * chosen.min_confidence)
            annotator = annotator.with_decoding(lowered)
        has_tokens = isinstance(options, Marking) and options.tokens
        yield from _with_rules(OfModel(annotator, has_tokens=has_tokens), options)
        notices.info(*annotator.counts.notices)


def _with_rules(marker: Marker, options: Checking) -> Iterator[Marker]:
    """Yields an annotator beside the rules; where none were chosen, tells at the end what they would find."""
    checked = BesideChecks(marker, RulesByFile(options), is_chosen=options.checks is not None)
    yield checked
    checked.tell()


def tell_idle(options: Checking, systems: Sequence[SystemSegments]) -> None:
    """Tells which of the rules that were asked for can say nothing about the texts.

    Raises:
        UsageError: if none can.
    """
    if options.checks is None:
        return
    import json

    from matese.checks import rules
    from matese.formats.segments import in_order

    chosen = list(options.rules(None))
    idle = rules.idle(chosen, (segment for _, segment in in_order(systems)))
    if len(chosen) == len(rules.TABLE):  # few files have inline codes
        chosen = [rule for rule in chosen if rule not in idle or not rule.needs_codes]
        idle = tuple(rule for rule in idle if not rule.needs_codes)
    if not idle:
        return
    problem = rules.why_idle(idle)
    first = next((segment for _, segment in in_order(systems)), None)
    if first is not None and first.source is None and (names := list(first.extra or ())):
        example = json.dumps(names[0], ensure_ascii=False)
        problem += f"; the other columns are {', '.join(names)}: name the source, such as --columns source={example}"
    require(len(idle) < len(chosen), f"no rule of --checks can run: {problem}")
    ran = ", ".join(rule.name for rule in chosen if rule not in idle)
    notices.info(f"of the checks, only {ran} run: {problem}")


def tell_silent(options: Checking, systems: Sequence[SystemSegments]) -> None:
    """Tells which of the rules that were asked for say nothing in the languages of the first texts.

    Raises:
        UsageError: if all of them are silent in all of these.
    """
    if options.checks is None:
        return
    from matese.checks import rules
    from matese.formats.segments import in_order
    from matese.text.languages import languages_of

    chosen = options.rules(None)
    looked_at = itertools.islice(in_order(systems), _MOST_LOOKED_AT)
    langs = dict.fromkeys(languages_of(segment.key)[1] for _, segment in looked_at)
    reasons = "; ".join(filter(None, (rules.why_silent(chosen, lang) for lang in langs)))
    can_speak = not langs or not chosen or any(not rule.is_silent(lang) for rule in chosen for lang in langs)
    require(can_speak, f"no rule of --checks can run: {reasons}")
    if reasons:
        notices.info(reasons)


@contextlib.contextmanager
def _asking(options: Marking, name: str) -> Iterator[LanguageModel]:
    """Yields the language model of a request; tells at the end what it did.

    Raises:
        UsageError: if an option cannot be used, or the HTTP client is not installed.
    """
    from matese.validation import settings

    check_installed("--annotator", "openai", extra="llm")
    from matese.language_model.llm_annotator import OPENAI, LanguageModel, Settings

    how = settings.parse("{}", Settings, path="--set", overrides=parse_settings(options.set))
    annotator = LanguageModel(
        name.removeprefix(_PREFIX),
        base_url=options.base_url or OPENAI,
        prompt=how.prompt,
        steps=how.steps,
        judgements=how.judgements,
        parameters=how.parameters,
        limits=how,
        cache_directory=how.cache,
        weights=options.weights,
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
def resumable(marker: Marker, options: Marking, systems: Sequence[SystemSegments], output: str) -> Iterator[Marker]:
    """Yields an annotator that keeps its ratings beside the output until it is complete, and takes those of before.

    A run is resumed if the texts, the signature and the fields of `Marking` that can change ratings are as before.
    """
    from matese.formats.segments import in_order
    from matese.tasks.journal import Journal, Origin, digest

    n_segments = sum(system.n_segments for system in systems)
    texts = digest((system.name, segment) for system, segment in in_order(systems))
    chosen = digest(changing_ratings(options, Marking))
    with Journal(beside(output), Origin(texts, chosen, marker.signature or "")) as journal:
        if journal.n_earlier:
            notices.info(f"resuming after {journal.n_earlier:,} of {counted(n_segments, 'segment')}")
        try:
            yield Resumed(marker, journal)
        except BaseException as failure:
            if journal.n_kept:
                kept = f"{journal.n_kept:,} of {counted(n_segments, 'segment')}"
                kept += f" {'is' if journal.n_kept == 1 else 'are'} kept in {journal.path}"
                if isinstance(failure, InputError):  # the same command would fail again
                    notices.info(f"stopped by an error: {kept}")
                else:
                    notices.info(f"interrupted: {kept}; the same command resumes")
            raise


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
