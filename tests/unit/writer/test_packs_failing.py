"""A pack that cannot be begun, made or put in its place harms nothing, and nobody waits for it."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import NoReturn

import pytest

from instride.store.directory import committed_in, leftovers_in
from instride.writer import packs as packs_module
from instride.writer.packs import Spoilt
from tests.unit.pack.packs import weights
from tests.unit.store.committing import commit, flip
from tests.unit.writer.packers import Results, packs_for

DATA = weights(20_000)


def stale(directory: Path) -> NoReturn:
    raise OSError(errno.ESTALE, "Stale file handle", str(directory))


def no_thread(self: threading.Thread) -> NoReturn:
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize(
    ("where", "name", "refuse"),
    [(packs_module, "checkpoints_in", stale), (threading.Thread, "start", no_thread)],
)
def test_what_could_not_be_begun_is_not_waited_for_and_is_packed_behind_the_next_save(
    where: object,
    name: str,
    refuse: Callable[..., NoReturn],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or a writer that is to end would wait for a pack that nobody makes."""
    path = commit(tmp_path, 1, DATA)
    results: Results = SimpleQueue()
    packs = packs_for(tmp_path, results)
    with monkeypatch.context() as patch:
        patch.setattr(where, name, refuse)
        packs.go_on()
    assert not packs.is_busy
    packs.go_on()
    packs.take(results.get())
    assert not path.exists()


def test_a_pack_that_can_neither_be_made_nor_deleted_is_handed_over_as_spoilt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = commit(tmp_path, 1, DATA)
    flip(path, 5)
    results: Results = SimpleQueue()
    packs = packs_for(tmp_path, results)
    monkeypatch.setattr(Path, "unlink", lambda self, missing_ok=False: stale(self))
    packs.go_on()
    spoilt = results.get(timeout=60)
    assert isinstance(spoilt, Spoilt)
    packs.take(spoilt)
    packs.give_up()


def test_a_pack_that_cannot_be_put_in_its_place_in_an_unknown_way_is_spoilt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = commit(tmp_path, 1, DATA)
    results: Results = SimpleQueue()
    packs = packs_for(tmp_path, results)
    packs.go_on()
    draft = results.get()
    monkeypatch.setattr(packs_module, "put_in_place", lambda draft: no_thread(threading.Thread()))
    packs.take(draft)
    assert not packs.is_busy
    assert [c.path for c in committed_in(tmp_path)] == [path]
    assert list(leftovers_in(tmp_path)) == []
