"""SIGTERM and SIGUSR1: heard where somebody asks, and otherwise what they were before."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.saver.scripts import run_to_any_end

pytestmark = pytest.mark.torch
SEND = """
def send(number=signal.SIGTERM):
    os.kill(os.getpid(), number)
"""


def run(tmp_path: Path, script: str) -> tuple[int, list[str]]:
    """How a program ended that gets signals, and what it printed."""
    return run_to_any_end(tmp_path, SEND + script)


def test_a_loop_that_asks_hears_sigterm_and_a_save_is_due(tmp_path: Path) -> None:
    script = """
with saver("a") as a:
    print(a.due(1), a.should_stop)
    send()
    print(a.due(2), a.due(3), a.should_stop)
"""
    assert run(tmp_path, script) == (0, ["False", "False", "True", "False", "True"])


@pytest.mark.parametrize(("looks", "num_told"), [("", 1), ("a.should_stop", 0)])
def test_a_loop_that_goes_on_regardless_is_told_once(
    tmp_path: Path, looks: str, num_told: int
) -> None:
    """Whoever sent the signal waits for an end that does not come."""
    script = f"""
import warnings
with warnings.catch_warnings(record=True) as told, saver("a") as a:
    warnings.simplefilter("always")
    for step in range(5):
        {looks}
        a.due(step)
        if step == 1:
            send()
    print(len(told), all("saver.should_stop: break" in str(each.message) for each in told))
"""
    assert run(tmp_path, script) == (0, [str(num_told), "True"])


def test_sigusr1_asks_for_a_save_every_time(tmp_path: Path) -> None:
    script = """
with saver("a") as a:
    a.due(0)
    for _ in range(3):
        send(signal.SIGUSR1)
        print(a.due(1), a.should_stop)
"""
    assert run(tmp_path, script) == (0, ["True", "False"] * 3)


def test_sigusr1_before_the_loop_asks_for_the_first_time_is_remembered(tmp_path: Path) -> None:
    script = """
with saver("a") as a:
    send(signal.SIGUSR1)
    print(a.due(1), a.due(2), a.should_stop)
send(signal.SIGUSR1)
print("not here", flush=True)
"""
    assert run(tmp_path, script) == (-signal.SIGUSR1, ["True", "False", "False"])


def test_a_saver_that_is_dropped_swallows_nothing(tmp_path: Path) -> None:
    script = """
a = saver("a")
a.due(1)
a = None
send()
print("not here", flush=True)
"""
    assert run(tmp_path, script) == (-signal.SIGTERM, [])


def test_asking_a_saver_that_is_closed_changes_nothing(tmp_path: Path) -> None:
    script = """
a = saver("a")
a.close()
print(a.should_stop)
send()
print("not here", flush=True)
"""
    assert run(tmp_path, script) == (-signal.SIGTERM, ["False"])


def test_a_second_sigterm_ends_a_loop_that_does_not_listen(tmp_path: Path) -> None:
    script = """
a = saver("a")
a.due(1)
send()
print("here", flush=True)
send()
print("not here", flush=True)
"""
    assert run(tmp_path, script) == (-signal.SIGTERM, ["here"])


def test_a_script_that_never_asks_is_ended_by_sigterm(tmp_path: Path) -> None:
    script = """
a = saver("a")
a.save(1).wait(60)
send()
print("not here", flush=True)
"""
    assert run(tmp_path, script) == (-signal.SIGTERM, [])


@pytest.mark.parametrize("order", ["a.close(); b.close()", "b.close(); a.close()"])
def test_after_the_last_saver_is_closed_sigterm_ends_the_program(
    order: str, tmp_path: Path
) -> None:
    script = f"""
a, b = saver("a"), saver("b")
a.due(1), b.due(1)
{order}
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
send()
print("not here", flush=True)
"""
    assert run(tmp_path, script) == (-signal.SIGTERM, [])


def test_the_savers_that_are_left_go_on_hearing(tmp_path: Path) -> None:
    script = """
a, b = saver("a"), saver("b")
a.due(1), b.due(1)
a.close()
send()
print(b.due(2), b.should_stop, a.should_stop)
b.close()
"""
    assert run(tmp_path, script) == (0, ["True", "True", "False"])


def test_a_saver_closed_by_another_thread_leaves_nothing_that_swallows_signals(
    tmp_path: Path,
) -> None:
    script = """
a = saver("a")
a.due(1)
thread = threading.Thread(target=a.close)
thread.start()
thread.join()
send()
print("not here", flush=True)
"""
    assert run(tmp_path, script) == (-signal.SIGTERM, [])


def test_what_the_script_had_installed_is_called_and_comes_back(tmp_path: Path) -> None:
    script = """
def mine(number, frame):
    print("mine", flush=True)
signal.signal(signal.SIGTERM, mine)
with saver("a") as a:
    a.due(1)
    send()
    send()
    print(a.should_stop)
assert signal.getsignal(signal.SIGTERM) is mine
"""
    assert run(tmp_path, script) == (0, ["mine", "mine", "True"])


def test_a_handler_put_over_ours_that_calls_it_is_called_once_by_each_signal(
    tmp_path: Path,
) -> None:
    script = """
a = saver("a")
a.due(1)
older = signal.getsignal(signal.SIGTERM)
def mine(number, frame):
    print("mine", flush=True)
    older(number, frame)
signal.signal(signal.SIGTERM, mine)
b = saver("b")
b.due(1)
send()
print(a.should_stop, b.should_stop)
a.close(), b.close()
send()
print("not here", flush=True)
"""
    assert run(tmp_path, script) == (-signal.SIGTERM, ["mine", "True", "True", "mine"])


def test_a_signal_that_was_ignored_stays_ignored_after_the_end(tmp_path: Path) -> None:
    script = """
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
with saver("a") as a:
    a.due(1)
    send(signal.SIGUSR1)
    print(a.due(2))
send(signal.SIGUSR1)
print("here")
"""
    assert run(tmp_path, script) == (0, ["True", "here"])


def test_a_forked_worker_is_ended_by_sigterm(tmp_path: Path) -> None:
    """As data loaders and pools end theirs: one that swallowed it would be waited for for ever."""
    script = """
import multiprocessing

def work(line):
    line.send("working")
    threading.Event().wait()

with saver("a") as a:
    a.due(1)
    ours, theirs = multiprocessing.Pipe()
    worker = multiprocessing.get_context("fork").Process(target=work, args=(theirs,))
    worker.start()
    print(ours.recv())
    worker.terminate()
    worker.join()
    print(worker.exitcode, a.should_stop)
"""
    assert run(tmp_path, script) == (0, ["working", str(-signal.SIGTERM), "False"])
