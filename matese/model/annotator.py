"""The annotator: a loaded model that turns segments into ratings."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from operator import length_hint
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from matese import mqm, streams
from matese.annotation import Rating, Segment, TokenScores
from matese.errors import InputError, ModelError, UsageError, agreeing
from matese.formats.tables import jsonl
from matese.model import operating_point, recall, trained_languages
from matese.model.config import ModelConfig
from matese.model.decoding import Decoding
from matese.model.decoding_choice import DecodingChoice
from matese.model.engines import choice, numpy_engine
from matese.model.engines.engine import Engine, Hardware
from matese.model.interpreter import Interpreter
from matese.model.model_input import ModelInput, usable_inputs
from matese.model.operating_point import OperatingPoint
from matese.model.prediction import TagProbabilities
from matese.model.predictor import PredictedRating, Predictor
from matese.model.recall import Recall
from matese.model.storage import checkpoint
from matese.model.texts.encoding import InputKind, LanguageCodes
from matese.model.trained_languages import Doubt
from matese.render.rating_list import Ratings
from matese.streams import completed, grouped
from matese.version import __version__

if TYPE_CHECKING:
    from matese.finished_work import FinishedWork
    from matese.model.uncertainty import Uncertainty

_SPECIAL = {
    "windowed": "segments are too long for the model: it reads a sentence in overlapping windows, or leaves out a part "
    "of a source or reference that does not fit beside the translation; their expected scores are unreliable, so "
    "split such texts",
    "blank": "hypotheses are blank: each is one Non-translation error",
    "blank_texts": "segments have a blank source or reference, which counts as missing",
    "without_code": "segments are read as English: they state no language pair, or the model has no code of a language",
}


class _Table(Protocol):
    """A data frame of pandas or polars, or a `datasets.Dataset`."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __len__(self) -> int: ...


