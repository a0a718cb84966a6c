"""Data loaders against the machine, and against how the code uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.doctor.model import Certainty, Count, FixKind
from instride.doctor.rules import loading
from tests.unit.doctor.rules.trying import found, lines

SCRIPT = """\
import argparse

import torch
from torch.utils.data import DataLoader{imports}

parser = argparse.ArgumentParser()
parser.add_argument("--num-workers", type=int, default=6)
args = parser.parse_args()
device = torch.device("cuda")
train_loader = {loader}
for epoch in range(10):
    for batch in train_loader:
        loss = model({copy})
        loss.backward()
        optimizer.step()
"""


def script(loader: str, copy: str = "batch.to(device)", imports: str = "") -> dict[str, str]:
    return {"train.py": SCRIPT.format(loader=loader, copy=copy, imports=imports)}


@pytest.fixture(autouse=True)
def four_cores_and_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "usable_cores", lambda: 4)
    monkeypatch.setattr(loading, "has_accelerator", lambda: True)


@pytest.mark.parametrize("workers", ["16", "args.num_workers"])
def test_more_workers_than_cores_are_found(tmp_path: Path, workers: str) -> None:
    files = script(f"DataLoader(data, num_workers={workers}, persistent_workers=True)")
    [finding] = found("loader-workers", tmp_path, files)
    count = 6 if workers.startswith("args") else 16
    assert finding.facts == {"workers": Count(count), "cores": Count(4)}
    assert finding.certainty is Certainty.LIKELY
    assert "num_workers=3" in finding.fixes[0].text


def test_on_a_machine_without_an_accelerator_they_are_only_perhaps_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "has_accelerator", lambda: False)
    [finding] = found("loader-workers", tmp_path, script("DataLoader(data, num_workers=16)"))
    assert finding.certainty is Certainty.PERHAPS


def test_a_sampler_that_is_told_how_much_to_draw_need_not_begin_again(tmp_path: Path) -> None:
    sampler = "RandomSampler(data, replacement=True, num_samples=int(1e10))"
    files = script(f"DataLoader(data, sampler={sampler}, num_workers=4)")
    assert found("loader-restarts-workers", tmp_path, files) == []


def test_workers_are_kept_only_where_there_are_some(tmp_path: Path) -> None:
    files = script("DataLoader(data, num_workers=args.num_workers)")
    [finding] = found("loader-restarts-workers", tmp_path, files)
    assert "persistent_workers=args.num_workers > 0" in finding.fixes[0].text


def test_no_workers_for_pictures_are_likely_too_few(tmp_path: Path) -> None:
    imports = "\nfrom torchvision import transforms"
    files = script("DataLoader(data, batch_size=8, shuffle=True)", imports=imports)
    [finding] = found("loader-workers", tmp_path, files)
    assert finding.certainty is Certainty.LIKELY
    assert "shuffle=True, num_workers=3)" in finding.fixes[0].text


def test_no_workers_for_anything_else_are_perhaps_too_few(tmp_path: Path) -> None:
    [finding] = found("loader-workers", tmp_path, script("DataLoader(data, 8, True)"))
    assert finding.certainty is Certainty.PERHAPS


@pytest.mark.parametrize(
    "loader",
    [
        "DataLoader(data, num_workers=4)",
        "DataLoader(data, num_workers=workers())",
        "DataLoader(data, **options)",
        "DataLoader(torch.utils.data.TensorDataset(x, y), shuffle=True)",
    ],
)
def test_fitting_or_unknown_numbers_and_data_in_memory_are_left_alone(
    tmp_path: Path, loader: str
) -> None:
    assert found("loader-workers", tmp_path, script(loader)) == []


def test_a_script_that_only_evaluates_is_left_alone(tmp_path: Path) -> None:
    text = (
        "from torch.utils.data import DataLoader\n"
        'if __name__ == "__main__":\n    loader = DataLoader(data, num_workers=64)\n'
    )
    assert found("loader-workers", tmp_path, {**script("make()"), "measure.py": text}) == []


def test_workers_that_start_again_in_every_epoch_are_found(tmp_path: Path) -> None:
    loader = "DataLoader(\n    data,\n    num_workers=2,\n)"
    [finding] = found("loader-restarts-workers", tmp_path, script(loader))
    assert finding.facts == {"workers": Count(2)}
    assert finding.fixes[0].kind is FixKind.DIFF
    assert "+    persistent_workers=True,\n" in finding.fixes[0].text


def test_a_loader_given_to_a_function_in_a_loop_of_epochs_starts_again(tmp_path: Path) -> None:
    text = """
        from torch.utils.data import DataLoader

        def main():
            loader = DataLoader(data, num_workers=2)
            for epoch in range(9):
                train(model, loader)
        """
    [finding] = found("loader-restarts-workers", tmp_path, {"train.py": text})
    assert lines(finding) == [("train.py", 5)]


def test_a_loader_that_a_trainer_asks_for_starts_again(tmp_path: Path) -> None:
    text = """
        import lightning as L
        from torch.utils.data import DataLoader

        class Data(L.LightningDataModule):
            def train_dataloader(self):
                return DataLoader(self.data, num_workers=2)
        """
    assert len(found("loader-restarts-workers", tmp_path, {"data.py": text})) == 1
    once = {"data.py": text + "\n        L.Trainer(max_epochs=1)\n"}
    assert found("loader-restarts-workers", tmp_path, once) == []


@pytest.mark.parametrize(
    "loader",
    [
        "DataLoader(data, num_workers=2, persistent_workers=True)",
        "DataLoader(data, num_workers=2, persistent_workers=args.keep)",
        "DataLoader(data)",
        "DataLoader(data, num_workers=count)",
    ],
)
def test_workers_that_stay_and_none_at_all_are_left_alone(tmp_path: Path, loader: str) -> None:
    assert found("loader-restarts-workers", tmp_path, script(loader)) == []


def test_a_loader_that_every_epoch_makes_anew_is_left_alone(tmp_path: Path) -> None:
    text = """
        from torch.utils.data import DataLoader

        for epoch in range(9):
            loader = DataLoader(data, num_workers=2)
            train(model, loader)
        """
    assert found("loader-restarts-workers", tmp_path, {"train.py": text}) == []


def test_a_loader_that_is_gone_through_once_is_left_alone(tmp_path: Path) -> None:
    files = script("DataLoader(data, num_workers=2)")
    files["train.py"] = files["train.py"].replace("for epoch in range(10):", "if True:")
    assert found("loader-restarts-workers", tmp_path, files) == []


def test_copies_from_ordinary_memory_that_should_not_block_are_found(tmp_path: Path) -> None:
    files = script("DataLoader(data, pin_memory=False)", "batch.to(device, non_blocking=True)")
    [finding] = found("loader-not-pinned", tmp_path, files)
    assert finding.facts == {"copied": "train.py:13"}
    assert "pin_memory=True" in finding.fixes[0].text
    assert lines(finding) == [("train.py", 10), ("train.py", 13)]


@pytest.mark.parametrize(
    ("loader", "copy"),
    [
        ("DataLoader(data, pin_memory=True)", "batch.to(device, non_blocking=True)"),
        ("DataLoader(data, pin_memory=args.pin)", "batch.cuda(non_blocking=True)"),
        ("DataLoader(data)", "batch.to(device)"),
        ("DataLoader(data)", "batch.pin_memory().to(device, non_blocking=True)"),
    ],
)
def test_pinned_batches_and_blocking_copies_are_left_alone(
    tmp_path: Path, loader: str, copy: str
) -> None:
    assert found("loader-not-pinned", tmp_path, script(loader, copy)) == []
