"""Habits of training loops: what runs in every step is found, what runs now and then is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.doctor.model import Certainty, Count, FixKind
from tests.unit.doctor.rules.trying import found, lines

HEAD = """\
import gc
import time

import torch


"""
LOOP = (
    HEAD
    + """\
def train(model, loader, optimizer, device):
    total = 0.0
    for step, batch in enumerate(loader):
        loss = model(batch.to(device))
        loss.backward()
        optimizer.step()
        {body}
"""
)
SAVER = (
    HEAD
    + """\
def save_checkpoint(model, path):
    torch.save(model.state_dict(), path)
    {body}


def train(model, loader, optimizer, device):
    for step, batch in enumerate(loader):
        loss = model(batch.to(device))
        loss.backward()
        optimizer.step()
        if step % 1000 == 0:
            save_checkpoint(model, "last.pt")
"""
)
AFTER_THE_END = """\
    torch.save(model.state_dict(), "last.pt")
    torch.cuda.empty_cache()
"""


def loop(body: str) -> dict[str, str]:
    return {"train.py": LOOP.replace("{body}", body.replace("\n", "\n        "))}


def saver(body: str) -> dict[str, str]:
    return {"train.py": SAVER.replace("{body}", body.replace("\n", "\n    "))}


def test_a_collection_in_every_step_is_found(tmp_path: Path) -> None:
    [finding] = found("collects-garbage-often", tmp_path, loop("gc.collect()"))
    assert finding.facts == {"calls": Count(1)}
    assert lines(finding) == [("train.py", 13)]
    assert "-        gc.collect()" in finding.fixes[0].text


@pytest.mark.parametrize(
    "body",
    [
        "gc.collect()\ngc.collect()\ngc.collect()\ntorch.cuda.empty_cache()",
        "for _ in range(3):\n    gc.collect()\ntorch.cuda.empty_cache()",
        "gc.collect()\nif torch.cuda.is_available():\n    torch.cuda.empty_cache()\n"
        "gc.collect(); gc.collect()",
    ],
)
def test_three_collections_after_each_save_are_one_finding(tmp_path: Path, body: str) -> None:
    [finding] = found("collects-garbage-often", tmp_path, saver(body))
    assert finding.facts == {"calls": Count(3)}
    assert finding.fixes[0].kind is FixKind.DIFF
    assert any("empty_cache" in each.text for each in finding.evidence)  # type: ignore[union-attr]
    assert found("empties-cache", tmp_path, {}) == []


def test_collections_in_a_function_that_follows_a_save_are_found(tmp_path: Path) -> None:
    files = saver("clean_up()")
    files["train.py"] += "\n\ndef clean_up():\n    gc.collect()\n    gc.collect()\n"
    [finding] = found("collects-garbage-often", tmp_path, files)
    assert finding.facts == {"calls": Count(2)}


@pytest.mark.parametrize(
    "files",
    [
        saver("gc.collect()"),
        loop("gc.collect(1)"),
        loop("if step % 5000 == 0:\n    gc.collect()"),
        loop("if step == 0:\n    gc.collect()\nelif step % 99 == 0:\n    gc.collect()"),
        {"convert.py": HEAD + "for part in range(9):\n    gc.collect()\n    gc.collect()\n"},
        {"tests/test_train.py": loop("gc.collect()")["train.py"]},
    ],
)
def test_rare_collections_and_other_scripts_are_left_alone(
    tmp_path: Path, files: dict[str, str]
) -> None:
    assert found("collects-garbage-often", tmp_path, files) == []


def test_an_emptied_cache_in_every_step_is_found_behind_a_question_for_the_device(
    tmp_path: Path,
) -> None:
    body = "if torch.cuda.is_available():\n    torch.cuda.empty_cache()"
    [finding] = found("empties-cache", tmp_path, loop(body))
    assert finding.certainty is Certainty.SURE
    assert "+            pass" in finding.fixes[0].text


def test_an_emptied_cache_after_each_save_is_found(tmp_path: Path) -> None:
    [finding] = found("empties-cache", tmp_path, saver("torch.cuda.empty_cache()"))
    assert finding.certainty is Certainty.LIKELY
    assert lines(finding) == [("train.py", 9)]


@pytest.mark.parametrize(
    "files",
    [
        loop("if step % 100 == 0:\n    torch.cuda.empty_cache()"),
        {"train.py": loop("pass")["train.py"] + AFTER_THE_END},
        {"train.py": "import FSDP\n" + saver("torch.cuda.empty_cache()")["train.py"]},
    ],
)
def test_an_emptied_cache_now_and_then_or_after_the_end_is_left_alone(
    tmp_path: Path, files: dict[str, str]
) -> None:
    assert found("empties-cache", tmp_path, files) == []


def test_a_wait_in_every_step_is_found(tmp_path: Path) -> None:
    [finding] = found("synchronizes-every-step", tmp_path, loop("torch.cuda.synchronize()"))
    assert finding.facts == {"code": "torch.cuda.synchronize()"}
    assert "-        torch.cuda.synchronize()" in finding.fixes[0].text


def test_a_wait_under_another_name_is_found(tmp_path: Path) -> None:
    files = loop("wait()")
    files["train.py"] += "\n\nwait = torch.cuda.synchronize if True else (lambda: None)\n"
    assert len(found("synchronizes-every-step", tmp_path, files)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "torch.cuda.synchronize()\ntook = time.time() - total",
        "if step % 10 == 0:\n    torch.cuda.synchronize()",
    ],
)
def test_a_wait_beside_a_clock_or_now_and_then_is_left_alone(tmp_path: Path, body: str) -> None:
    assert found("synchronizes-every-step", tmp_path, loop(body)) == []


def test_a_running_mean_is_told_to_stay_on_the_device(tmp_path: Path) -> None:
    [finding] = found("waits-for-values-every-step", tmp_path, loop("total += loss.item()"))
    assert finding.facts == {"code": "loss.item()"}
    assert "+        total += loss.detach()" in finding.fixes[0].text


@pytest.mark.parametrize(
    "body",
    [
        'print(f"loss {loss.item():.3f}")',
        "values = {k: v.item() for k, v in {'a': loss}.items()}",
        "if loss.item() > 9:\n    raise ValueError",
    ],
)
def test_a_value_read_in_every_step_is_found(tmp_path: Path, body: str) -> None:
    assert len(found("waits-for-values-every-step", tmp_path, loop(body))) == 1


@pytest.mark.parametrize(
    "body",
    [
        "if step % 10 == 0:\n    print(loss.item())",
        "if step % 10:\n    continue\nprint(loss.item())",
        "total = loss.item() if step % 10 == 0 else total",
        "total = step.item()",
        "torch.cuda.synchronize()\ntook = time.time()\ntotal += loss.item()",
        "def later():\n    return loss.item()",
    ],
)
def test_values_read_now_and_then_or_of_no_tensor_are_left_alone(tmp_path: Path, body: str) -> None:
    assert found("waits-for-values-every-step", tmp_path, loop(body)) == []


def test_a_step_in_functions_of_its_own_is_followed(tmp_path: Path) -> None:
    text = """
        class Trainer:
            def train(self):
                while self.step < 10:
                    self.train_step()

            def train_step(self):
                loss = self.forward_backward()
                self.optimizers.step()
                self.total += loss.item()
                self.log(loss)

            def forward_backward(self):
                loss = self.model(self.batch.to(self.device))
                loss.backward()
                return loss

            def log(self, loss):
                if self.step % 10:
                    return
                print(loss.item())
        """
    [finding] = found("waits-for-values-every-step", tmp_path, {"trainer.py": text})
    assert lines(finding) == [("trainer.py", 10)]


def test_a_loop_over_epochs_is_no_step_loop(tmp_path: Path) -> None:
    text = """
        import gc

        def train_one_epoch(model, loader, optimizer):
            for batch in loader:
                model(batch.cuda()).backward()
                optimizer.step()

        for epoch in range(3):
            train_one_epoch(model, loader, optimizer)
            gc.collect()
        """
    assert found("collects-garbage-often", tmp_path, {"train.py": text}) == []


def test_a_hook_that_a_trainer_calls_in_every_step_counts(tmp_path: Path) -> None:
    text = """
        import lightning as L
        import torch

        class Model(L.LightningModule):
            def training_step(self, batch, index):
                torch.cuda.empty_cache()
                return self(batch)

            def on_train_epoch_end(self):
                torch.cuda.empty_cache()
        """
    [finding] = found("empties-cache", tmp_path, {"model.py": text})
    assert lines(finding) == [("model.py", 7)]


def test_examples_count_only_where_there_is_no_other_trainer(tmp_path: Path) -> None:
    example = {"examples/train.py": loop("gc.collect()")["train.py"]}
    assert len(found("collects-garbage-often", tmp_path, example)) == 1
    assert found("collects-garbage-often", tmp_path, {**example, **loop("pass")}) == []


def test_a_reading_inside_a_longer_statement_is_put_under_a_condition_with_all_of_it(
    tmp_path: Path,
) -> None:
    body = "values = [\n    ('train/loss', loss.item()),\n]"
    [finding] = found("waits-for-values-every-step", tmp_path, loop(body))
    fix = finding.fixes[0].text
    assert fix == "if step % 50 == 0:\n    values = [\n        ('train/loss', loss.item()),\n    ]"


def test_a_list_of_values_stays_one_of_numbers(tmp_path: Path) -> None:
    body = "ratio = loss.exp()\nkept += [(ratio > 1.2).float().mean().item()]"
    [finding] = found("waits-for-values-every-step", tmp_path, loop(body))
    assert finding.fixes[0].kind is FixKind.LINE
