"""Two owners of old checkpoints, and deleting before the new one is written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from instride.doctor.model import Certainty, FixKind
from tests.unit.doctor.rules.training import in_loop
from tests.unit.doctor.rules.trying import found, line_with, lines, write

CLEANER = """\
def clean_up(folder, keep=2):
    checkpoints = sorted(Path(folder).glob("step_*.pt"))
    for old in checkpoints[:-keep]:
        old.unlink()


"""
SAVE = "torch.save(model.state_dict(), f'{out_dir}/step_{step}.pt')"
TRAIN = in_loop(SAVE + "\nclean_up(out_dir)", CLEANER)
DAEMON = """\
[watcher]
pattern = "step_*.pt"

[cleanup]
keep_latest = 2
"""


def test_a_function_beside_a_tools_setting_is_found(tmp_path: Path) -> None:
    [finding] = found("two-cleaners", tmp_path, {"train.py": TRAIN, "daemon.toml": DAEMON})
    assert lines(finding) == [
        ("train.py", line_with(TRAIN, "def clean_up")),
        ("daemon.toml", line_with(DAEMON, "keep_latest")),
    ]
    assert finding.facts == {"one": "clean_up()", "other": "cleanup.keep_latest = 2"}
    assert "-            clean_up(out_dir)" in finding.fixes[0].text


SECOND_OWNERS = {
    "an option of a trainer": {"args.py": "args = TrainingArguments(save_total_limit=3)\n"},
    "an option in a configuration": {"config.yaml": "save_total_limit: 3\n"},
    "a script that trains and deletes by age": {
        "run.sh": "find out -name '*.pt' -mtime +2 -delete\npython train.py\n"
    },
    "a script that deletes by number": {
        "run.sh": "ls -t out/step_*.pt | tail -n +3 | xargs rm -f\npython train.py\n"
    },
}


@pytest.mark.parametrize("files", SECOND_OWNERS.values(), ids=SECOND_OWNERS.keys())
def test_a_second_owner_of_another_kind_is_found(tmp_path: Path, files: dict[str, str]) -> None:
    [finding] = found("two-cleaners", tmp_path, {"train.py": TRAIN, **files})
    assert finding.certainty is Certainty.LIKELY
    assert finding.fixes[0].kind is FixKind.DIFF
    assert lines(finding)[1][0] in files


def test_a_script_that_somebody_may_run_is_only_perhaps_a_second_owner(tmp_path: Path) -> None:
    files = {"train.py": TRAIN, "tidy.sh": "find out -name '*.pt' -mtime +2 -delete\n"}
    [finding] = found("two-cleaners", tmp_path, files)
    assert finding.certainty is Certainty.PERHAPS


ONE_OWNER = {
    "the function alone": {"train.py": TRAIN},
    "a setting that the code reads itself": {
        "train.py": TRAIN + "\nkeep = config['keep_latest']\n",
        "daemon.toml": DAEMON,
    },
    "a tool that works on other files": {
        "train.py": TRAIN,
        "logs.toml": '[watcher]\npattern = "*.log"\n\n[cleanup]\nkeep_latest = 2\n',
    },
    "an option that is off": {"train.py": TRAIN, "config.yaml": "save_total_limit: null\n"},
    "a target that somebody calls to clean up": {
        "train.py": TRAIN,
        "Makefile": "clean:\n\tfind out -name '*.pt' -mtime +2 -delete\n",
    },
    "a function that training does not reach": {
        "tidy.py": "from pathlib import Path\n\n\n" + CLEANER,
        "daemon.toml": DAEMON,
    },
    "a function that deletes other things": {
        "train.py": TRAIN.replace("step_*.pt", "*.log").replace("checkpoints", "logs"),
        "daemon.toml": DAEMON,
    },
}


@pytest.mark.parametrize("files", ONE_OWNER.values(), ids=ONE_OWNER.keys())
def test_one_owner_is_left_alone(tmp_path: Path, files: dict[str, str]) -> None:
    assert not found("two-cleaners", tmp_path, files)


def test_an_old_checkpoint_deleted_before_the_save_is_found(tmp_path: Path) -> None:
    text = in_loop(f"if last_checkpoint:\n    os.remove(last_checkpoint)\n{SAVE}")
    [finding] = found("deletes-before-saving", tmp_path, {"train.py": text})
    assert lines(finding) == [
        ("train.py", line_with(text, "os.remove")),
        ("train.py", line_with(text, "torch.save")),
    ]
    assert finding.fixes[0].kind is FixKind.DIFF


def test_a_cleaning_function_called_before_the_save_is_found(tmp_path: Path) -> None:
    text = in_loop("clean_up(out_dir)\n" + SAVE, CLEANER)
    [finding] = found("deletes-before-saving", tmp_path, {"train.py": text})
    assert finding.facts == {"delete": "clean_up(out_dir)"}
    write(tmp_path, {"fix.diff": finding.fixes[0].text})
    subprocess.run(["git", "apply", "fix.diff"], cwd=tmp_path, check=True)
    fixed = (tmp_path / "train.py").read_text(encoding="utf-8")
    assert line_with(fixed, "torch.save") < line_with(fixed, "            clean_up(")


def test_a_file_deleted_to_be_written_again_is_found(tmp_path: Path) -> None:
    body = "os.remove('last.pt')\ntorch.save(model.state_dict(), 'last.pt')"
    [finding] = found("deletes-before-saving", tmp_path, {"train.py": in_loop(body)})
    assert "+" not in finding.fixes[0].text.replace("+++", "").replace("@@ -", "").split("@@")[-1]


def test_a_save_of_a_trainer_counts(tmp_path: Path) -> None:
    body = "shutil.rmtree(old_checkpoint)\naccelerator.save_state(out_dir)"
    assert len(found("deletes-before-saving", tmp_path, {"train.py": in_loop(body)})) == 1


IN_ORDER = {
    "after the save": f"{SAVE}\nos.remove(last_checkpoint)",
    "a temporary file": f"os.remove('step.pt.tmp')\n{SAVE}",
    "logs": f"os.remove('old.log')\n{SAVE}",
    "after a save of another kind": (
        "torch.save(model.state_dict(), 'a.tmp')\nos.remove(last_checkpoint)\n" + SAVE
    ),
    "in another case": f"if done:\n    os.remove(last_checkpoint)\nelse:\n    {SAVE}",
}


@pytest.mark.parametrize("body", IN_ORDER.values(), ids=IN_ORDER.keys())
def test_deleting_in_order_is_left_alone(tmp_path: Path, body: str) -> None:
    assert not found("deletes-before-saving", tmp_path, {"train.py": in_loop(body)})


def test_a_folder_emptied_before_training_is_left_alone(tmp_path: Path) -> None:
    before = "shutil.rmtree('checkpoints', ignore_errors=True)\n\n\n"
    assert not found("deletes-before-saving", tmp_path, {"train.py": in_loop(SAVE, before)})
