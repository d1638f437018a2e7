"""The annotator: a loaded model that turns Segments into Ratings, in bulk."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

import matese
from matese import mqm
from matese.annotation import Overall, Rating, Segment, TokenScores
from matese.encoder import checkpoint
from matese.encoder.checkpoint import ModelError
from matese.encoder.encoding import Inputs
from matese.encoder.hardware import bound_kernels, choose_threads
from matese.tagger import decoding, pipeline, questions
from matese.tagger.config import TaggerConfig
from matese.tagger.opening import open_model
from matese.tagger.predictor import Predictor, Prepared
from matese.tagger.questions import Answer, Counts, Question

Prediction = tuple[Rating, TokenScores]
_BATCHES_A_CHUNK = 16
"""How many batches are sorted by length together, once the first results have come."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a model is run; what can change a result stands in the signature.

    Attributes:
        precision: "float32", or "bf16" for automatic mixed precision.
        batch_tokens: padded tokens of a batch at most (a longer segment makes a batch of its own).
        min_confidence: see `matese.tagger.decoding.decode`.
        whole_words: widen spans to whole words.
        weights: what an error costs; named in the signature, beside the scores that are made with it.
    """

    precision: str
    batch_tokens: int
    min_confidence: float
    whole_words: bool
    weights: mqm.Weights = mqm.MATESE


def load(
    model: str | Path = "mini",
    *,
    device: str = "auto",
    precision: str = "auto",
    batch_tokens: int | None = None,
    threads: int | None = None,
    min_confidence: float | None = None,
    whole_words: bool | None = None,
    weights: mqm.Weights = mqm.MATESE,
) -> Annotator:
    """Returns an annotator.

    Args:
        model: the name of an embedded model, a directory, or a hub id (with one "/"). A directory that `matese export`
            has written is run by ONNX Runtime.
        device: "auto" for a GPU where there is one, else a name that torch knows.
        precision: "auto" for bf16 where the hardware has it, "bf16" or "float32".
        batch_tokens: padded tokens of a batch at most; None for what suits the machine. Where a GPU's memory does not
            hold a batch, it is halved, which `Annotator.counts` tells.
        threads: of the CPU, for all of the process; None for as many as torch takes, but no more processors than the
            process may use.
        min_confidence: 0 to 1, exclusive; less marks more. None for the model's own operating point.
        whole_words: whether spans are widened to whole words; None for what the model's settings say.
        weights: what an error costs.

    Raises:
        ModelError: if there is no such model or it cannot be loaded.
        ValueError: if an option has an impossible value.
    """
    if min_confidence is not None and not 0 < min_confidence < 1:
        raise ValueError(f"min_confidence {min_confidence}: must be greater than 0 and less than 1")
    for name, number in (("batch_tokens", batch_tokens), ("threads", threads)):
        if number is not None and number < 1:
            raise ValueError(f"{name} {number}: must be 1 or more")
    directory = checkpoint.resolve(model)
    torch.set_num_threads(threads or choose_threads())
    bound_kernels()
    opened = open_model(directory, device=device, precision=precision, batch_tokens=batch_tokens)
    options = Options(
        precision=opened.precision,
        batch_tokens=opened.predictor.batch_tokens,
        min_confidence=opened.config.min_confidence if min_confidence is None else min_confidence,
        whole_words=opened.config.whole_words if whole_words is None else whole_words,
        weights=weights,
    )
    name = f"{Path(model).name}@{checkpoint.fingerprint(directory)}"
    return Annotator(opened.predictor, opened.config, name=name, options=options)


class Annotator:
    """Marks errors with a tagger. Made by `load`."""

    def __init__(self, predictor: Predictor, config: TaggerConfig, *, name: str, options: Options) -> None:
        """Takes what runs the model of these settings; `name` stands for it in signatures."""
        self.name, self.options, self.config, self.weights = name, options, config, options.weights
        self.counts = Counts()
        self._predictor = predictor

    def signature(self, inputs: Inputs, n_references: int = 1) -> str:
        """Returns what stands for everything that can change a prediction, in the manner of sacreBLEU."""
        fields = {
            "model": self.name,
            "inputs": inputs,
            "refs": n_references if inputs != "source" else 0,
            "decode": f"{self.options.min_confidence:g}" + ("+words" if self.options.whole_words else ""),
            "precision": self.options.precision,
            "score": self.config.score_kind(inputs),
            "weights": self.options.weights.name,
            "version": matese.__version__,
        }
        return "|".join(["matese", *(f"{key}:{value}" for key, value in fields.items())])

    def choose_inputs(self, segment: Segment) -> Inputs:
        """Returns what the model reads of a segment: the most that it can take of what there is.

        A source in a script that is not in its vocabulary is left out beside a reference, if the model allows.

        Raises:
            ModelError: if the segment lacks what every input of the model needs.
        """
        return self._choose(segment, is_source_known=self._predictor.knows(segment.source))

    def _choose(self, segment: Segment, *, is_source_known: bool) -> Inputs:
        inputs = questions.choose(segment, self.config.inputs, is_source_known=is_source_known)
        if inputs is not None:
            return inputs
        needs = " or ".join(name.replace("+", " and a ") for name in self.config.inputs)
        given = [
            name for name, has in (("source", segment.source is not None), ("reference", segment.references)) if has
        ]
        raise ModelError(f"model {self.name} needs a {needs}: given {' and '.join(given) or 'neither'}")

    def annotate(
        self,
        hypotheses: Sequence[str],
        *,
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> list[Rating]:
        """Returns a Rating for each hypothesis.

        Args:
            hypotheses: the translations.
            references: one for each hypothesis, or a list of several for each.
            sources: one for each hypothesis.

        Raises:
            TypeError: if a str is given for a sequence of strings.
            ValueError: if the sequences differ in length.
            ModelError: if the model needs what is not given.
        """
        return list(self.annotate_segments(_segments(hypotheses, references, sources)))

    def annotate_segments(self, segments: Iterable[Segment]) -> Iterator[Rating]:
        """Yields a Rating for each segment, lazily and in order. Raises as `annotate`.

        Segments are taken some batches ahead of what is yielded; memory does not grow with their number.
        """
        return (rating for rating, _ in self._annotated(segments))

    def annotate_tokens(self, segments: Iterable[Segment]) -> Iterator[Prediction]:
        """Yields a Rating and the tag probabilities for each segment, as `annotate_segments` does."""
        return ((rating, answer.token_scores()) for rating, answer in self._annotated(segments))

    def forget(self) -> None:
        """Forgets the results of equal segments of earlier calls, for who measures speed."""
        self._predictor.forget()

    def _annotated(self, segments: Iterable[Segment]) -> Iterator[tuple[Rating, Answer]]:
        budget = self.options.batch_tokens
        asked = (self._ask(segment) for segment in segments)
        chunks = pipeline.chunks(asked, lambda one: one.n_tokens, first=budget, largest=_BATCHES_A_CHUNK * budget)
        with contextlib.ExitStack() as stack:
            prepared = stack.enter_context(contextlib.closing(pipeline.ahead(self._prepare, chunks)))
            if self._predictor.is_apart:  # the device then works while its last results are decoded and used
                answered = stack.enter_context(contextlib.closing(pipeline.ahead(self._answer, prepared)))
                for answers in answered:
                    yield from self._rate(answers)
            else:
                for ready in prepared:
                    yield from self._rate(self._answer(ready))

    def _ask(self, segment: Segment) -> Question:
        is_known = self._predictor.knows(segment.source)
        inputs = self._choose(segment, is_source_known=is_known)
        return questions.ask(segment, inputs, self.config.blend(inputs), is_source_known=is_known)

    def _prepare(self, asked: Sequence[Question]) -> tuple[Sequence[Question], Prepared]:
        return asked, self._predictor.prepare(row for question in asked for row in question.rows)

    def _answer(self, ready: tuple[Sequence[Question], Prepared]) -> list[Answer]:
        asked, prepared = ready
        scored = self._predictor.score(prepared)
        return [question.answer(prepared.tokens, scored) for question in asked]

    def _rate(self, answers: Sequence[Answer]) -> Iterator[tuple[Rating, Answer]]:
        if self._predictor.batch_tokens < self.options.batch_tokens:
            self.counts = replace(self.counts, lowered_batch_tokens=self._predictor.batch_tokens)
        found = decoding.decode_all(
            [answer.tagged for answer in answers],
            min_confidence=self.options.min_confidence,
            whole_words=self.options.whole_words,
        )
        for answer, errors in zip(answers, found, strict=True):
            self.counts = self.counts.counted(answer, self.config.inputs)
            segment, inputs = answer.question.segment, answer.question.inputs
            signature = self.signature(inputs, len(segment.references))
            yield Rating(segment, signature, errors, overall=Overall(answer.expected_score(), "mqm")), answer


def _segments(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]] | None,
    sources: Sequence[str] | None,
) -> list[Segment]:
    for name, texts in (("hypotheses", hypotheses), ("references", references), ("sources", sources)):
        if isinstance(texts, str):
            raise TypeError(f"{name} is a str: must be a sequence of strings, one a segment")
        if texts is not None and len(texts) != len(hypotheses):
            raise ValueError(f"{len(hypotheses)} hypotheses and {len(texts)} {name}: must be one each a segment")
    segments = []
    for number, hypothesis in enumerate(hypotheses):
        own = () if references is None else references[number]
        own_references = (own,) if isinstance(own, str) else tuple(own)
        segments.append(Segment(hypothesis, None if sources is None else sources[number], own_references))
    return segments
