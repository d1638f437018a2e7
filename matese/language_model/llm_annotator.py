"""The annotator: segments are sent to a language model, some at a time, and its answers become ratings, in order."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal, TypeVar, cast

from matese import finished_work, mqm
from matese.annotation import Rating, Segment, SegmentKey
from matese.errors import ModelError, UsageError, counted
from matese.files import user_cache
from matese.language_model import answers, context, judgements, prompts
from matese.language_model.answers import AnswerError, QuoteCounts
from matese.language_model.client import Client, Completion, RefusedRequestError, RunLimits
from matese.language_model.prompts import Passage, Prompt, PromptName, Question
from matese.render.rating_list import Ratings
from matese.validation import plain_values
from matese.validation.options import Count
from matese.version import __version__

OPENAI = "https://api.openai.com/v1"
_N_ATTEMPTS = 3
_WARMER = 0.4
"""After an unusable answer the request is repeated, each time at a higher temperature."""
_HOPELESS = 5
"""A run stops after this many unusable answers if there was no usable one."""
_QUOTES = {
    answers.INEXACT: "differ from the text in case, spaces or quotation marks",
    answers.AMBIGUOUS: "occur several times: the model's count decides, or the first one if there are fewer",
    answers.MISSING: "occur nowhere: their errors have no place",
}
A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True)
class Settings(RunLimits):
    """The keys of `matese tag --set`: limits, and what becomes of them arguments of `LanguageModel`.

    Attributes:
        prompt: "mqm" or "esa", or a file in Jinja.
        steps: 2 to ask for the score of "esa" in a second request, which shows the errors.
        scheme: a file of categories and severities, as for weights.
        terms: a glossary, a term and its translation a line, separated by a tab.
        style: what the translation must be like.
        judgements: how often each segment is judged.
        parameters: of each request.
    """

    prompt: str = "mqm"
    steps: int = 1
    scheme: str | None = None
    terms: str | None = None
    style: str = ""
    judgements: Count = 1
    parameters: dict[str, Any] = field(default_factory=dict)

    def question(self, *, n_context: int = 0, has_correction: bool = False) -> Question:
        """Returns what is asked; reads its files.

        Raises:
            InputError: if a value is not allowed, or a file does not follow its form.
        """
        from matese.formats import glossary, weights_file
        from matese.language_model import own_prompt

        is_own = self.prompt not in prompts.PROMPTS
        return Question(
            # A file asks for errors, unless the score of "esa" is asked for in the second step.
            cast(PromptName, self.prompt if not is_own else "esa" if self.steps == 2 else "mqm"),
            self.steps,
            own_scheme=None if self.scheme is None else weights_file.read_scheme(self.scheme),
            own_prompt=own_prompt.read(self.prompt) if is_own else None,
            has_correction=has_correction,
            terms={} if self.terms is None else glossary.read(self.terms),
            style=self.style,
            n_context=n_context,
        )


@dataclass(frozen=True, slots=True)
class Answered:
    """The result for a segment.

    Attributes:
        rating: `errors` is None if no answer could be used.
        problem: why no answer could be used; None if one could.
        quotes: how the quotes of the answer were found.
        is_cached: whether all answers were on disk.
        model: that answered, as the endpoint names it; "" if none was asked.
        n_outliers: judgements that were left out because their score was far from the others.
        n_lacking: further judgements for which no answer could be used.
    """

    rating: Rating
    problem: str | None
    quotes: QuoteCounts
    is_cached: bool = False
    model: str = ""
    n_outliers: int = 0
    n_lacking: int = 0


Better = Literal["first", "second", "tie"]


@dataclass(frozen=True, slots=True)
class PairAnswer:
    """Which of two translations is better.

    Attributes:
        better: None if no answer could be used.
        reason: in the words of the model.
        is_steady: whether both orders gave the same answer; otherwise it is a tie.
        problem: why no answer could be used.
    """

    better: Better | None
    reason: str | None = None
    is_steady: bool = True
    problem: str | None = None


@dataclass
class Tally:
    """The counts of a run so far.

    Attributes:
        n_segments: that have a rating.
        n_cached: of these, answered from disk.
        problems: how often no answer could be used, by the reason of the last attempt.
        quotes: how quotes were found.
        n_tokens: of prompts and answers, as the endpoint counts them.
        n_retries: requests that were repeated after a failure.
        models: that answered, as the endpoint names them.
        n_outliers: judgements that were left out as outliers.
        n_lacking: judgements without a usable answer, of segments with another one.
    """

    n_segments: int = 0
    n_cached: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    quotes: QuoteCounts = field(default_factory=QuoteCounts)
    n_tokens: int = 0
    n_retries: int = 0
    models: Counter[str] = field(default_factory=Counter)
    n_outliers: int = 0
    n_lacking: int = 0

    def add(self, answered: Answered) -> None:
        """Counts a segment."""
        self.n_segments += 1
        self.n_cached += answered.is_cached
        self.quotes.n_quotes += answered.quotes.n_quotes
        self.quotes.kinds += answered.quotes.kinds
        self.quotes.unasked += answered.quotes.unasked
        self.problems[answered.problem or ""] += answered.problem is not None
        self.models[answered.model] += bool(answered.model)
        self.n_outliers += answered.n_outliers
        self.n_lacking += answered.n_lacking

    def notices(self, model: str) -> list[str]:
        """Returns sentences about inexact quotes, segments without a usable answer, and the cost."""
        if not self.n_segments:
            return []
        kinds = self.quotes.kinds
        n_failed = self.problems.total()
        sentences = [
            f"{kinds[kind]:,} of {self.quotes.n_quotes:,} quotes {_QUOTES[kind]}" for kind in _QUOTES if kinds[kind]
        ]
        if unasked := self.quotes.unasked:
            names = ", ".join(name for name, _ in unasked.most_common(3))
            sentences.append(f"{counted(unasked.total(), 'value')} that nobody asked for, left out: {names}")
        if 0 < n_failed < self.n_segments:  # if all failed, the error says so
            failed = f"{n_failed:,} of {self.n_segments:,} segments got no usable answer and have no rating"
            problem, _ = self.problems.most_common(1)[0]
            sentences.append(f"{failed} (most often: {problem}); the same command asks again for these only")
        for n, what in ((self.n_outliers, "left out as outliers"), (self.n_lacking, "without a usable answer")):
            if n:
                sentences.append(f"{counted(n, 'judgement')} of segments with others: {what}")
        answered_before = f"{counted(self.n_segments, 'segment')}, {self.n_cached:,} of them answered before"
        cost = f"{answered_before}; {counted(self.n_tokens, 'token')}"
        other_models = [name for name in self.models if name not in ("", model)]
        answered = f"; answered by {', '.join(other_models)}" if other_models else ""
        return [*sentences, f"{cost}; {counted(self.n_retries, 'request')} repeated{answered}"]


class LanguageModel:
    """A language model that marks errors, behind an endpoint that speaks the chat completions protocol of OpenAI.

    Attributes:
        model: as the endpoint names it.
        question: what is asked.
        tally: what was done so far.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = OPENAI,
        prompt: PromptName | Question = "mqm",
        judgements: int = 1,
        parameters: Mapping[str, object] | None = None,
        limits: RunLimits = RunLimits(),  # noqa: B008  (frozen)
        cache_directory: str | Path | None = None,
        weights: mqm.AnyWeights = "matese",
    ) -> None:
        """Checks the arguments; opens no connection. The key is the environment variable OPENAI_API_KEY.

        Args:
            model: as the endpoint names it.
            base_url: address of the endpoint, to which "/chat/completions" is added.
            prompt: "mqm" for errors with categories, "esa" for errors and a score from 0 to 100, or a `Question`.
            judgements: how often each segment is judged. Of several, the mean score counts, without outliers; see
                `judgements.combine`.
            parameters: of each request, beside the default `temperature` (0, or 1 for several judgements) and
                `response_format`, a JSON Schema; None as a value leaves a default out.
            limits: of time, rate and cost.
            cache_directory: of answers; None for one in the user's cache folder.
            weights: penalties of errors, or the name of a preset; named in the signature.

        Raises:
            UsageError: if an argument cannot be used.
            OSError: if the cache folder cannot be created.
        """
        if not model.strip():
            raise UsageError("model has no name; give one that the endpoint has")
        question = prompt if isinstance(prompt, Question) else Question(prompt)
        if judgements < 1:
            raise UsageError(f"judgements {judgements}: must be 1 or more")
        for name in parameters or {}:
            if name in ("model", "messages", "stream", "n"):
                raise UsageError(f"parameter {name} is set by matese; choose another one")
        Client(base_url, limits).close()  # the address and the key are checked before any work
        self.model = model
        self.tally = Tally()
        self._base_url = base_url.rstrip("/")
        self.question = question
        self._n_judgements = judgements
        self._defaults = {"temperature": 0 if judgements == 1 else 1}
        self._limits = limits
        self._weights = mqm.find_weights(weights)
        self._parameters = dict(parameters or {})
        self._finished = finished_work.in_folder(cache_directory or user_cache("answers"))

    def annotate(
        self,
        hypotheses: Sequence[str],
        *,
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sources: Sequence[str | None] | None = None,
        lang_pair: str | None = None,
    ) -> Ratings:
        """Returns a rating for each hypothesis; `errors` is None where no answer could be used.

        Args:
            hypotheses: the translations.
            references: one for each hypothesis, or a list of several for each, of which the first is shown.
            sources: one for each hypothesis.
            lang_pair: in any usual form ("en-de"), so that the prompt can name the languages.

        Raises:
            ModelError: if the endpoint or none of its answers can be used.
            InputError: if the numbers of texts do not match.
        """
        from matese.formats.segments import of_texts
        from matese.text import languages

        key = SegmentKey(lang_pair=languages.parse(lang_pair)) if lang_pair else None
        segments = (replace(segment, key=key) for segment in of_texts(hypotheses, references, sources))
        return Ratings(self.annotate_segments(segments))

    def annotate_segments(self, segments: Iterable[Segment]) -> Iterator[Rating]:
        """Yields a rating for each segment, lazily and in order. Raises as `annotate`."""
        waiting: list[Rating] = []  # until one answer could be used
        passages = context.passages(segments, self.question.n_context)
        with closing(Client(self._base_url, self._limits)) as http:
            before = self.tally.n_tokens, self.tally.n_retries
            for answered in _in_order(partial(self._answered, http), passages, self._limits.concurrency):
                self.tally.add(answered)
                self.tally.n_tokens = before[0] + http.n_tokens
                self.tally.n_retries = before[1] + http.n_retries
                waiting.append(answered.rating)
                if answered.problem is None or self.tally.n_segments > self.tally.problems.total():
                    yield from waiting
                    waiting = []
                elif len(waiting) >= _HOPELESS:
                    self._give_up(answered.problem, len(waiting))
        if waiting:
            self._give_up(next(iter(self.tally.problems)), len(waiting))

    def _give_up(self, problem: str, n_segments: int) -> None:
        of = "the segment" if n_segments == 1 else f"each of {n_segments} segments"
        raise ModelError(
            f"model {self.model} gave no usable answer to {of} ({problem}); the answer must follow the prompt"
        )

    def signature(self, segment: Segment) -> str:
        """Returns a text that names everything that can change a rating of segments with these texts."""
        texts = (segment.source is not None, bool(segment.references))
        inputs = {(True, False): "source", (False, True): "reference"}.get(texts, "source+reference")
        parameters = {**self._defaults, **self._parameters}
        digest = hashlib.sha256(json.dumps(parameters, sort_keys=True).encode()).hexdigest()[:8]
        fields = {
            "annotator": f"openai:{self.model}",
            "endpoint": self._base_url.partition("://")[2].partition("/")[0],
            "prompt": f"{self.question.prompt}@{self.question.version}",
            **({"context": self.question.n_context} if self.question.n_context else {}),
            **({} if self._n_judgements == 1 else {"judgements": self._n_judgements}),
            "parameters": f"temperature{parameters['temperature']}@{digest}",
            "inputs": inputs,
            "refs": min(len(segment.references), 1),
            "weights": self._weights.name,
            "version": __version__,
        }
        return "|".join(["matese", *(f"{key}:{str(value).replace('|', '-')}" for key, value in fields.items())])

    def cost(self, segments: Iterable[Segment]) -> tuple[int, int]:
        """Returns how many requests segments take, and about how many tokens their prompts have.

        Neither requests that are repeated, nor answers, nor judgements that were answered before are counted. Nothing
        is sent.
        """
        n_requests = 0
        n_tokens = 0
        for passage in context.passages(segments, self.question.n_context):
            segment = passage.segment.without_blanks()
            if not segment.hypothesis.strip():
                continue
            self.check_texts(segment)
            asked = [prompts.build(self.question, replace(passage, segment=segment))]
            if self.question.n_steps == 2:
                asked.append(prompts.build_score(segment, ()))
            places = (_place(self._body(asked[0]), number) for number in range(self._n_judgements))
            n_open = sum(self._finished.get(self._base_url, place) is None for place in places)
            n_requests += n_open * len(asked)
            n_tokens += n_open * sum(prompt.n_tokens for prompt in asked)
        return n_requests, n_tokens

    def preferences(self, pairs: Iterable[tuple[Segment, Segment]]) -> Iterator[PairAnswer]:
        """Yields which of two translations of a source is better, lazily and in order.

        Both orders are asked for, since language models favour one of them. Equal translations are a tie, without a
        request.

        Raises:
            ModelError: if the endpoint or none of its answers can be used.
        """
        n_failed = 0
        n_pairs = 0
        with closing(Client(self._base_url, self._limits)) as http:
            for preference in _in_order(partial(self._preferred, http), pairs, self._limits.concurrency):
                n_pairs += 1
                n_failed += preference.problem is not None
                if preference.problem is not None and n_failed == n_pairs >= _HOPELESS:
                    self._give_up(preference.problem, n_pairs)
                yield preference
        self.tally.n_tokens += http.n_tokens
        self.tally.n_retries += http.n_retries

    def _preferred(self, http: Client, pair: tuple[Segment, Segment]) -> PairAnswer:
        first, second = (segment.without_blanks() for segment in pair)
        if first.hypothesis == second.hypothesis:
            return PairAnswer("tie")
        try:
            forward, backward = (
                self._ask(http, prompts.build_pair(self.question, *pair), 0, answers.read_better)[2]
                for pair in ((first, second), (second, first))
            )
        except (RefusedRequestError, AnswerError) as error:
            return PairAnswer(None, problem=str(error))
        sides = (forward.better, backward.better)
        better: Better = "first" if sides == ("A", "B") else "second" if sides == ("B", "A") else "tie"
        is_steady = better != "tie" or sides == ("tie", "tie")
        return PairAnswer(better, forward.reason, is_steady)

    needed = "a source or a reference"
    """The texts that a language model needs at least."""

    def can_read(self, segment: Segment) -> bool:
        """Whether a segment has a source or a reference, or no translation to read."""
        texts = segment.without_blanks()
        return not segment.hypothesis.strip() or texts.source is not None or bool(texts.references)

    def check_texts(self, segment: Segment) -> None:
        """Raises a ModelError if a segment lacks a text that the model needs."""
        if not self.can_read(segment):
            place = "" if segment.line is None else f" (line {segment.line})"
            raise ModelError(f"model {self.model} needs {self.needed}: given neither{place}")

    def _answered(self, http: Client, passage: Passage) -> Answered:
        """Returns the result for a segment; a request is only sent if there is no answer on disk."""
        segment = passage.segment.without_blanks()
        passage = replace(passage, segment=segment)
        rater = self.signature(segment)
        if not segment.hypothesis.strip():
            blank = answers.of_blank(segment, self.question, rater=rater)
            if self._n_judgements > 1:
                blank = replace(blank, estimate=judgements.combine([blank], self._weights).estimate)
            return Answered(blank, None, QuoteCounts())
        self.check_texts(segment)
        every = [self._judged(http, passage, rater, number) for number in range(self._n_judgements)]
        judged = [answered for answered in every if answered.problem is None]
        if len(every) == 1 or not judged:
            return every[0]
        combined = judgements.combine([answered.rating for answered in judged], self._weights)
        nearest = judged[combined.nearest]
        return replace(
            nearest,
            rating=replace(nearest.rating, estimate=combined.estimate),
            is_cached=all(answered.is_cached for answered in judged),
            n_outliers=combined.n_outliers,
            n_lacking=len(every) - len(judged),
        )

    def _judged(self, http: Client, passage: Passage, rater: str, number: int) -> Answered:
        """Returns the result of one judgement, in one step or two."""
        segment = passage.segment
        question = self.question
        prompt = prompts.build(question, passage)
        quotes = QuoteCounts()
        try:
            completion, is_cached, rating = self._ask(
                http,
                prompt,
                number,
                lambda text: answers.read(text, segment, prompt, question, quotes, rater=rater),
            )
            if question.n_steps == 2:
                second = prompts.build_score(segment, answers.read_errors(completion.text))
                completion, is_cached_too, estimate = self._ask(http, second, number, answers.read_score)
                is_cached = is_cached and is_cached_too
                rating = replace(rating, estimate=estimate)
        except (RefusedRequestError, AnswerError) as error:
            return Answered(Rating(segment, rater, None), str(error), QuoteCounts())
        return Answered(rating, None, quotes, is_cached, completion.model)

    def _ask(self, http: Client, prompt: Prompt, number: int, read: Callable[[str], A]) -> tuple[Completion, bool, A]:
        """Returns the answer of a request, whether it was on disk, and what was read from it.

        Args:
            http: that sends the request, if there is no answer on disk.
            prompt: what is asked.
            number: of the judgement; each has an answer of its own on disk.
            read: raises an AnswerError if an answer cannot be used.

        Raises:
            RefusedRequestError: if the endpoint refuses the request.
            AnswerError: if no attempt got an answer that can be used.
        """
        body = self._body(prompt)
        place = _place(body, number)
        line = self._finished.get(self._base_url, place)
        stored = None if line is None else plain_values.from_json(line, Completion)
        problem = AnswerError("not asked")
        for attempt in range(_N_ATTEMPTS):
            is_cached = stored is not None and attempt == 0
            try:
                completion = stored if stored is not None and is_cached else http.complete(_warmer(body, attempt))
                if completion.is_cut:
                    raise AnswerError("answer is cut off at the limit of tokens")
                result = read(completion.text)
            except AnswerError as error:
                problem = error
                continue
            if not is_cached:
                self._finished.put(json.dumps(asdict(completion)), self._base_url, place)
            return completion, is_cached, result
        raise problem

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        """Returns the request, which depends on nothing but the arguments and the segment's texts and languages."""
        form = {"name": "annotation", "strict": True, "schema": prompt.schema}
        defaults = {**self._defaults, "response_format": {"type": "json_schema", "json_schema": form}}
        parameters = {name: value for name, value in {**defaults, **self._parameters}.items() if value is not None}
        return {"model": self.model, "messages": list(prompt.messages), **parameters}


