"""The HTTP side: one request of the chat completions protocol, with retries, pauses and limits for all threads."""

from __future__ import annotations

import contextlib
import email.utils
import json
import os
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matese.errors import InputError, ModelError, UsageError, check_least

if TYPE_CHECKING:
    import httpx2

KEY_NAME = "OPENAI_API_KEY"
"""The environment variable with the key; nothing else holds it, and no message shows it."""
_RETRIED = (408, 409, 425, 429)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 60.0
"""Seconds; pauses double from the first to the longest."""
_LONGEST_WISH = 600.0
"""Seconds that an endpoint may ask to wait."""
_LARGEST_ANSWER = 4 << 20
_SHOWN = 200


class RefusedRequestError(InputError):
    """A request that the endpoint refuses, while it may accept others."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What a run may do.

    Attributes:
        concurrency: requests at the same time.
        n_retries: further attempts after a failure that may pass.
        timeout: seconds for one answer.
        requests_per_minute: None for no limit.
        max_tokens: most tokens, of prompts and answers, that the endpoint counts in one run; None for no limit.
            Requests that are under way when the limit is reached are still answered.
    """

    concurrency: int = 8
    n_retries: int = 5
    timeout: float = 120.0
    requests_per_minute: float | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        check_least(1, concurrency=self.concurrency, max_tokens=self.max_tokens)
        check_least(0, n_retries=self.n_retries)
        for name in ("timeout", "requests_per_minute"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UsageError(f"{name} {value}: must be more than 0")


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
            UsageError: if the address is not one of HTTP, or the key cannot be sent.
        """
        import httpx2

        self.base_url, self._limits = _checked(base_url), limits
        key = os.environ.get(KEY_NAME, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"{KEY_NAME} has characters that no key has; it must hold the key and nothing else")
        self._key = key
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        timeout = httpx2.Timeout(limits.timeout, connect=min(10.0, limits.timeout), pool=None)
        pool = httpx2.Limits(max_connections=limits.concurrency, max_keepalive_connections=limits.concurrency)
        self._http = httpx2.Client(headers=headers, timeout=timeout, limits=pool)
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._not_before = 0.0
        self.n_requests = self.n_tokens = self.n_retries = 0

    def close(self) -> None:
        """Ends all pauses and connections; requests under way fail."""
        self._stopped.set()
        self._http.close()

    def complete(self, body: Mapping[str, Any]) -> Completion:
        """Returns the answer to a request of chat completions.

        Raises:
            ModelError: if the endpoint is down, refuses the key or the model, or keeps failing, or a limit is reached.
            RefusedRequestError: if it refuses this request, after it has answered others.
        """
        data = json.dumps(body).encode()
        for attempt in range(self._limits.n_retries + 1):
            self._wait_for_turn()
            problem, wish = self._attempt(data)
            if isinstance(problem, Completion):
                with self._lock:
                    self.n_requests += 1
                    self.n_tokens += problem.n_tokens
                return problem
            if attempt < self._limits.n_retries:
                self._pause(attempt, wish)
        advice = "the answers so far are kept, so run the same command again later"
        raise ModelError(f"{self.base_url}: {problem}, {attempt + 1} times; {advice}")

    def _attempt(self, data: bytes) -> tuple[Completion | str, float]:
        """Returns the answer, or the failure of this attempt and the wait that the endpoint asks for."""
        import httpx2

        try:
            with self._http.stream(
                "POST", f"{self.base_url}/chat/completions", content=data, headers={"Content-Type": "application/json"}
            ) as response:
                content = _read(response, self._limits.timeout)
        except httpx2.TimeoutException:
            return f"no answer in {self._limits.timeout:g} s", 0.0
        except (httpx2.HTTPError, httpx2.StreamError, OSError, RuntimeError) as error:
            if self._stopped.is_set():
                raise ModelError(f"{self.base_url}: the run has ended") from None
            reason = self._clean(str(error) or type(error).__name__)
            if isinstance(error, httpx2.ConnectError | httpx2.UnsupportedProtocol) and not self.n_requests:
                raise ModelError(
                    f"{self.base_url} cannot be reached ({reason}); give the address of a running endpoint"
                ) from None
            return f"connection failed ({reason})", 0.0
        if response.status_code == 200:
            try:
                return _completion(content), 0.0
            except ValueError as error:
                return f"not an answer of chat completions ({self._clean(str(error))})", 0.0
        self._check_status(response.status_code, content)
        return f"HTTP {response.status_code} ({self._clean(_message(content))})", _wish(response.headers)

    def _check_status(self, status: int, content: bytes) -> None:
        """Raises the error of a status after which the same request would fail again."""
        message = self._clean(_message(content))
        if status in (401, 403):
            needed = f"set {KEY_NAME} to a valid key"
            what = "refuses the key" if self._key else "wants a key"
            raise ModelError(f"{self.base_url} {what} (HTTP {status}: {message}); {needed}")
        if "insufficient_quota" in message:
            raise ModelError(
                f"{self.base_url} has no quota left (HTTP {status}: {message}); check the plan of the account"
            )
        if status in _RETRIED or status >= 500:
            return
        if status == 404 or status < 400:
            raise ModelError(f"{self.base_url} has no such model or address (HTTP {status}: {message}); check both")
        if not self.n_requests:
            hint = "--set parameters.NAME=null leaves out a parameter"
            raise ModelError(f"{self.base_url} refuses the request (HTTP {status}: {message}); {hint}")
        raise RefusedRequestError(f"request refused (HTTP {status}: {message})")

    def _wait_for_turn(self) -> None:
        """Waits until a request may be sent.

        Raises:
            ModelError: if the run has ended, or may use no more tokens.
        """
        while True:
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
            if self._stopped.wait(delay):
                raise ModelError(f"{self.base_url}: the run has ended")

    def _pause(self, attempt: int, wish: float) -> None:
        """Waits before the next attempt: twice as long each time, and as long as the endpoint wishes.

        Raises:
            ModelError: if it wishes for too long.
        """
        if wish > _LONGEST_WISH:
            raise ModelError(f"{self.base_url} asks to wait {wish:,.0f} s: must be {_LONGEST_WISH:g} s or less")
        delay = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE) * random.uniform(0.5, 1.0)  # not all threads at once
        with self._lock:
            self.n_retries += 1
            if wish:  # the endpoint means all requests
                self._not_before = max(self._not_before, time.monotonic() + wish)
        if self._stopped.wait(max(delay, wish)):
            raise ModelError(f"{self.base_url}: the run has ended")

    def _clean(self, text: str) -> str:
        """Returns a text from outside on one line, shortened and without the key."""
        shown = " ".join(text.split())
        if self._key:
            shown = shown.replace(self._key, "***")
        return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."


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


def _read(response: httpx2.Response, timeout: float) -> bytes:
    """Returns the body; raises an error if it arrives too slowly or is too large."""
    import httpx2

    end, parts, size = time.monotonic() + timeout, list[bytes](), 0
    for part in response.iter_bytes():
        parts.append(part)
        size += len(part)
        if time.monotonic() > end:
            raise httpx2.ReadTimeout("too slow")
        if size > _LARGEST_ANSWER:
            raise httpx2.RemoteProtocolError(f"more than {_LARGEST_ANSWER:,} bytes")
    return b"".join(parts)


def _completion(content: bytes) -> Completion:
    """Returns the answer in a response. Raises ValueError if there is none."""
    try:
        value = json.loads(content)
        choice = value["choices"][0]
        text = choice["message"].get("content")
        if choice["message"].get("refusal"):
            text = str(choice["message"]["refusal"])
        usage = value.get("usage") or {}
        if not isinstance(text, str):
            raise ValueError("no text in it")
        n_tokens = sum(max(int(usage.get(name) or 0), 0) for name in ("prompt_tokens", "completion_tokens"))
        return Completion(text, str(value.get("model") or ""), choice.get("finish_reason") == "length", n_tokens)
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{type(error).__name__} {error}") from None


def _message(content: bytes) -> str:
    """Returns the message of an endpoint's error, in the form of OpenAI or any other."""
    text = content.decode("utf-8", "replace")
    try:
        error = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return text or "no message"
    if not isinstance(error, dict):
        return str(error)
    parts = [str(error[name]) for name in ("message", "code") if error.get(name)]
    return ", ".join(parts) or text


def _wish(headers: Mapping[str, str]) -> float:
    """Returns the seconds of a Retry-After header, which may be a date; 0 without one."""
    value = headers.get("retry-after", "").strip()
    with contextlib.suppress(ValueError):
        return max(0.0, min(float(value), 1e9))
    with contextlib.suppress(ValueError, TypeError, IndexError, OverflowError):
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    return 0.0
