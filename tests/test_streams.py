"""Lazy functions over streams: order, laziness, and how far ahead they look."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matese import streams
from matese.streams import completed, grouped
from matese.tasks import notices


def in_chunks(items: Iterable[int], size: int) -> Iterator[int]:
    """Yields the squares of the items, which are taken in chunks, as a model does."""
    stream = iter(items)
    while chunk := list(islice(stream, size)):
        yield from (item * item for item in chunk)


@given(st.lists(st.lists(st.integers(), max_size=3)), st.integers(1, 5))
def test_each_group_gets_its_own_results(groups: list[list[int]], size: int) -> None:
    named = list(enumerate(groups))
    made = list(grouped(lambda items: in_chunks(items, size), named))
    assert made == [(number, [item * item for item in group]) for number, group in named]


@given(st.lists(st.integers(0, 20)), st.sets(st.integers(0, 20)), st.integers(1, 5), st.integers(1, 4))
def test_results_come_in_order_found_or_made(items: list[int], known: set[int], size: int, most_ahead: int) -> None:
    made: list[int] = []

    def make(missing: Iterator[int]) -> Iterator[int]:
        def noted() -> Iterator[int]:
            for item in missing:
                made.append(item)
                yield item

        return in_chunks(noted(), size)

    found = {item: item * item for item in known}
    results = list(completed(found.get, make, items, most_ahead=most_ahead))
    assert results == [item * item for item in items]
    assert made == [item for item in items if item not in known]


def test_what_is_found_is_not_held_back_for_long() -> None:
    stream = iter(range(1000))
    found = {number: number * number for number in range(1, 1000)}
    results = completed(found.get, lambda missing: in_chunks(missing, 64), stream, most_ahead=10)
    assert next(results) == 0
    assert next(stream) == 11


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_terminals_once_work_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, patience, is_shown in (
        (_Terminal(), 0.0, True),
        (_Terminal(), 60.0, False),
        (io.StringIO(), 0.0, False),
    ):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(streams, "PATIENCE", patience)
        assert list(streams.watched(iter("abc"), 3)) == ["a", "b", "c"]
        with notices._Logger().bar(2, "metrics") as bar:
            bar.advance()
            bar.make_way()
        assert ("/3" in stream.getvalue()) is is_shown
        assert ("metrics" in stream.getvalue()) is is_shown
