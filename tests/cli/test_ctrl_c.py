import signal
import threading

import pytest

from matese.cli import interrupts


def strike() -> None:
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_is_raised_as_our_own() -> None:
    def body() -> None:
        with interrupts.raising_ctrl_c():
            strike()

    with pytest.raises(interrupts.CtrlC):
        body()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_waits() -> None:
    done = []

    def body() -> None:
        with interrupts.deferring_ctrl_c():
            strike()
            done.append("all of the body")

    with pytest.raises(KeyboardInterrupt):
        body()
    assert done == ["all of the body"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_nothing_waits_without_ctrl_c() -> None:
    with interrupts.raising_ctrl_c(), interrupts.deferring_ctrl_c():
        pass


def test_what_somebody_else_does_at_ctrl_c_stays() -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        with interrupts.raising_ctrl_c():
            strike()
    finally:
        signal.signal(signal.SIGINT, before)
    assert came == [signal.SIGINT]


@pytest.mark.parametrize("ignored", [signal.SIG_IGN, None])
def test_ignored_ctrl_c_and_other_threads(ignored: signal.Handlers | None) -> None:
    def body() -> None:
        with interrupts.raising_ctrl_c(), interrupts.deferring_ctrl_c():
            done.append(True)

    done: list[bool] = []
    if ignored is None:
        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
    else:
        before = signal.signal(signal.SIGINT, ignored)
        try:
            body()
            assert signal.getsignal(signal.SIGINT) is ignored
        finally:
            signal.signal(signal.SIGINT, before)
    assert done == [True]
