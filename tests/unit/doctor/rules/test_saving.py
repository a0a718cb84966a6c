"""Saving under the final name, in the training thread, and modules as a whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from instride.doctor.model import Certainty, FixKind
from tests.unit.doctor.rules.training import HEAD, in_loop
from tests.unit.doctor.rules.trying import found, line_with, lines, write

SAVE = 'torch.save({"model": model.state_dict()}, os.path.join(out_dir, "ckpt.pt"))'
HELPER = """\
def save_checkpoint(state, path):
    torch.save(state, path)


"""


def test_a_save_to_the_final_name_is_found(tmp_path: Path) -> None:
    text = in_loop(SAVE)
    [finding] = found("save-in-place", tmp_path, {"train.py": text})
    assert finding.certainty is Certainty.SURE
    assert lines(finding) == [("train.py", line_with(text, "torch.save"))]
    assert finding.fixes[0].kind is FixKind.DIFF
    assert "os.replace(" in finding.fixes[0].text


IN_PLACE = {
    "an alias of torch": in_loop(SAVE)
    .replace("import torch", "import torch as T")
    .replace("torch.save", "T.save"),
    "save imported by name": in_loop(SAVE)
    .replace("import torch\n", "import torch\nfrom torch import save\n")
    .replace("torch.save", "save"),
    "a helper function": in_loop("save_checkpoint(model.state_dict(), 'last.pt')", HELPER),
    "a helper that passes everything on": in_loop(
        "save_on_master(model.state_dict(), 'last.pt')",
        "def save_on_master(*args):\n    if rank == 0:\n        torch.save(*args)\n\n\n",
    ),
    "an open file": in_loop(
        "with open('last.pt', 'wb') as f:\n    torch.save(model.state_dict(), f)"
    ),
    "a thread": in_loop(
        "state = copy.deepcopy(model.state_dict())\n"
        "threading.Thread(target=save_checkpoint, args=(state, 'last.pt')).start()",
        HELPER,
    ),
    "torch.save given to a thread": in_loop(
        "state = copy.deepcopy(model.state_dict())\n"
        "threading.Thread(target=torch.save, args=(state, 'last.pt')).start()"
    ),
    "a rename of something else": in_loop(
        SAVE + "\nos.replace(os.path.join(out_dir, 'log.new'), os.path.join(out_dir, 'log.txt'))"
    ),
    "a loss scaler that takes the whole step": in_loop(SAVE).replace(
        "        loss.backward()\n        optimizer.step()\n",
        "        loss_scaler(loss, optimizer, parameters=model.parameters())\n",
    ),
    "states in a dictionary by any name": in_loop(
        "data = {'step': step, 'model': unwrap(model).state_dict()}\ntorch.save(data, 'last.pt')"
    ),
    "a hook of a trainer": HEAD
    + """\
class Keep(Callback):
    def on_train_epoch_end(self, trainer, module):
        torch.save(module.state_dict(), "last.pt")
