"""`Saver(pack=True)`: what is committed becomes a pack, and everything goes on as before."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch

import instride
from instride.cli.main import main
from instride.errors import MissingLibraryError
from instride.store.directory import LATEST, committed_in
from instride.store.journal import journal_path

pytestmark = pytest.mark.torch
Printed = pytest.CaptureFixture[str]


class Drifting(torch.nn.Linear):
    """A model whose weights move a little from step to step."""

    def __init__(self) -> None:
        torch.manual_seed(1)
        super().__init__(300, 400)

    def drift(self) -> None:
        with torch.no_grad():
            self.weight += 1e-5 * torch.randn_like(self.weight)


def train(store: Path, *steps: int, keep: instride.Keep | None = None) -> dict[int, torch.Tensor]:
    """Save steps; the weights of each."""
    model = Drifting()
    saved = {}
    with instride.Saver(store, model=model, pack=True, keep=keep) as saver:
        for step in steps:
            model.drift()
            saved[step] = model.weight.detach().clone()
            saver.save(step, metric=1 / step).wait(60)
    return saved


def test_everything_is_packed_when_the_saver_is_closed(tmp_path: Path) -> None:
    saved = train(tmp_path, 1, 2, 3)
    names = sorted(path.name for path in tmp_path.glob("step_*"))
    assert names == [f"step_0000000{step}.pt.pack" for step in (1, 2, 3)]
    assert (tmp_path / LATEST).readlink() == Path("step_00000003.pt.pack")
    for step, weight in saved.items():
        state = instride.load(tmp_path / f"step_0000000{step}.pt.pack")
        assert torch.equal(state["model"]["weight"], weight)
    assert torch.equal(instride.load(tmp_path / LATEST)["model"]["weight"], saved[3])


@pytest.mark.parametrize("note", [1, 300])
def test_the_first_is_full_and_the_others_differ_from_it(tmp_path: Path, note: int) -> None:
    """Also where the pickle, which lies behind the numbers, is longer than in the base."""
    for step in (1, 2, 3):
        model = Drifting()
        with instride.Saver(tmp_path, model=model, pack=True) as saver:
            if step > 1:
                assert saver.restore() == step
            model.drift()
            saver.save(step, extra={"note": "n" * note * step}).wait(60)
    full = "step_00000001.pt.pack"
    assert [checkpoint.base for checkpoint in committed_in(tmp_path)] == [None, full, full]
    sizes = [checkpoint.size_bytes for checkpoint in committed_in(tmp_path)]
    assert max(sizes[1:]) < 0.9 * sizes[0]


def test_a_base_that_does_not_pay_is_not_used(tmp_path: Path) -> None:
    for step in (1, 2):
        torch.manual_seed(step)
        model = torch.nn.Linear(300, 400)
        with instride.Saver(tmp_path, model=model, pack=True) as saver:
            saver.save(step).wait(60)
    assert [checkpoint.base for checkpoint in committed_in(tmp_path)] == [None, None]


@pytest.mark.parametrize("last", [1, 2, 3])
def test_retention_keeps_what_it_should_and_what_that_needs(last: int, tmp_path: Path) -> None:
    for step in range(1, 8):
        train(tmp_path, step, keep=instride.Keep(last=last))
        present = committed_in(tmp_path)
        names = {checkpoint.path.name for checkpoint in present}
        assert {c.base for c in present} - {None} <= names
        kept = list(range(max(1, step - last + 1), step + 1))
        assert [c.step for c in present][-len(kept) :] == kept
        assert len(present) <= last + 1  # a base may outlive its turn
    assert main(["verify", str(tmp_path)]) == 0


def test_a_checkpoint_can_be_restored_whether_it_is_packed_by_then_or_not(tmp_path: Path) -> None:
    model = Drifting()
    with instride.Saver(tmp_path, model=model, pack=True) as saver:
        for step in (1, 2, 3):
            model.drift()
            wanted = model.weight.detach().clone()
            saver.save(step).wait(60)
            with torch.no_grad():
                model.weight.zero_()
            assert saver.restore() == step + 1
            assert torch.equal(model.weight, wanted)


def test_the_verbs_know_what_the_saver_packed(tmp_path: Path, capsys: Printed) -> None:
    train(tmp_path, 1)
    train(tmp_path, 2)
    train(tmp_path, 3)
    assert main(["list", str(tmp_path), "--json"]) == 0
    listing = json.loads(capsys.readouterr().out)["checkpoints"]
    assert [entry["state"] for entry in listing] == ["committed"] * 3
    assert listing[2]["is_latest"]
    assert 0 < listing[0]["ratio"] < 1
    assert main(["verify", str(tmp_path)]) == 0
    assert main(["prune", str(tmp_path), "--keep-last", "1", "--json"]) == 0
    assert [path.name for path in sorted(tmp_path.glob("step_*"))] == [
        "step_00000001.pt.pack",
        "step_00000003.pt.pack",
    ]
    out = tmp_path / "out.safetensors"
    assert main(["export", str(tmp_path / LATEST), str(out)]) == 0
    assert main(["unpack", str(tmp_path / "step_00000003.pt.pack")]) == 0
    assert main(["verify", str(tmp_path)]) == 0


def test_the_journal_has_every_pack(tmp_path: Path) -> None:
    train(tmp_path, 1)
    train(tmp_path, 2)
    lines = [json.loads(line) for line in journal_path(tmp_path).read_text().splitlines()]
    packed = [line for line in lines if line["kind"] == "packed"]
    assert [line["base"] for line in packed] == [None, "step_00000001.pt.pack"]
    assert all(0 < line["bytes"] < line["original_bytes"] for line in packed)


def test_two_saves_of_one_step_leave_the_second(tmp_path: Path) -> None:
    train(tmp_path, 1)
    train(tmp_path, 2)  # against the first
    again = train(tmp_path, 1)  # its pack would take the place of that base
    present = committed_in(tmp_path)
    assert {c.base for c in present} - {None} <= {c.path.name for c in present}
    model = Drifting()
    with instride.Saver(tmp_path, model=model) as saver:
        assert saver.restore() == 2
    assert torch.equal(model.weight, again[1])
    assert main(["verify", str(tmp_path)]) == 0


def test_without_numpy_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(MissingLibraryError, match="needs `numpy`"):
        instride.Saver(tmp_path, model=torch.nn.Linear(2, 2), pack=True)
