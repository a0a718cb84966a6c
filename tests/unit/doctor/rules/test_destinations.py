"""Where the saves of a repository go, as far as they say so."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

import pytest

from instride.doctor.checkpoint_paths import checkpoint_paths
from instride.doctor.rules.destinations import destinations
from tests.unit.doctor.rules.trying import write

PROGRAM = """\
import os
from pathlib import Path

import instride
import torch
from instride import Saver as Keeper

{before}
def train(model, optimizer, batches, args, name):
    for step, batch in enumerate(batches):
        model(batch).mean().backward()
        optimizer.step()
        if step % 100 == 0:
{body}
"""


def program(body: str = "pass", before: str = "") -> str:
    return PROGRAM.format(before=before, body=textwrap.indent(body, " " * 12))


def save_to(path: str, before: str = "") -> str:
    return program(f"torch.save({{'model': model.state_dict()}}, {path})", before)


def found(root: Path, files: dict[str, str]) -> list[str]:
    repository = write(root, files)
    paths = checkpoint_paths(repository, destinations(repository))
    return [each.relative_to(root).as_posix() for each in paths]


HELPER = "def keep(state, {parameters}):\n    torch.save(state, {path})\n"
TOLD = {
    "a Saver": program(before="saver = instride.Saver('out', model=model)"),
    "a Saver by another name": program(before="saver = Keeper('out', model=model)"),
    "a Saver, by the name of its argument": program(
        before="saver = Keeper(model=model, directory='out')"
    ),
    "a Saver in a variable directory": program(
        before="root = Path('.')\nsaver = Keeper(root / 'out', model=model)"
    ),
    "instride.save": program("instride.save(model, 'out/model.pt')"),
    "a plain path": save_to("'out/ckpt.pt'"),
    "a joined path": save_to("os.path.join(folder, 'ckpt.pt')", "folder = 'out'"),
    "a path with the step in its name": save_to("f'{folder}/ckpt_{step}.pt'", "folder = 'out'"),
    "a path of pathlib": save_to("folder / f'{step:06d}.pt'", "folder = Path('out')"),
    "texts put together": save_to("folder + '/' + 'ckpt.pt'", "folder = 'out'"),
    "the old ways to format": save_to("'out/%d.pt' % step"),
    "format()": save_to("'out/{:06d}.pt'.format(step)"),
    "joinpath": save_to("Path('out').joinpath('a.pt')"),
    "an open file": program(
        "with open('out/a.pt', 'wb') as f:\n    torch.save(model.state_dict(), f)"
    ),
    "an option": save_to(
        "os.path.join(args.run_folder, 'a.pt')",
        "parser.add_argument('--run-folder', default='out')\n",
    ),
    "a field": save_to("args.folder + '/a.pt'", "class Config:\n    folder: str = 'out'\n"),
    "the surroundings, by default": save_to("f'{x}/a.pt'", "x = os.environ.get('X', 'out')"),
    "beside the program": save_to("Path(__file__).resolve().parent / 'out' / 'a.pt'"),
    "a name that is worked out first": save_to(
        "os.path.join('out', name)", "name = 'best_%s.pt' % kind"
    ).replace("args, name", "args"),
    "a helper": program(
        "keep(model.state_dict(), 'out')",
        HELPER.format(parameters="folder", path="os.path.join(folder, 'a.pt')"),
    ),
    "a helper with a default": program(
        "keep(model.state_dict())", HELPER.format(parameters="path='out/a.pt'", path="path")
    ),
    "the parameter of a helper, not a global of its name": program(
        "keep(model.state_dict(), 'out')",
        "folder = 'elsewhere'\n" + HELPER.format(parameters="folder", path="folder + '/a.pt'"),
    ),
    "the Trainer of transformers": "args = TrainingArguments(output_dir='out', save_steps=5)\n",
    "the same, by position": "args = Seq2SeqTrainingArguments('out')\n",
    "the trainers of trl": "args = SFTConfig(output_dir='out')\n",
    "the callback of Lightning": "trainer = Trainer(\n    default_root_dir='logs',\n"
    "    callbacks=[ModelCheckpoint(dirpath='out')],\n)\n",
    "the root directory of Lightning": "trainer = Trainer(default_root_dir='out')\n",
    "accelerate": program("accelerator.save_state(os.path.join('out'))"),
}


@pytest.mark.parametrize("text", TOLD.values(), ids=TOLD.keys())
def test_a_save_that_says_where_it_goes_is_believed(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, {"main.py": text}) == ["out"]


@pytest.mark.parametrize("text", TOLD.values(), ids=TOLD.keys())
def test_beside_such_saves_the_usual_names_mean_something_else(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, {"main.py": f"{text}\nout_dir = 'pictures'\n"}) == ["out"]


UNTOLD = {
    "a name that is not known": save_to("f'{name}.pt'"),
    "a directory that is not known": save_to("f'out/{name}/a.pt'"),
    "a file that may lie deeper": save_to("os.path.join('out', name)"),
    "a Saver for each run": program(before="saver = Keeper(f'runs/{name}', model=model)"),
    "a Saver that takes what it is given": program(before="saver = Keeper(*args)"),
    "what is added to": save_to("folder + '/a.pt'", "folder = 'out'\nfolder += run()"),
    "what is made of itself": save_to("folder + '/a.pt'", "folder = str(folder)"),
    "the name of something that is no option": save_to(
        "batch.name + '/a.pt'", "parser.add_argument('--name', default='out')"
    ),
    "what is moved away": save_to("'/tmp/a.pt'") + "            shutil.move('/tmp/a.pt', place())",
    "a Saver of something else": program(before="saver = other.Saver('out', model=model)"),
    "many": save_to("f'{x}/a.pt'", "".join(f"x = '{each}'\n" for each in "abcdefgh")),
}


@pytest.mark.parametrize("text", UNTOLD.values(), ids=UNTOLD.keys())
def test_what_is_not_plain_is_not_guessed(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, {"main.py": text}) == []


@pytest.mark.parametrize(
    "text",
    [
        save_to("f'{name}.pt'"),
        save_to("f'out/{name}/a.pt'"),
        save_to("'out/a.pt'") + "model.save_pretrained(args.where)\n",
    ],
)
def test_where_a_save_does_not_say_it_the_usual_names_count(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, {"main.py": f"{text}\nout_dir = 'named'\n"})[-1] == "named"


def test_an_option_is_looked_up_in_configs_and_in_other_files(tmp_path: Path) -> None:
    text = save_to("Path(args.where) / 'a.pt'")
    config = {"conf/base.yaml": "name: big\ntrain:\n  where: by-config\n"}
    assert found(tmp_path / "a", {"main.py": text, **config}) == ["by-config"]
    options = {"options.py": "parser.add_argument('--where', default='by-option')\n"}
    assert found(tmp_path / "b", {"main.py": text, **options}) == ["by-option"]
    aside = {"tests/options.py": "parser.add_argument('--where', default='by-test')\n"}
    assert found(tmp_path / "c", {"main.py": text, **options, **config, **aside}) == [
        "by-config",
        "by-option",
    ]


def test_a_save_that_does_not_belong_to_a_training_is_not_asked(tmp_path: Path) -> None:
    convert = "import torch\ntorch.save(model.state_dict(), 'converted/model.pt')\n"
    assert found(tmp_path, {"convert.py": convert}) == []


ENDLESS = {
    "each made of others": "x{n} = x{m} + '{way}' + x{m}\n",
    "all ways to put them together": "x{n} = '{way}'\n",
}


@pytest.mark.parametrize("given", ENDLESS.values(), ids=ENDLESS.keys())
def test_what_could_be_endlessly_much_is_given_up(tmp_path: Path, given: str) -> None:
    numbers = range(1, 60)
    values = "".join(given.format(n=n, m=n - 1, way=way) for n in numbers for way in "abc")
    parts = "".join(f"{{x{n}}}" for n in numbers)
    begin = time.monotonic()
    assert found(tmp_path, {"main.py": save_to(f"f'{parts}/a.pt'", f"x0 = 'a'\n{values}")}) == []
    assert time.monotonic() - begin < 5
