"""What is offered instead of a save that training waits for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from instride.doctor.model import Fix, FixKind
from instride.doctor.rules import background_fixes
from tests.unit.doctor.rules.training import in_loop
from tests.unit.doctor.rules.trying import found, write

SAVE = 'torch.save({"model": model.state_dict()}, os.path.join(out_dir, "ckpt.pt"))'


def fix_of(root: Path, text: str) -> Fix:
    [finding] = found("save-blocks-training", root, {"train.py": text})
    [fix] = finding.fixes
    return fix


@pytest.fixture
def _nothing_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instride.system.background.is_possible", lambda: False)


@pytest.fixture(autouse=True)
def _all_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instride.system.background.is_possible", lambda: True)


def added(fix: Fix) -> list[str]:
    return [line[1:].strip() for line in fix.text.splitlines()[2:] if line.startswith("+")]


def test_our_own_save_is_offered_in_two_lines(tmp_path: Path) -> None:
    fix = fix_of(tmp_path, in_loop(SAVE))
    assert fix.kind is FixKind.DIFF
    assert added(fix) == ["import instride", SAVE.replace("torch.save", "instride.save")]


def test_where_instride_is_imported_it_is_not_imported_again(tmp_path: Path) -> None:
    fix = fix_of(tmp_path, in_loop(SAVE, "import instride\n"))
    assert added(fix) == [SAVE.replace("torch.save", "instride.save")]


@pytest.mark.usefixtures("_nothing_in_the_background")
def test_a_thread_is_offered_where_instride_would_keep_training_waiting(tmp_path: Path) -> None:
    fix = fix_of(tmp_path, in_loop(SAVE))
    assert fix.kind is FixKind.DIFF
    assert "threading.Thread(" in fix.text
    assert "instride" not in fix.text


def test_what_goes_to_a_store_is_left_to_a_thread(tmp_path: Path) -> None:
    body = "with fsspec.open('s3://b/a.pt', 'wb') as f:\n    torch.save(model.state_dict(), f)"
    fix = fix_of(tmp_path, in_loop(body))
    assert "instride" not in fix.text


PATTERNS = {
    "the file is used at once": "path = f'{step}.pt'\ntorch.save(model.state_dict(), path)\n"
    "upload(path)",
    "the file goes along with a run": "path = f'{step}.pt'\ntorch.save(model.state_dict(), path)\n"
    "run.log_artifact(path)",
    "a file that is open": "with open('a.pt', 'wb') as f:\n    torch.save(model.state_dict(), f)",
    "a file that may be open": "torch.save(model.state_dict(), f)",
    "options that are torch's": "torch.save(model.state_dict(), 'a.pt', pickle_protocol=4)",
    "arguments by name": "torch.save(obj=model.state_dict(), f='a.pt')",
}


@pytest.mark.parametrize("body", PATTERNS.values(), ids=PATTERNS.keys())
def test_where_another_name_is_not_enough_the_fix_is_a_pattern(tmp_path: Path, body: str) -> None:
    fix = fix_of(tmp_path, in_loop(body))
    assert fix.kind is FixKind.LINE
    assert fix.text == background_fixes.BY_INSTRIDE


def test_a_file_that_is_loaded_later_has_to_be_waited_for(tmp_path: Path) -> None:
    save = "torch.save(model.state_dict(), 'best.pt')"
    later = "model.load_state_dict(torch.load('best.pt'))\n"
    assert fix_of(tmp_path, in_loop(save, after=later)).kind is FixKind.LINE
    elsewhere = f"def evaluate(model):\n    {later}\n\n"
    assert fix_of(tmp_path, in_loop(save, elsewhere)).kind is FixKind.LINE


def test_a_file_that_is_loaded_before_is_one_of_another_run(tmp_path: Path) -> None:
    save = "torch.save(model.state_dict(), 'last.pt')"
    text = in_loop(save).replace(
        "    for step", "    model.load_state_dict(torch.load('last.pt'))\n    for step"
    )
    assert fix_of(tmp_path, text).kind is FixKind.DIFF


FALLBACKS = {
    "where instride is missing": "if instride is None:\n    {save}\nelse:\n"
    "    instride.save(model.state_dict(), 'a.pt')",
    "where it failed to import": "try:\n    import instride\n"
    "    instride.save(model.state_dict(), 'a.pt')\nexcept ImportError:\n    {save}",
    "where there is no Saver": "saver = instride.Saver('out', model=model)\nif saver:\n"
    "    saver.save(step)\nelse:\n    {save}",
}


@pytest.mark.parametrize("rule", ["save-blocks-training", "save-in-place"])
@pytest.mark.parametrize("body", FALLBACKS.values(), ids=FALLBACKS.keys())
def test_what_only_runs_without_instride_is_left_alone(
    tmp_path: Path, body: str, rule: str
) -> None:
    text = in_loop(body.format(save=SAVE), "import instride\n")
    assert not found(rule, tmp_path, {"train.py": text})


def test_a_save_beside_one_of_instride_is_not_left_alone(tmp_path: Path) -> None:
    body = f"if step:\n    instride.save(model.state_dict(), 'a.pt')\n    {SAVE}"
    text = in_loop(body, "import instride\n")
    assert found("save-blocks-training", tmp_path, {"train.py": text})


def test_a_saver_of_instride_is_not_taken_for_a_class_of_the_repository(tmp_path: Path) -> None:
    files = {
        "train.py": in_loop(
            "saver.save(step)", "import instride\n\nsaver = instride.Saver('out', model=model)\n"
        ),
        "old.py": "import torch\n\n\nclass SaverOfOld:\n    def save(self, step):\n"
        "        torch.save(self.model.state_dict(), 'old.pt')\n",
    }
    assert not found("save-blocks-training", tmp_path, files)
    other = files["train.py"].replace("instride.Saver(", "make_saver(")
    assert found("save-blocks-training", tmp_path, {**files, "train.py": other})


@pytest.mark.torch
@pytest.mark.usefixtures("_nothing_in_the_background")
def test_a_program_with_the_thread_saves_what_it_saved_before(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="what is saved is loaded again")
    text = in_loop(SAVE) + (
        "\n\nmodel = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters())\n"
        "train(model, optimizer, [torch.ones(1, 2)], '.')\n"
    )
    write(tmp_path, {"fix.diff": fix_of(tmp_path, text).text})
    subprocess.run(["git", "apply", "fix.diff"], cwd=tmp_path, check=True)
    subprocess.run([sys.executable, "train.py"], cwd=tmp_path, check=True)
    assert torch.load(tmp_path / "ckpt.pt", weights_only=True)["model"]["weight"].shape == (2, 2)
