"""A whole writer, and what used to end its work, or never let it end."""

from __future__ import annotations

import errno
import json
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from instride.store.directory import committed_in
from instride.store.journal import journal_path
from instride.store.manifest import manifests_folder
from instride.store.verifying import verify
from instride.writer.protocol import Committed, Failed, Ready
from tests.unit.writer.works import PATIENCE_S, Trainer, finish


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (store := tmp_path / "store").mkdir()
    return store


@pytest.fixture
def start(store: Path) -> Iterator[Callable[..., Trainer]]:
    """Starts a trainer whose writer owns the store."""
    trainers = []

    def start(*, packs: bool = False) -> Trainer:
        trainers.append(trainer := Trainer(store, packs=packs))
        trainer.hear(Ready)
        return trainer

    yield start
    for trainer in trainers:
        trainer.end()


def steps_in(store: Path) -> list[int]:
    return [verify(checkpoint.path).step or 0 for checkpoint in committed_in(store)]


def test_a_writer_without_descriptors_fails_saves_and_saves_again_when_there_are_some(
    store: Path, start: Callable[..., Trainer]
) -> None:
    """The store cannot even be listed for what is to be packed next."""
    trainer = start(packs=True)
    trainer.give_up(0)  # so that it is listening, and has a look at what there is to pack
    trainer.hear(Failed)
    most, ever = resource.prlimit(trainer.writer.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(trainer.writer.pid, resource.RLIMIT_NOFILE, (3, ever))
    for step in range(1, 9):  # the next one may come before that look; not each time
        trainer.save(step)
        failed = trainer.hear(Failed, Committed)
        assert (failed.id, failed.errno) == (step, errno.EMFILE)
    resource.prlimit(trainer.writer.pid, resource.RLIMIT_NOFILE, (most, ever))
    trainer.save(9)
    assert isinstance(trainer.hear(Failed, Committed), Committed)
    trainer.kill()
    trainer.writer.wait(PATIENCE_S)
    assert steps_in(store) == [9]


def test_a_trainer_that_is_killed_while_it_speaks_leaves_a_store_for_others(
    store: Path, start: Callable[..., Trainer]
) -> None:
    """Its end of the line lives on in a child that it has forked."""
    trainer = start()
    trainer.save(1)
    trainer.hear(Committed)
    trainer.save(2)
    trainer.hear(Committed)
    trainer.send_half(finish(3))
    trainer.kill()
    assert trainer.writer.wait(PATIENCE_S) == 0
    start()
    assert steps_in(store) == [1, 2]


def test_a_leftover_whose_name_is_no_utf8_does_not_end_the_journal(
    store: Path, start: Callable[..., Trainer]
) -> None:
    (manifests := manifests_folder(store / "m.pt")).mkdir(parents=True)
    (manifests / os.fsdecode(b"m\xff.pt.pack.0123456789abcdef.json")).touch()
    trainer = start()
    trainer.save(1)
    trainer.hear(Committed)
    trainer.kill()
    assert trainer.writer.wait(PATIENCE_S) == 0
    text = journal_path(store).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    kinds = [line["kind"] for line in lines]
    assert {"start", "durable", "end"} <= set(kinds)
    assert any("m\\udcff" in name for line in lines for name in line.get("names", []))
