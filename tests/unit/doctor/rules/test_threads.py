"""Threads that save: what they share with training, and whether the program waits for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.doctor.model import FixKind
from tests.unit.doctor.rules.training import in_loop
from tests.unit.doctor.rules.trying import found, line_with, lines

WRITE = """\
def write(state, path):
    torch.save(state, path)


"""
START = "threading.Thread(target=write, args=(state, 'last.pt')).start()"
SHALLOW = (
    "state = {k: v.cpu().clone() if torch.is_tensor(v) else v"
    " for k, v in optimizer.state_dict().items()}\n"
)

SHARED = {
    "an optimizer's outermost values": SHALLOW + START,
    "no copy at all": "state = model.state_dict()\n" + START,
    "a new dictionary": "state = {'model': model.state_dict(), 'step': step}\n" + START,
    "a copied dictionary": "state = dict(model.state_dict())\n" + START,
    "a shallow copy": "state = copy.copy(optimizer.state_dict())\n" + START,
    "one good copy and one that is none": (
        "weights = {k: v.cpu() for k, v in model.state_dict().items()}\n"
        + SHALLOW.replace("state =", "rest =")
        + "state = {'model': weights, 'optimizer': rest}\n"
        + START
    ),
    "a dictionary of states": (
        "parts = {'model': model.state_dict(), 'optimizer': optimizer.state_dict()}\n"
        "state = {k: v.cpu() if hasattr(v, 'cpu') else v for k, v in parts.items()}\n" + START
    ),
    "torch.save itself": (
        "threading.Thread(target=torch.save, args=(model.state_dict(), 'last.pt')).start()"
    ),
    "a pool": "pool.submit(write, model.state_dict(), 'last.pt')",
    "a lambda": "state = model.state_dict()\npool.submit(lambda: torch.save(state, 'last.pt'))",
    "a function inside": (
        "state = model.state_dict()\n"
        "def save():\n    torch.save(state, 'last.pt')\n"
        "threading.Thread(target=save).start()"
    ),
}


@pytest.mark.parametrize("body", SHARED.values(), ids=SHARED.keys())
def test_a_state_that_training_changes_is_found(tmp_path: Path, body: str) -> None:
    [finding] = found("shallow-copy-to-thread", tmp_path, {"train.py": in_loop(body, WRITE)})
    assert "state_dict()" in str(finding.facts["state"]) or finding.facts["state"] == "parts"
    assert "on_cpu(" in finding.fixes[0].text


def test_the_copy_that_copies_nothing_is_named_first(tmp_path: Path) -> None:
    text = in_loop(SHALLOW + START, WRITE)
    [finding] = found("shallow-copy-to-thread", tmp_path, {"train.py": text})
    assert lines(finding) == [
        ("train.py", line_with(text, "state = {k")),
        ("train.py", line_with(text, "threading.Thread(")),
    ]
    assert finding.fixes[0].kind is FixKind.DIFF
    assert "+            state = on_cpu(optimizer.state_dict())" in finding.fixes[0].text


def test_a_helper_that_copies_only_outermost_values_is_seen_through(tmp_path: Path) -> None:
    helper = "def to_cpu(state):\n    return {k: v.cpu() for k, v in state.items()}\n\n\n"
    body = "state = to_cpu(optimizer.state_dict())\n" + START
    text = in_loop(body, WRITE + helper)
    assert len(found("shallow-copy-to-thread", tmp_path, {"train.py": text})) == 1


def test_what_is_put_into_the_queue_of_a_thread_is_looked_at(tmp_path: Path) -> None:
    worker = (
        "def work():\n    while True:\n        state, path = jobs.get()\n"
        "        torch.save(state, path)\n\n\n"
        "threading.Thread(target=work).start()\n\n\n"
    )
    text = in_loop("jobs.put((model.state_dict(), 'last.pt'))", worker)
    assert len(found("shallow-copy-to-thread", tmp_path, {"train.py": text})) == 1


COPIED = {
    "a deep copy": "state = copy.deepcopy(optimizer.state_dict())\n" + START,
    "a deep copy of a dictionary": (
        "state = copy.deepcopy({'optimizer': optimizer.state_dict()})\n" + START
    ),
    "a deep copy of itself": (
        "state = {'optimizer': optimizer.state_dict()}\nstate = copy.deepcopy(state)\n" + START
    ),
    "a model's tensors": (
        "state = {k: v.detach().cpu() for k, v in model.state_dict().items()}\n" + START
    ),
    "a function of somebody else": "state = to_host(optimizer.state_dict())\n" + START,
    "a copy of every level": (
        "state = {k: {n: t.clone() for n, t in v.items()}"
        " for k, v in optimizer.state_dict()['state'].items()}\n" + START
    ),
    "a thread that is waited for": (
        "state = model.state_dict()\n"
        "thread = threading.Thread(target=write, args=(state, 'last.pt'))\n"
        "thread.start()\nthread.join()"
    ),
    "a thread that saves nothing": (
        "state = model.state_dict()\nthreading.Thread(target=print, args=(state,)).start()"
    ),
    "no thread": "state = model.state_dict()\nwrite(state, 'last.pt')",
}


@pytest.mark.parametrize("body", COPIED.values(), ids=COPIED.keys())
def test_a_state_of_its_own_is_left_alone(tmp_path: Path, body: str) -> None:
    assert not found("shallow-copy-to-thread", tmp_path, {"train.py": in_loop(body, WRITE)})


COPY = "state = copy.deepcopy(model.state_dict())\n"


@pytest.mark.parametrize(
    "body",
    [
        COPY + START.replace("))", "), daemon=True)"),
        COPY + "thread = threading.Thread(target=write, args=(state, 'last.pt'))\n"
        "thread.daemon = True\nthread.start()",
    ],
)
def test_a_daemon_that_saves_is_found(tmp_path: Path, body: str) -> None:
    [finding] = found("daemon-thread-saves", tmp_path, {"train.py": in_loop(body, WRITE)})
    assert finding.fixes[0].kind is FixKind.DIFF
    assert "False" in finding.fixes[0].text


def test_a_wait_only_before_the_next_save_is_not_enough(tmp_path: Path) -> None:
    body = (
        "if thread is not None:\n    thread.join()\n"
        "thread = threading.Thread(target=write, args=(state, 'last.pt'), daemon=True)\n"
        "thread.start()"
    )
    assert len(found("daemon-thread-saves", tmp_path, {"train.py": in_loop(body, WRITE)})) == 1


def test_a_worker_without_end_gets_a_wait_instead(tmp_path: Path) -> None:
    worker = (
        "def work():\n    while True:\n        state, path = jobs.get()\n"
        "        torch.save(state, path)\n\n\n"
        "worker = threading.Thread(target=work, daemon=True)\nworker.start()\n\n\n"
    )
    text = in_loop("jobs.put((copy.deepcopy(model.state_dict()), 'last.pt'))", worker)
    [finding] = found("daemon-thread-saves", tmp_path, {"train.py": text})
    assert finding.fixes[0].text.startswith("worker.join()")


@pytest.mark.parametrize(
    ("body", "after"),
    [
        (COPY + START, ""),
        (
            COPY + "t = " + START.replace("))", "), daemon=True)").removesuffix(".start()"),
            "t.join()",
        ),
        ("threading.Thread(target=print, daemon=True).start()", ""),
    ],
)
def test_a_thread_that_is_waited_for_is_left_alone(tmp_path: Path, body: str, after: str) -> None:
    assert not found("daemon-thread-saves", tmp_path, {"train.py": in_loop(body, WRITE, after)})