_Frame = TypeVar("_Frame", bound=_Table)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many segments were annotated, and how many of them in a special way.

    Attributes:
        n_segments: all segments.
        windowed: segments of which a part is too long to be read at once.
        blank: hypotheses without text, of a text.
        blank_texts: segments with a source or reference without text, which was left out.
        without_code: segments with a text of which a model that reads codes of languages knows no code.
        read: segments by the texts that they were read with, such as "source" or "2 references".
        doubts: languages and scripts in which the model may be unreliable, and why.
        lowered_batch_tokens: padded tokens of a batch since the device ran out of memory; None if it did not.
    """

    n_segments: int = 0
    windowed: int = 0
    blank: int = 0
    blank_texts: int = 0
    without_code: int = 0
    read: Mapping[str, int] = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    lowered_batch_tokens: int | None = None

    @property
    def warnings(self) -> list[str]:
        """Sentences about languages in which the model may be unreliable."""
        return trained_languages.sentences(self.doubts)

    @property
    def notices(self) -> list[str]:
        """Sentences about the segments that were handled in a special way."""
        lowered = self.lowered_batch_tokens
        n = self.n_segments
        batches = [f"out of memory on the device: continued with --batch-tokens {lowered}"] if lowered else []
        counts = {text: getattr(self, name) for name, text in _SPECIAL.items()}
        special = [agreeing(count, n, text) for text, count in counts.items() if count]
        read = ", ".join(f"{count:,} with {texts}" for texts, count in self.read.items())
        mixed = [f"segments are read with the texts that they have: {read}"] if len(self.read) > 1 else []
        return [*self.warnings, *batches, *special, *mixed]


@cache
def _read_texts(inputs: InputKind, n_references: int) -> str:
    """Returns how segments are read, for people."""
    texts = inputs.replace("+", " and ")
    return texts.replace("reference", f"{n_references} references") if n_references > 1 else texts


def load(
    model: str | Path = "mini",
    *,
    device: str = "auto",
    precision: str = "auto",
    batch_tokens: int | None = None,
    threads: int | None = None,
    min_confidence: float | None = None,
    choice: DecodingChoice | None = None,
    weights: mqm.AnyWeights = "matese",
    n_segments: int | None = None,
    uncertainty: str | None = None,
    interval_scale: float = 1.0,
    engine: str = "auto",
) -> Annotator:
    """Returns an annotator.

    Args:
        model: an embedded model, a directory, or a hub id.
        device: "auto" for a GPU if there is one, or a device name of torch.
        precision: "bf16", "float32", or "auto": float32 for a small model, else bf16 if the hardware supports it.
        batch_tokens: most padded tokens of a batch, halved if a GPU lacks the memory; None for the machine's own.
        threads: CPU threads of the whole process; None for torch's choice, but at most the granted processors.
        min_confidence: every span with at least this confidence is marked; None for the model's own minimum.
        choice: what else is decoded in another way than the model's own: a `matese.DecodingChoice`; None for nothing.
        weights: penalties of errors: the name of a preset ("matese", "google", "unbabel", "no-omissions"), or
            `matese.Weights` of your own.
        n_segments: number of segments to annotate, if known: a small model annotates a few in numpy, without torch.
        uncertainty: several predictions, for intervals and votes: "dropout:N", "models:DIR,DIR" or
            "span-models:DIR,DIR" in place of `model`, or "references"; see `matese.model.uncertainty`.
        interval_scale: factor of the intervals, as `matese.evaluate` fits it to dev data.
        engine: "numpy" or "torch", which compute the same; "auto" for numpy if the model is small and there are few
            segments or little memory, see `n_segments`.

    Raises:
        ModelError: if there is no such model, it cannot be loaded, or it is not calibrated for what is asked.
        UsageError: if an option has an impossible value.
    """
    wanted = _wanted(model, uncertainty, interval_scale)
    names = (model,) if wanted is None or not wanted.models else wanted.models
    if wanted is not None and wanted.kind == "dropout":
        n_segments = None
        engine = "torch" if engine == "auto" else engine
        if engine == "numpy":
            raise UsageError(f"--engine numpy --uncertainty {uncertainty}: dropout is for torch to compute")
    choice = choice or DecodingChoice()
    if min_confidence is not None:
        if choice.min_confidence is not None:
            raise UsageError("min_confidence is given twice, also by choice: give it once")
        choice = replace(choice, min_confidence=min_confidence)
    options = LoadOptions(
        models=tuple(names),
        hardware=Hardware(device, precision, batch_tokens, threads, engine),
        choice=choice,
        weights=mqm.find_weights(weights),
        n_segments=n_segments,
        uncertainty=wanted,
    )
    return _load(options)


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What is loaded, and how; see `load`.

    Attributes:
        models: names or directories, of an ensemble several.
        hardware: as it is wanted.
        choice: what is decoded in another way.
        weights: penalties of errors.
        n_segments: number of segments, if known.
        uncertainty: where several predictions come from; None for a single prediction.
    """

    models: tuple[str | Path, ...]
    hardware: Hardware
    choice: DecodingChoice
    weights: mqm.Weights
    n_segments: int | None
    uncertainty: Uncertainty | None


def _load(options: LoadOptions) -> Annotator:
    directories = [checkpoint.resolve(model) for model in options.models]
    name = _name_of([str(model) for model in options.models])
    predictors = [_load_predictor(directory, options) for directory in directories]
    decodings = [predictor.config.decoding.varied(options.choice) for predictor in predictors]
    measured_recall = recall.read(directories[0]) if len(directories) == 1 else None
    predictor = predictors[0]
    if options.uncertainty is not None:
        from matese.model.uncertainty import Ensemble

        predictor = Ensemble(options.uncertainty, predictors, decodings, options.weights)
    return Annotator(predictor, decodings[0], weights=options.weights, name=name, recall=measured_recall)


def _wanted(model: str | Path, uncertainty: str | None, interval_scale: float) -> Uncertainty | None:
    """Returns where several predictions come from; None for a single prediction."""
    if uncertainty is None:
        if interval_scale != 1:
            raise UsageError("interval scale: give it together with an uncertainty")
        return None
    from matese.model import uncertainty as parsing

    wanted = parsing.parse(uncertainty, scale=interval_scale)
    if wanted.models and model != "mini":
        problem = f"model {model} beside uncertainty {uncertainty}"
        raise UsageError(f"{problem}: leave out the model, or name one of the ensemble")
    return wanted


def _name_of(models: Sequence[str]) -> str:
    """Returns the name of one model, or of several together.

    Raises:
        UsageError: if two models have the same weights and settings: they would agree in everything.
    """
    models_by_digest: dict[str, str] = {}
    titles = []
    for model in models:
        digest = checkpoint.fingerprint(checkpoint.resolve(model))
        first = models_by_digest.setdefault(digest, model)
        if first != model:
            raise UsageError(f"models {first} and {model} are the same; an ensemble needs different models")
        titles.append(f"{Path(model).name}@{digest}")
    return "+".join(titles)


