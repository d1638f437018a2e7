"""Requests of the chat completions protocol, sent by the client of `openai`, with limits for all threads."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from matese.errors import InputError, ModelError, UsageError, check_installed
from matese.language_model.answers import AnswerError
from matese.validation import plain_values
from matese.validation.options import Count, CountOrZero, Options, Positive

if TYPE_CHECKING:
    import httpx2
    import openai

KEY_NAME = "OPENAI_API_KEY"
"""The environment variable with the key; nothing else holds it, and no message shows it."""
_RETRIED = (408, 409, 429)
"""What `openai` repeats, like every status from 500."""
_SHOWN = 200


class RefusedRequestError(InputError):
    """A request that the endpoint refuses, while it may accept others."""


@dataclass(frozen=True)
class RunLimits(Options):
    """What a run may do.

    Attributes:
        concurrency: requests at the same time.
        n_retries: further attempts after a failure that may pass.
        timeout: seconds for one answer.
        requests_per_minute: None for no limit.
        max_tokens: most tokens, of prompts and answers, that the endpoint counts in one run; None for no limit.
            Requests that are under way when the limit is reached are still answered.
    """

    concurrency: Count = 8
    n_retries: CountOrZero = 5
    timeout: Positive = 120.0
    requests_per_minute: Positive | None = None
    max_tokens: Count | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """An answer.

    Attributes:
        text: what the model wrote.
        model: that answered, as the endpoint names it.
        is_cut: whether the answer was cut at the endpoint's limit of tokens.
        n_tokens: of prompt and answer, as the endpoint counts them; 0 if it does not.
    """

    text: str
    model: str
    is_cut: bool = False
    n_tokens: int = 0


class _Message(msgspec.Struct, frozen=True):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct, frozen=True):
    message: _Message
    finish_reason: str | None = None


class _Usage(msgspec.Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Response(msgspec.Struct, frozen=True):
    choices: tuple[_Choice, ...]
    model: str | None = None
    usage: _Usage | None = None


class Client:
    """Sends requests to one endpoint, from several threads.

    Attributes:
        base_url: without a slash at its end.
        n_requests: answered so far, with `n_tokens` tokens.
        n_retries: attempts that failed and were repeated.
    """

    def __init__(self, base_url: str, limits: RunLimits) -> None:
        """Checks the address and the key; opens no connection.

        Raises:
            UsageError: if the address is not one of HTTP, the key cannot be sent, or a package is missing.
        """
        check_installed("a language model", "openai", extra="llm")
        import httpx2
        import openai

        from matese.language_model.connection import Connection

        self.base_url = _checked(base_url)
        self._limits = limits
        key = os.environ.get(KEY_NAME, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"{KEY_NAME} has characters that no key has; it must hold the key and nothing else")
        self._key = key
        pool = httpx2.Limits(max_connections=limits.concurrency, max_keepalive_connections=limits.concurrency)
        timeout = httpx2.Timeout(limits.timeout, connect=min(10.0, limits.timeout), pool=None)
        self._headers = {} if key else {"Authorization": openai.Omit()}
        self._openai = openai.OpenAI(
            api_key=key or "none",
            base_url=self.base_url,
            max_retries=limits.n_retries,
            timeout=timeout,
            http_client=Connection(self._before_attempt, seconds=limits.timeout, timeout=timeout, limits=pool),
        )
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._not_before = 0.0
        self.n_requests = self.n_tokens = self.n_retries = 0

    def close(self) -> None:
        """Ends all connections and waits for a turn; requests under way fail."""
        self._stopped.set()
        self._openai.close()

    def complete(self, body: Mapping[str, Any]) -> Completion:
        """Returns the answer to a request of chat completions.

        Raises:
            ModelError: if the endpoint is down, refuses the key or the model, or keeps failing, or a limit is reached.
            RefusedRequestError: if it refuses this request, after it has answered others.
            AnswerError: if the response is not one of chat completions.
        """
        import httpx2
        import openai

        try:
            response = self._openai.post(
                "/chat/completions", cast_to=httpx2.Response, body=dict(body), options={"headers": self._headers}
            )
        except openai.APIStatusError as error:
            raise self._refusal(error) from None
        except openai.APITimeoutError as error:
            raise self._failure(f"no answer in {self._limits.timeout:g} s", error.request) from None
        except openai.APIConnectionError as error:
            reason = self._clean(str(error.__cause__) or type(error.__cause__).__name__)
            if isinstance(error.__cause__, httpx2.ConnectError) and not self.n_requests:
                problem = f"{self.base_url} cannot be reached ({reason})"
                raise ModelError(f"{problem}; give the address of a running endpoint") from None
            raise self._failure(f"connection failed ({reason})", error.request) from None
        completion = self._completion(response.content)
        with self._lock:
            self.n_requests += 1
            self.n_tokens += completion.n_tokens
        return completion

    def _completion(self, content: bytes) -> Completion:
        try:
            response = plain_values.from_json(content, _Response)
        except InputError as error:
            raise AnswerError(f"not an answer of chat completions ({self._clean(str(error))})") from None
        if not response.choices:
            raise AnswerError("not an answer of chat completions (no choices)")
        choice = response.choices[0]
        text = choice.message.refusal or choice.message.content
        if text is None:
            raise AnswerError("not an answer of chat completions (no text in it)")
        usage = response.usage or _Usage()
        n_tokens = max(usage.prompt_tokens or 0, 0) + max(usage.completion_tokens or 0, 0)
        return Completion(text, response.model or "", choice.finish_reason == "length", n_tokens)

    def _refusal(self, error: openai.APIStatusError) -> InputError:
        """Returns what to raise for a status that is not repeated, or was in vain."""
        status = error.status_code
        what = f"HTTP {status}: {self._clean(_message(error))}"
        if status in (401, 403):
            verb = "refuses the key" if self._key else "wants a key"
            return ModelError(f"{self.base_url} {verb} ({what}); set {KEY_NAME} to a valid key")
        if error.code == "insufficient_quota":
            return ModelError(f"{self.base_url} has no quota left ({what}); check the plan of the account")
        if status in _RETRIED or status >= 500:
            return self._failure(what, error.request)
        if status == 404 or status < 400:
            return ModelError(f"{self.base_url} has no such model or address ({what}); check both")
        if not self.n_requests:
            hint = "--set parameters.NAME=null leaves out a parameter"
            return ModelError(f"{self.base_url} refuses the request ({what}); {hint}")
        return RefusedRequestError(f"request refused ({what})")

    def _failure(self, problem: str, request: httpx2.Request) -> ModelError:
        """Returns the error of the last attempt."""
        n_attempts = _n_retries(request) + 1
        times = f"{n_attempts} times" if n_attempts > 1 else "once"
        advice = "the answers so far are kept, so run the same command again later"
        return ModelError(f"{self.base_url}: {problem}, {times}; {advice}")

    def _before_attempt(self, request: httpx2.Request) -> None:
        """Counts retries and waits until a request may be sent.

        Raises:
            ModelError: if the run has ended, or may use no more tokens.
        """
        with self._lock:
            self.n_retries += _n_retries(request) > 0
        while True:
            if self._stopped.is_set():
                raise ModelError(f"{self.base_url}: the run has ended")
            with self._lock:
                most = self._limits.max_tokens
                if most is not None and self.n_tokens >= most:
                    used = f"{self.n_tokens:,} tokens are used, and {most:,} allowed"
                    raise ModelError(f"{used}; raise the limit: the same command continues with the answers so far")
                now = time.monotonic()
                if now >= self._not_before:
                    if self._limits.requests_per_minute is not None:
                        self._not_before = now + 60 / self._limits.requests_per_minute
                    return
                delay = self._not_before - now
            self._stopped.wait(delay)

    def _clean(self, text: str) -> str:
        """Returns a text from outside on one line, shortened and without the key."""
        shown = " ".join(text.split())
        if self._key:
            shown = shown.replace(self._key, "***")
        return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


def _n_retries(request: httpx2.Request) -> int:
    return int(request.headers.get("x-stainless-retry-count", 0))


def _checked(base_url: str) -> str:
    import httpx2

    with contextlib.suppress(httpx2.InvalidURL, ValueError):
        url = httpx2.URL(base_url)
        is_address = url.scheme in ("http", "https") and bool(url.host)
        if is_address and not url.userinfo and not url.query and not url.fragment:
            return base_url.rstrip("/")
    shown = base_url.partition("@")[2] or base_url  # there may be a password before it
    allowed = f"must be an address such as http://localhost:8080/v1, with the key in {KEY_NAME} only"
    raise UsageError(f"base URL {shown!r}: {allowed}")


def _message(error: openai.APIStatusError) -> str:
    """Returns the message of an endpoint's error, in the form of OpenAI or any other."""
    body = error.body
    if isinstance(body, Mapping):
        body = ", ".join(str(body[name]) for name in ("message", "code") if body.get(name)) or body
    return str(body or "no message")