""",
}


@pytest.mark.parametrize("text", IN_PLACE.values(), ids=IN_PLACE.keys())
def test_a_save_to_the_final_name_is_seen_through(tmp_path: Path, text: str) -> None:
    assert len(found("save-in-place", tmp_path, {"train.py": text})) == 1


def test_a_method_of_another_file_that_only_its_name_tells_is_less_than_sure(
    tmp_path: Path,
) -> None:
    keeper = HEAD + "class Keeper:\n    def keep_checkpoint(self, state):\n"
    files = {
        "train.py": in_loop("keeper.keep_checkpoint(model.state_dict())"),
        "keeper.py": keeper + "        torch.save(state, 'last.pt')\n",
    }
    [finding] = found("save-in-place", tmp_path, files)
    assert finding.certainty is Certainty.LIKELY
    imported = in_loop("keep_checkpoint(model.state_dict())")
    files = {
        "train.py": f"from keeper import keep_checkpoint\n{imported}",
        "keeper.py": HEAD + "def keep_checkpoint(state):\n    torch.save(state, 'last.pt')\n",
    }
    [finding] = found("save-in-place", tmp_path, files)
    assert finding.certainty is Certainty.SURE


UNTOUCHED = {
    "a file that something else opened": "with Path('a.pt').open('wb') as f:\n"
    "    torch.save(model.state_dict(), f)",
    "arguments that are passed on": "save(model.state_dict(), 'a.pt')",
}


@pytest.mark.parametrize("rule", ["save-in-place", "save-blocks-training"])
@pytest.mark.parametrize("body", UNTOUCHED.values(), ids=UNTOUCHED.keys())
def test_where_an_edit_would_break_the_code_the_fix_is_a_pattern(
    tmp_path: Path, body: str, rule: str
) -> None:
    text = in_loop(body, "def save(*args):\n    torch.save(*args)\n\n\n")
    [finding] = found(rule, tmp_path, {"train.py": text})
    assert finding.fixes[0].kind is FixKind.LINE
    assert "*" not in str(finding.facts)


NOT_IN_PLACE = {
    "a temporary name, then a rename": in_loop(
        "tmp = 'ckpt.pt.tmp'\ntorch.save(model.state_dict(), tmp)\nos.replace(tmp, 'ckpt.pt')"
    ),
    "a rename of a path without a telling name": in_loop(
        "path = Path(out_dir) / 'new'\ntorch.save(model.state_dict(), path)\n"
        "path.rename(Path(out_dir) / 'ckpt.pt')"
    ),
    "a helper that callers give a temporary name": in_loop(
        "save_checkpoint(model.state_dict(), 'ckpt.tmp')\nos.rename('ckpt.tmp', 'ckpt.pt')", HELPER
    ),
    "a folder that is renamed": in_loop(
        "torch.save(model.state_dict(), os.path.join(out_dir, 'model.pt'))\n"
        "shutil.move(out_dir, out_dir + '-whole')"
    ),
    "a function that says that it is atomic": in_loop(
        "atomic_save(model.state_dict(), 'a.pt')",
        "def atomic_save(state, path):\n"
        "    with whole(path) as f:\n        torch.save(state, f)\n\n\n",
    ),
    "a buffer": in_loop("buffer = io.BytesIO()\ntorch.save(model.state_dict(), buffer)"),
    "an object store": in_loop(
        "with fsspec.open('s3://b/a.pt', 'wb') as f:\n    torch.save(model.state_dict(), f)"
    ),
    "results": in_loop("torch.save(predictions, os.path.join(out_dir, 'predictions.pt'))"),
    "the state of a data loader": in_loop("torch.save(loader_state, 'data.pt')"),
    "metadata in a function that saves": in_loop(
        "save_checkpoint(metadata)",
        "def save_checkpoint(metadata):\n    torch.save(metadata, 'meta.pt')\n\n\n",
    ),
    "a save after the loop": in_loop("pass", after=SAVE),
    "a save on the way out": in_loop(f"if stopped:\n    {SAVE}\n    break"),
    "a loop that does not train": HEAD
    + "for name in names:\n    torch.save(tokenize(name).state_dict(), f'{name}.pt')\n",
    "one whole training for each seed": HEAD
    + "def train(model):\n    for b in data:\n        model(b).backward()\n\n\n"
    + "for seed in range(3):\n    train(model)\n    torch.save(model.state_dict(), 'model.pt')\n",
    "a trainer's own save": in_loop("model.save_pretrained(out_dir)\naccelerator.save_state()"),
    "a conversion": HEAD + "torch.save(convert(torch.load('a.bin')), 'model.pt')\n",
}


@pytest.mark.parametrize("text", NOT_IN_PLACE.values(), ids=NOT_IN_PLACE.keys())
def test_what_is_no_save_in_place_is_left_alone(tmp_path: Path, text: str) -> None:
    assert not found("save-in-place", tmp_path, {"train.py": text})


def test_a_save_in_another_file_is_found_where_it_is(tmp_path: Path) -> None:
    files = {
        "train.py": in_loop(
            "checkpoints.store(model, 'a.pt')", "from lib import checkpoints\n\n\n"
        ),
        "lib/checkpoints.py": "import torch\n\n\ndef store(model, path):\n"
        "    torch.save(model.state_dict(), path)\n",
    }
    [finding] = found("save-in-place", tmp_path, files)
    assert lines(finding) == [("lib/checkpoints.py", 5)]


def test_a_method_that_the_loop_calls_is_found(tmp_path: Path) -> None:
    files = {
        "train.py": in_loop("keeper.keep_model(model)"),
        "keeping.py": "import torch\n\n\nclass Keeper:\n    def keep_model(self, model):\n"
        "        torch.save(model.state_dict(), self.path)\n",
    }
    [finding] = found("save-in-place", tmp_path, files)
    assert lines(finding) == [("keeping.py", 6)]


def test_tests_and_examples_of_a_trainer_are_left_alone(tmp_path: Path) -> None:
    files = {
        "train.py": in_loop("pass"),
        "tests/test_train.py": in_loop(SAVE),
        "examples/small.py": in_loop(SAVE),
    }
    assert not found("save-in-place", tmp_path, files)


def test_examples_count_where_there_is_nothing_else(tmp_path: Path) -> None:
    [finding] = found("save-in-place", tmp_path, {"examples/small.py": in_loop(SAVE)})
    assert lines(finding)[0][0] == "examples/small.py"


def test_a_file_with_other_line_ends_gets_a_diff_that_applies(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(in_loop(SAVE).replace("\n", "\r\n").encode())
    [finding] = found("save-in-place", tmp_path, {})
    assert finding.fixes[0].kind is FixKind.DIFF


def test_a_file_that_is_not_utf_8_gets_lines_instead_of_a_diff(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_bytes(b"# \xe9t\xe9\n" + in_loop(SAVE).encode())
    [finding] = found("save-in-place", tmp_path, {})
    assert finding.fixes[0].kind is FixKind.LINE


def test_a_save_in_the_loop_blocks_training(tmp_path: Path) -> None:
    text = in_loop(SAVE)
    [finding] = found("save-blocks-training", tmp_path, {"train.py": text})
    loop = line_with(text, "for step")
    assert lines(finding) == [("train.py", line_with(text, "torch.save")), ("train.py", loop)]
    assert finding.facts == {"loop": f"train.py:{loop}"}
    assert finding.fixes[0].kind is FixKind.DIFF


def test_a_save_to_a_temporary_name_blocks_as_well(tmp_path: Path) -> None:
    text = in_loop(
        "torch.save(model.state_dict(), 'a.tmp')\npath = 'a.tmp'\nos.replace(path, 'a.pt')"
    )
    assert len(found("save-blocks-training", tmp_path, {"train.py": text})) == 1


def test_a_file_that_is_used_at_once_is_not_written_behind(tmp_path: Path) -> None:
    text = in_loop("path = f'{step}.pt'\ntorch.save(model.state_dict(), path)\nupload(path)")
    [finding] = found("save-blocks-training", tmp_path, {"train.py": text})
    assert finding.fixes[0].kind is FixKind.LINE


NOT_BLOCKING = {
    "a thread": IN_PLACE["a thread"],
    "torch.save given to a thread": IN_PLACE["torch.save given to a thread"],
    "a lambda in a pool": in_loop(
        "state = copy.deepcopy(model.state_dict())\npool.submit(lambda: torch.save(state, 'a.pt'))"
    ),
    "a function inside, given to a pool": in_loop(
        "state = copy.deepcopy(model.state_dict())\n"
        "def write():\n    torch.save(state, 'a.pt')\npool.submit(write)"
    ),
    "memory": NOT_IN_PLACE["a buffer"],
    "after the loop": NOT_IN_PLACE["a save after the loop"],
    "only when something fails": in_loop(
        f"try:\n    check()\nexcept ValueError:\n    {SAVE}\n    raise"
    ),
}


@pytest.mark.parametrize("text", NOT_BLOCKING.values(), ids=NOT_BLOCKING.keys())
def test_what_does_not_block_is_left_alone(tmp_path: Path, text: str) -> None:
    assert not found("save-blocks-training", tmp_path, {"train.py": text})


@pytest.mark.parametrize("thing", ["model", "self.model", "net"])
def test_a_pickled_module_is_found(tmp_path: Path, thing: str) -> None:
    text = HEAD + f"{thing}.eval()\ntorch.save({thing}, 'whole.pt')\n"
    [finding] = found("module-pickled", tmp_path, {"export.py": text})
    assert f"+torch.save({thing}.state_dict(), 'whole.pt')" in finding.fixes[0].text


@pytest.mark.parametrize(
    "code",
    [
        "model.eval()\ntorch.save(model.state_dict(), 'a.pt')\n",
        "torch.save(model, 'a.pt')\n",
        "vectors.eval()\ntorch.save(vectors, 'a.pt')\n",
    ],
)
def test_what_may_be_no_module_is_left_alone(tmp_path: Path, code: str) -> None:
    assert not found("module-pickled", tmp_path, {"export.py": HEAD + code})


@pytest.mark.torch
@pytest.mark.parametrize("rule", ["save-in-place", "save-blocks-training"])
def test_a_program_with_the_fix_saves_what_it_saved_before(tmp_path: Path, rule: str) -> None:
    torch = pytest.importorskip("torch", reason="what is saved is loaded again")
    text = in_loop(SAVE) + (
        "\n\nmodel = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(model.parameters())\n"
        "train(model, optimizer, [torch.ones(1, 2)], '.')\n"
    )
    [finding] = found(rule, tmp_path, {"train.py": text})
    write(tmp_path, {"fix.diff": finding.fixes[0].text})
    subprocess.run(["git", "apply", "fix.diff"], cwd=tmp_path, check=True)
    subprocess.run([sys.executable, "train.py"], cwd=tmp_path, check=True)
    assert torch.load(tmp_path / "ckpt.pt", weights_only=True)["model"]["weight"].shape == (2, 2)
    assert not list(tmp_path.glob("*.tmp"))