def operating_points(model: str | Path = "mini") -> tuple[OperatingPoint, ...]:
    """Returns the precision and recall that a model had on its calibration data at some minimum confidences.

    >>> points = {point.min_confidence: point for point in operating_points("mini")}
    >>> points[0.05].precision < points[0.5].precision, points[0.05].recall > points[0.5].recall
    (True, True)
    """
    return operating_point.read(checkpoint.resolve(model))


def _load_predictor(directory: Path, options: LoadOptions) -> Predictor:
    """Returns a model that is ready to predict: a small tagger for a few segments in numpy, any other in torch.

    An embedded model stays loaded, so that it is there at once for the next annotator of the process.

    See `load` for arguments and errors.
    """
    stored = checkpoint.read_config(directory) if checkpoint.is_ours(directory) else None
    hardware = options.hardware
    if stored is not None and hardware.precision == "auto" and numpy_engine.most_segments(stored):
        # As in numpy, because the signature must not depend on the size of the job.
        hardware = replace(hardware, precision="float32")
    in_torch = None if choice.is_numpy(hardware, stored, options.n_segments) else hardware
    if directory not in map(checkpoint.resolve, checkpoint.embedded()):
        return _new_predictor(directory, in_torch, options.choice)
    if in_torch is not None:  # which another model may have changed since
        from matese.model.engines.hardware import choose_threads, set_threads

        set_threads(in_torch.threads or choose_threads())
    return _embedded_predictor(directory, in_torch, options.choice.reading)


def _new_predictor(directory: Path, hardware: Hardware | None, choice: DecodingChoice) -> Predictor:
    """Returns a model in torch, or without `hardware` in numpy."""
    engine: Engine
    config: ModelConfig
    if hardware is None:
        engine, text_encoder, config = numpy_engine.load(directory)
    else:
        from matese.model import loading  # imports torch

        engine, text_encoder, config = loading.load_engine(directory, hardware)
    return Predictor(Interpreter(config.reading(choice), choice.overrides), engine, text_encoder)


_embedded_predictor = lru_cache(maxsize=2)(_new_predictor)


@overload
def annotate(
    hypotheses: Sequence[str],
    *,
    references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    sources: Sequence[str | None] | None = None,
    lang_pair: str | None = None,
    checks: str | Sequence[str] = "none",
    model: str | Path = "mini",
) -> Ratings: ...


@overload
def annotate(
    hypotheses: _Frame,
    *,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    lang_pair: str | None = None,
    checks: str | Sequence[str] = "none",
    model: str | Path = "mini",
) -> _Frame: ...


def annotate(
    hypotheses: Any,
    *,
    references: Sequence[str] | Sequence[Sequence[str]] | None = None,
    sources: Sequence[str | None] | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    lang_pair: str | None = None,
    checks: str | Sequence[str] = "none",
    model: str | Path = "mini",
) -> Any:
    """Loads a model and annotates once; see `load` for more options, and `Annotator.annotate` for everything else.

    >>> (rating,) = annotate(["Die Wolga ist lang."], references=["Die Wolga ist lang."])
    >>> rating.errors
    ()
    """
    from matese.checks import chosen

    n_for_model = length_hint(hypotheses) if chosen.choose(checks).has_model else 0
    annotator: Any = load(model, n_segments=n_for_model)
    return annotator.annotate(
        hypotheses, references=references, sources=sources, columns=columns, lang_pair=lang_pair, checks=checks
    )


