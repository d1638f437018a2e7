"""Work that runs ahead in a thread, in pieces of bounded size."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def chunks(items: Iterable[A], size: Callable[[A], int], *, first: int, largest: int) -> Iterator[list[A]]:
    """Yields the items in lists, each as soon as their sizes add up to its limit.

    Args:
        items: any number of them.
        size: of an item.
        first: limit of the first list; each next one may be twice as large, so that results come soon.
        largest: limit that is not passed.

    >>> list(chunks("abcdefgh", lambda letter: 1, first=1, largest=3))
    [['a'], ['b', 'c'], ['d', 'e', 'f'], ['g', 'h']]
    """
    chunk: list[A] = []
    total, limit = 0, first
    for item in items:
        chunk.append(item)
        total += size(item)
        if total >= limit:
            yield chunk
            chunk, total, limit = [], 0, min(2 * limit, largest)
    if chunk:
        yield chunk


def ahead(function: Callable[[A], B], items: Iterable[A]) -> Generator[B, None, None]:
    """Yields what a function makes of each item, in order; the next one is made in a thread meanwhile.

    The items are taken in the caller's thread, one ahead. What is raised there or in the function comes behind the
    results that were ready before it. However the generator ends, the thread ends before it, with the work of one item.
    """
    waiting: deque[Future[B]] = deque()
    failure: Exception | None = None
    stream = iter(items)
    is_open = True
    executor = ThreadPoolExecutor(1, thread_name_prefix="matese")
    try:
        while is_open or waiting:
            while is_open and len(waiting) < 2:
                try:
                    waiting.append(executor.submit(function, next(stream)))
                except StopIteration:
                    is_open = False
                except Exception as error:
                    is_open, failure = False, error
            if waiting:
                yield waiting.popleft().result()
    finally:  # Ctrl-C and the closing of the generator come by here too
        executor.shutdown(cancel_futures=True)
    if failure is not None:
        raise failure
