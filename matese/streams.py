"""Lazy functions over streams, such as annotators, which take items some batches ahead of their results."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
PATIENCE = 3.0
"""Seconds of work before Python users see its progress."""


def is_watched() -> bool:
    """Whether somebody watches standard error: on a terminal or in a notebook."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


def watched(items: Iterable[A], total: int) -> Iterator[A]:
    """Yields results for segments, of which there are so many, and shows how many are done if the work takes long."""
    if not is_watched():
        yield from items
        return
    from tqdm.auto import tqdm

    yield from tqdm(items, total=total, unit=" segments", delay=PATIENCE, leave=False)


def grouped(
    function: Callable[[Iterator[A]], Iterable[B]], groups: Iterable[tuple[C, Iterable[A]]]
) -> Iterator[tuple[C, list[B]]]:
    """Yields each group with the results for its items, lazily and in order.

    The items of all groups are one stream, so that the function can batch them.

    Args:
        function: returns a result for each item, in order.
        groups: any value with its items.

    >>> list(grouped(lambda numbers: map(str, numbers), [("a", [1, 2]), ("b", []), ("c", [3])]))
    [('a', ['1', '2']), ('b', []), ('c', ['3'])]
    """
    waiting: deque[tuple[C, int]] = deque()  # groups whose items were taken

    def items() -> Iterator[A]:
        for group, of_group in groups:
            listed = list(of_group)
            waiting.append((group, len(listed)))
            yield from listed

    results = iter(function(items()))
    for first in results:
        while waiting[0][1] == 0:
            yield waiting.popleft()[0], []
        group, n_items = waiting.popleft()
        yield group, [first, *islice(results, n_items - 1)]
    for group, _ in waiting:
        yield group, []


def completed(
    find: Callable[[A], B | None],
    make: Callable[[Iterator[A]], Iterable[B]],
    items: Iterable[A],
    *,
    most_ahead: int = 1000,
) -> Iterator[B]:
    """Yields the result for each item, lazily and in order: what is found, or else what a function makes of it.

    Args:
        find: returns the result for an item; None if it must be made.
        make: returns a result for each item, in order; it may take items ahead.
        items: in order.
        most_ahead: number of results that may be found one after the other before those that precede them are made.

    >>> list(completed({"a": "A", "c": "C"}.get, lambda letters: (letter * 2 for letter in letters), "abcd"))
    ['A', 'bb', 'C', 'dd']
    """
    stream = iter(items)
    for first in stream:
        if (result := find(first)) is not None:
            yield result
            continue
        waiting: deque[B | None] = deque([None])  # results of the items taken, None where one is made

        def missing(first: A = first, waiting: deque[B | None] = waiting) -> Iterator[A]:
            yield first
            n_found = 0
            for item in stream:
                waiting.append(find(item))
                n_found = 0 if waiting[-1] is None else n_found + 1
                if n_found == 0:
                    yield item
                elif n_found == most_ahead:
                    return

        for new_result in make(missing()):
            while (result := waiting.popleft()) is not None:
                yield result
            yield new_result
        yield from (result for result in waiting if result is not None)