class Annotator:
    """Judges translations with a model. `load` returns one; a process of its own loads one of its own.

    Attributes:
        predictor: runs the model.
        decoding: how predictions become ratings.
        weights: penalties of errors, which the signature names.
        config: the model's settings.
        name: stands for the model in signatures.
        recall: what the model was measured to find; None if that is unknown.
    """

    def __init__(
        self,
        predictor: Predictor,
        decoding: Decoding,
        *,
        name: str,
        weights: mqm.Weights = mqm.MATESE,
        recall: Recall | None = None,
    ) -> None:
        self.predictor = predictor
        self.decoding = decoding
        self.weights = weights
        self.name = name
        self.config = predictor.config
        self.recall = recall
        measured_languages = () if recall is None else recall.languages
        self._lang_pairs = tuple(f"{name}-{name}" for name in measured_languages) or self.config.lang_pairs
        self._special = Counter[str]()
        self._read = Counter[str]()
        self._doubts = dict[Doubt, None]()

    def __repr__(self) -> str:
        return f"<Annotator {self.name}, reads {' or '.join(self.config.texts.inputs)}>"

    @property
    def counts(self) -> Counts:
        """How many segments were handled in a special way so far."""
        return Counts(
            n_segments=self._read.total(),
            **{name: self._special[name] for name in _SPECIAL},
            read=dict(self._read),
            doubts=tuple(self._doubts),
            lowered_batch_tokens=self.predictor.lowered_batch_tokens,
        )

    def _count(self, read: ModelInput, special: Iterable[str]) -> None:
        """Counts what was read of a segment, and in which special ways (`_SPECIAL`)."""
        segment = read.segment
        self._special.update(special)
        self._read[_read_texts(read.inputs, len(segment.references))] += 1
        doubt = trained_languages.doubt(segment, read.inputs, self._lang_pairs, self.recall)
        if doubt is not None:
            self._doubts[doubt] = None

    def with_decoding(self, decoding: Decoding) -> Annotator:
        """Returns an annotator with the same loaded model, another decoding, and counts that start at 0."""
        return Annotator(self.predictor, decoding, weights=self.weights, name=self.name, recall=self.recall)

    def signature(self, inputs: InputKind, n_references: int = 1, languages: LanguageCodes | None = None) -> str:
        """Returns a text that names everything that can change a prediction, in the manner of sacreBLEU."""
        fields = {
            "model": self.name,
            "inputs": inputs,
            "refs": n_references if inputs != "source" else 0,
            **({} if languages is None else {"languages": self.predictor.text_encoder.code_names(languages)}),
            **self.predictor.settings(inputs, self.decoding),
            "weights": self.weights.name,
            "version": __version__,
        }
        return "|".join(["matese", *(f"{key}:{value}" for key, value in fields.items())])

    def choose_inputs(self, segment: Segment) -> InputKind:
        """Returns which texts of a segment the model reads: as many as it can.

        Raises:
            ModelError: if the segment lacks a text that the model needs.
        """
        return self._inputs(segment.without_blanks())

    @overload
    def annotate(
        self,
        hypotheses: Sequence[str],
        *,
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sources: Sequence[str | None] | None = None,
        lang_pair: str | None = None,
        checks: str | Sequence[str] = "none",
    ) -> Ratings: ...

    @overload
    def annotate(
        self,
        hypotheses: _Frame,
        *,
        columns: Mapping[str, str | Sequence[str]] | None = None,
        lang_pair: str | None = None,
        checks: str | Sequence[str] = "none",
    ) -> _Frame: ...

    def annotate(
        self,
        hypotheses: Any,
        *,
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sources: Sequence[str | None] | None = None,
        columns: Mapping[str, str | Sequence[str]] | None = None,
        lang_pair: str | None = None,
        checks: str | Sequence[str] = "none",
    ) -> Any:
        """Returns a rating for each hypothesis, or a table with the columns of `frames.ADDED`: score, errors, ...

        Args:
            hypotheses: the translations; or a data frame of pandas or polars or a `datasets.Dataset`, which holds
                sources and references too, in columns with usual names (`src`, `mt`, `ref`, ...).
            references: one for each hypothesis, or a list of several for each.
            sources: one for each hypothesis; one may be None.
            columns: of a table: columns with unusual names, such as {"hypothesis": "output", "reference": "gold"}.
            lang_pair: of all hypotheses ("en-de"), for rules and models that read it; a table may also have a column
                `lp` in place of it.
            checks: rules that run beside the model, or without it, as `--checks` names them: "none", "also",
                "numbers,codes" or ["numbers", "codes"], "only".

        Raises:
            TypeError: if a str is given in place of a sequence of strings.
            UsageError: if the sequences differ in length, or several columns hold hypotheses.
            FormatError: if a row of a table lacks a text.
            ModelError: if a text that the model needs is missing.
        """
        from matese.checks import checker, chosen
        from matese.formats.segments import of_texts
        from matese.formats.tables import frames

        is_table = frames.is_frame(hypotheses)
        if is_table and (references is not None or sources is not None):
            raise UsageError("references and sources beside a table: put them into columns of the table (see columns=)")
        if is_table:
            hypotheses = frames.without_ratings(hypotheses)
            # Tables are read twice, so that memory does not grow with their rows.
            read = partial(frames.segments, hypotheses, columns or {}, lang_pair)
        else:
            read = partial(iter, of_texts(hypotheses, references, sources, lang_pair))
        choice = chosen.choose(checks)
        before = self.counts
        if choice.has_model:
            labels = hypotheses.index if hasattr(hypotheses, "iloc") else range(len(hypotheses))
            self._check_texts(read(), labels, "row" if is_table else "hypothesis")
            ratings = streams.watched(self.annotate_segments(read()), len(hypotheses))
            if choice.rules:
                ratings = (checker.add_findings(rating, choice.rules) for rating in ratings)
        else:
            ratings = checker.annotate_segments(read(), choice.rules)
        result = frames.with_ratings(hypotheses, ratings, self.weights, lang_pair) if is_table else Ratings(ratings)
        after = self.counts
        for sentence in trained_languages.sentences(after.doubts[len(before.doubts) :]):
            warnings.warn(sentence, UserWarning, stacklevel=2)
        if n_blank := after.blank_texts - before.blank_texts:
            warnings.warn(agreeing(n_blank, len(hypotheses), _SPECIAL["blank_texts"]), UserWarning, stacklevel=2)
        return result

    def _check_texts(self, segments: Iterable[Segment], labels: Iterable[object], what: str) -> None:
        """Raises an error that names those of the segments that the model cannot read, if it can read others."""
        n_segments = 0
        lacking = []
        for label, segment in zip(labels, segments, strict=True):
            n_segments += 1
            if not segment.is_unicode:
                raise InputError(f"{what} {label}: text is not valid Unicode: must have no lone surrogates")
            if not self.can_read(segment):
                lacking.append(str(label))
        if 0 < len(lacking) < n_segments:
            places = ", ".join(lacking[:5]) + (", ..." if len(lacking) > 5 else "")
            numbers = "rows" if what == "row" else "numbers from 0"
            problem = f"{len(lacking):,} of {n_segments:,} hypotheses lack it ({numbers}: {places})"
            raise ModelError(f"model {self.name} needs {self.needed}: {problem}")

    def annotate_segments(self, segments: Iterable[Segment]) -> Iterator[Rating]:
        """Yields a rating for each segment, lazily and in order. Raises as `annotate`.

        Segments are taken some batches ahead of what is yielded; memory does not grow with their number.
        """
        return (rating for rating, _ in self.annotate_kept(segments))

    def annotate_tokens(self, segments: Iterable[Segment]) -> Iterator[tuple[Rating, TokenScores]]:
        """Yields a rating and the tag probabilities for each segment, as `annotate_segments` does."""
        for rating, tokens in self.annotate_kept(segments, has_tokens=True):
            assert tokens is not None
            yield rating, tokens

    def annotate_kept(
        self, segments: Iterable[Segment], finished: FinishedWork | None = None, *, has_tokens: bool = False
    ) -> Iterator[tuple[Rating, TokenScores | None]]:
        """Yields a rating for each segment, as `annotate_segments` does, with tag probabilities if they are wanted.

        Args:
            segments: that are annotated.
            finished: ratings are taken from it, and others are added.
            has_tokens: whether the tag probabilities are wanted.

        Raises:
            UsageError: if the model has no tag probabilities.
        """
        if finished is None:
            for result, _ in self._results(segments):
                yield result.rating, self._tokens(result) if has_tokens else None
            return
        signature = cache(self.signature)
        settings = (repr(self.decoding), repr(self.weights), has_tokens)

        def dependencies(read: ModelInput) -> tuple[object, ...]:
            segment = read.segment
            lang_pair = segment.key and segment.key.lang_pair
            return (read.rater, *settings, lang_pair, segment.hypothesis, segment.source, segment.references)

        def find(segment: Segment) -> tuple[Rating, TokenScores | None] | None:
            read = self._input(segment, signature) if self.can_read(segment) else None
            entry = None if read is None else finished.get(*dependencies(read))
            if read is None or entry is None:
                return None
            special, _, line = entry.partition("\n")
            self._count(read, special.split())
            return replace(jsonl.loads(line), segment=read.segment), jsonl.token_scores(line)

        def make(segments: Iterator[Segment]) -> Iterator[tuple[Rating, TokenScores | None]]:
            for result, special in self._results(segments):
                rating = result.rating
                read = rating.segment
                tokens = self._tokens(result) if has_tokens else None
                bare = replace(rating, segment=Segment(read.hypothesis, read.source, read.references))
                line = f"{' '.join(special)}\n{jsonl.dumps(bare, tokens=tokens)}"
                finished.put(line, *dependencies(result.model_input))
                yield rating, tokens

        yield from completed(find, make, segments)

    def annotate_results(self, segments: Iterable[Segment]) -> Iterator[PredictedRating]:
        """Yields a rating for each segment and what it was made from, as `annotate_segments` does."""
        return (result for result, _ in self._results(segments))

    def _results(self, segments: Iterable[Segment]) -> Iterator[tuple[PredictedRating, list[str]]]:
        """Yields a result for each segment, and in which special ways it was handled (`_SPECIAL`)."""
        signature = cache(self.signature)

        def inputs() -> Iterator[tuple[bool, list[ModelInput]]]:
            for number, segment in enumerate(segments):
                read = self._input(segment, signature, number)
                yield read.segment is not segment, [read]

        for has_blank, (result,) in grouped(partial(self.predictor.annotate, decoding=self.decoding), inputs()):
            read = result.model_input
            prediction = result.prediction
            is_special = {
                "windowed": prediction.is_windowed,
                "blank": prediction.is_blank
                and any(map(str.strip, (read.segment.source or "", *read.segment.references))),
                "blank_texts": has_blank,
                "without_code": any(None in (reading.languages or ()) for reading in read.readings),
            }
            special = [name for name, is_so in is_special.items() if is_so]
            self._count(read, special)
            yield result, special

    def _input(self, segment: Segment, signature: Callable[..., str], number: int | None = None) -> ModelInput:
        """Returns what is read of a segment; `number` is its place among those given."""
        if not segment.is_unicode:
            raise InputError(f"text is not valid Unicode{_place(segment, number)}: must have no lone surrogates")
        read = segment.without_blanks()
        kind = self._inputs(read, number)
        languages = self.predictor.text_encoder.languages(read)
        return ModelInput.of(read, kind, signature(kind, len(read.references), languages), languages)

    def _tokens(self, result: PredictedRating) -> TokenScores:
        if result.prediction.outputs.get(TagProbabilities) is None:
            raise UsageError(f"model {self.name} has no tag probabilities; use a tagger")
        return result.prediction.token_scores()

    def check_texts(self, segment: Segment) -> None:
        """Raises a ModelError if a segment lacks a text that the model needs."""
        self._inputs(segment.without_blanks())

    def doubt(self, segment: Segment) -> Doubt | None:
        """Returns why the model may be unreliable for a segment that it can read; None if nothing speaks against it."""
        inputs = self._inputs(segment.without_blanks())
        return trained_languages.doubt(segment, inputs, self._lang_pairs, self.recall)

    def can_read(self, segment: Segment) -> bool:
        """Whether a segment has the texts that the model needs."""
        return bool(usable_inputs(segment.without_blanks(), self.config.texts.inputs))

    @property
    def needed(self) -> str:
        """The texts that the model needs at least, such as "a reference or a source"."""
        # One text is enough for a model that reads it alone, too.
        least = [name for name in self.config.texts.inputs if "+" not in name] or self.config.texts.inputs
        return " or ".join(f"a {name.replace('+', ' and a ')}" for name in least)

    def _inputs(self, segment: Segment, number: int | None = None) -> InputKind:
        """Returns which texts of a segment without blanks are read; `number` is its place among those given."""
        usable = usable_inputs(segment, self.config.texts.inputs)
        if usable:
            return usable[0]
        texts = {"source": segment.source is not None, "reference": bool(segment.references)}
        present = " and ".join(name for name, is_there in texts.items() if is_there) or "neither"
        raise ModelError(f"model {self.name} needs {self.needed}: given {present}{_place(segment, number)}")


def _place(segment: Segment, number: int | None) -> str:
    """Returns where a segment stands, for messages: what readers call it, or else its number among those given."""
    if not segment.label:
        return "" if number is None else f" for hypothesis {number}"
    of = f" of {segment.key.system}" if segment.key and segment.key.system else ""
    return f" ({segment.label}{of})"