def _place(body: dict[str, Any], number: int) -> dict[str, Any]:
    """Returns what names the answer to a request for a judgement among finished work."""
    return body if number == 0 else {**body, "judgement": number}


def _warmer(body: dict[str, Any], attempt: int) -> dict[str, Any]:
    temperature = body.get("temperature")
    if attempt == 0 or not isinstance(temperature, int | float):
        return body
    return {**body, "temperature": temperature + _WARMER * attempt}


def _in_order(function: Callable[[A], B], items: Iterable[A], n_threads: int) -> Iterator[B]:
    """Yields the function's result for each item, in order, while threads compute the next ones.

    Items are taken in the caller's thread, twice as many ahead as there are threads. The threads are daemons: Ctrl-C
    does not wait for an endpoint.
    """
    tasks: SimpleQueue[tuple[Future[B], A] | None] = SimpleQueue()

    waiting: deque[Future[B]] = deque()
    stream = iter(items)
    for _ in range(n_threads):
        threading.Thread(target=_work, args=(function, tasks), name="matese-request", daemon=True).start()
    try:
        while True:
            for item in islice(stream, 2 * n_threads - len(waiting)):
                waiting.append(Future())
                tasks.put((waiting[-1], item))
            if not waiting:
                return
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()
        for _ in range(n_threads):
            tasks.put(None)


def _work(function: Callable[[A], B], tasks: SimpleQueue[tuple[Future[B], A] | None]) -> None:
    while (task := tasks.get()) is not None:
        future, item = task
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(function(item))
            except BaseException as error:
                future.set_exception(error)
