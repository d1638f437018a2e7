from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator

import pytest

from matese.model.predictor import ahead, chunked


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("matese-ahead")]


def test_chunks_are_bounded_and_grow() -> None:
    sizes = [len(chunk) for chunk in itertools.islice(chunked(itertools.count(), lambda _: 2, first=4, largest=16), 5)]
    assert sizes == [2, 4, 8, 8, 8]
    assert list(chunked([9, 1, 1, 1], lambda size: size, first=2, largest=2)) == [[9], [1, 1], [1]]
    assert list(chunked([], len, first=1, largest=1)) == []


def test_results_come_in_order_from_another_thread() -> None:
    names = set()

    def double(number: int) -> int:
        names.add(threading.current_thread().name)
        return 2 * number

    assert list(ahead(double, range(5))) == [0, 2, 4, 6, 8]
    assert list(ahead(double, [])) == []
    assert names == {"matese-ahead_0"}
    assert threads() == []


def test_items_are_taken_one_ahead_in_the_callers_thread() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in itertools.count():
            assert threading.current_thread() is threading.main_thread()
            taken.append(number)
            yield number

    stream = ahead(lambda number: number, items())
    assert [next(stream), next(stream)] == [0, 1]
    assert taken == [0, 1, 2]
    stream.close()
    assert threads() == []


def test_an_error_of_the_function_comes_behind_what_was_ready() -> None:
    results = []

    def take() -> None:
        for result in ahead(lambda number: 6 // number, [3, 2, 0, 1]):
            results.append(result)

    with pytest.raises(ZeroDivisionError):
        take()
    assert results == [2, 3]
    assert threads() == []


def test_an_error_of_the_items_comes_behind_what_was_ready() -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2
        raise OSError("the file is gone")

    stream = ahead(lambda number: -number, items())
    assert [next(stream), next(stream)] == [-1, -2]
    with pytest.raises(OSError, match="the file is gone"):
        next(stream)
    assert threads() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_strikes_the_caller_ends_the_thread(error: type[BaseException]) -> None:
    stream = ahead(lambda number: number, itertools.count())
    next(stream)
    assert threads() != []
    with pytest.raises(error):
        stream.throw(error())
    assert threads() == []


def test_two_threads_in_a_row() -> None:
    stream = ahead(lambda number: number + 1, ahead(lambda number: 10 * number, range(4)))
    assert list(stream) == [1, 11, 21, 31]
    assert threads() == []
