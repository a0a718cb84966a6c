"""`instride export`: the tensors of a checkpoint, for programs that do without pickle."""

from __future__ import annotations

import builtins
import datetime
import json
import os
import re
import shlex
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import safetensors
import safetensors.torch
import torch

import instride
from instride.cli.main import main
from tests.saver.states import DTYPES, bits, of_dtype

pytestmark = pytest.mark.torch
ROOT = Path(__file__).parents[2]
Printed = pytest.CaptureFixture[str]


class Trap:
    """Unpickling it would leave a file behind."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        return builtins.open, ("sprung", "w")


def exported(folder: Path, state: object, *options: str) -> dict[str, torch.Tensor]:
    """What a state is after a save, an export and a load."""
    torch.save(state, folder / "x.pt")
    assert main(["export", str(folder / "x.pt"), str(folder / "m.safetensors"), *options]) == 0
    loaded: dict[str, torch.Tensor] = safetensors.torch.load_file(folder / "m.safetensors")
    return loaded


def refused(printed: Printed, folder: Path, *options: str) -> tuple[int, str]:
    code = main(["export", str(folder / "x.pt"), str(folder / "m.safetensors"), *options])
    assert not (folder / "m.safetensors").exists()
    assert sorted(path.name for path in folder.iterdir() if path.name.endswith(".tmp")) == []
    return code, printed.readouterr().err


def test_a_checkpoint_of_a_saver_gives_its_model(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 2))
    with instride.Saver(tmp_path, model=model) as saver:
        saver.save(5)

    assert main(["export", str(tmp_path / "latest"), str(tmp_path / "m.safetensors")]) == 0

    loaded = safetensors.torch.load_file(tmp_path / "m.safetensors")
    assert {name: bits(tensor) for name, tensor in loaded.items()} == {
        name: bits(tensor) for name, tensor in model.state_dict().items()
    }
    with safetensors.safe_open(tmp_path / "m.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt", "step": "5"}


def test_a_state_dict_without_parts_is_exported_whole(tmp_path: Path) -> None:
    loaded = exported(tmp_path, {"w": torch.ones(2), "b": torch.zeros(1)})

    assert sorted(loaded) == ["b", "w"]


def test_names_of_nested_parts_are_joined_by_dots(tmp_path: Path) -> None:
    state = {"a": {"w": torch.ones(1)}, "l": [torch.ones(2), (torch.ones(3),)], 7: torch.ones(4)}

    loaded = exported(tmp_path, state)

    assert {name: tensor.numel() for name, tensor in loaded.items()} == {
        "a.w": 1, "l.0": 2, "l.1.0": 3, "7": 4,
    }  # fmt: skip


def test_a_part_can_be_named_and_dots_lead_deeper(tmp_path: Path) -> None:
    state = {"model": {"w": torch.ones(1)}, "ema": {"net.a": {"w": torch.ones(2)}}}

    assert list(exported(tmp_path, state)) == ["w"]
    assert exported(tmp_path, state, "--part", "ema.net.a", "--force")["w"].numel() == 2


def test_shared_and_strided_tensors_are_written_each_for_itself(
    tmp_path: Path, capsys: Printed
) -> None:
    weight = torch.arange(12.0).view(3, 4)
    state = {"w": weight, "tied": weight, "row": weight[1], "t": torch.arange(6.0).view(2, 3).t()}

    loaded = exported(tmp_path, state)

    assert all(torch.equal(loaded[name], tensor) for name, tensor in state.items())
    assert "w, tied, row" in " ".join(capsys.readouterr().out.split())


def test_a_small_view_of_a_large_storage_does_not_drag_it_along(tmp_path: Path) -> None:
    exported(tmp_path, {"w": torch.zeros(1 << 20)[:4]})

    assert (tmp_path / "m.safetensors").stat().st_size < 1000


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d is not torch.complex128], ids=str)
def test_every_kind_of_number_keeps_its_bits(dtype: torch.dtype, tmp_path: Path) -> None:
    tensor = of_dtype(dtype)

    loaded = exported(tmp_path, {"w": tensor, "empty": torch.empty(0, 3, dtype=dtype)})

    assert loaded["w"].dtype == dtype
    assert bits(loaded["w"]) == bits(tensor)
    assert loaded["empty"].shape == (0, 3)


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize(
    "tensor", [torch.zeros(2, dtype=torch.complex128), torch.eye(3).to_sparse()]
)
def test_what_the_format_has_not_is_refused_by_name(
    tensor: torch.Tensor, tmp_path: Path, capsys: Printed
) -> None:
    torch.save({"model": {"ok": torch.ones(1), "odd": tensor}}, tmp_path / "x.pt")

    code, said = refused(capsys, tmp_path)

    assert code == 42
    assert "`odd`" in said


@pytest.mark.parametrize(
    ("state", "options", "said"),
    [
        ({"model": {"w": torch.ones(1)}}, ["--part", "ema"], "`ema`"),
        ({"a": 1}, [], "no tensor"),
        (torch.ones(1), ["--part", "model"], "no named parts"),
        ({"a": {"b": torch.ones(1)}, "a.b": torch.ones(1)}, [], "`a.b`"),
    ],
)
def test_what_cannot_be_exported_is_told(
    state: object, options: list[str], said: str, tmp_path: Path, capsys: Printed
) -> None:
    torch.save(state, tmp_path / "x.pt")

    code, text = refused(capsys, tmp_path, *options)

    assert code == 42
    assert said in text


def test_no_code_of_a_checkpoint_is_run(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.save({"model": {"w": torch.ones(1)}, "trap": Trap()}, tmp_path / "x.pt")

    code, said = refused(capsys, tmp_path)

    assert code == 38
    assert "weights_only=False" in said
    assert not (tmp_path / "sprung").exists()


def test_what_is_unsafe_is_named_and_what_the_hint_says_exports_it(
    tmp_path: Path, capsys: Printed
) -> None:
    model = torch.nn.Linear(3, 2)
    with (
        pytest.warns(RuntimeWarning, match="will refuse"),
        instride.Saver(tmp_path, model=model) as saver,
    ):
        saver.save(5, extra={"took": datetime.timedelta(1)})
    checkpoint, target = str(tmp_path / "step_00000005.pt"), str(tmp_path / "m.safetensors")

    assert main(["export", checkpoint, target]) == 38

    said = capsys.readouterr().err
    found = re.fullmatch(
        f"error: `{checkpoint}` holds values that could run code when they are read: it needs "
        r"`datetime\.timedelta`\n\nhint: if you made the file yourself: `([^`]+)` in Python, where "
        r"its classes are known, and then `instride ([^`]+)`\n",
        said,
    )
    assert found is not None, said
    exec(found[1])
    assert main(shlex.split(found[2])) == 0
    assert bits(safetensors.torch.load_file(target)["weight"]) == bits(model.weight)


@pytest.mark.parametrize("data", [b"", b"not a checkpoint", b"PK\x03\x04" + b"\0" * 100])
def test_a_file_that_is_no_checkpoint_is_told(data: bytes, tmp_path: Path, capsys: Printed) -> None:
    (tmp_path / "x.pt").write_bytes(data)

    code, said = refused(capsys, tmp_path)

    assert code == 42
    assert "x.pt` shows what the file holds" in said


def test_a_damaged_checkpoint_is_not_exported(tmp_path: Path, capsys: Printed) -> None:
    instride.save({"w": torch.zeros(1 << 18)}, tmp_path / "x.pt").wait(60)
    with (tmp_path / "x.pt").open("r+b") as file:
        file.seek(8192)
        file.write(b"\x01")

    assert refused(capsys, tmp_path)[0] == 30


def test_a_file_that_is_there_is_replaced_only_when_asked(tmp_path: Path, capsys: Printed) -> None:
    torch.save({"w": torch.ones(3)}, tmp_path / "x.pt")
    target = tmp_path / "m.safetensors"
    target.write_bytes(b"precious")

    assert main(["export", str(tmp_path / "x.pt"), str(target)]) == 43
    assert target.read_bytes() == b"precious"
    assert "--force" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "x.pt"), str(target), "--force"]) == 0
    assert list(safetensors.torch.load_file(target)) == ["w"]


def test_the_file_may_be_read_by_whoever_may_read_new_files(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        exported(tmp_path, {"w": torch.ones(3)})
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "m.safetensors").stat().st_mode) == 0o644


def test_a_target_that_cannot_be_written_is_told(tmp_path: Path, capsys: Printed) -> None:
    torch.save({"w": torch.ones(3)}, tmp_path / "x.pt")

    code = main(["export", str(tmp_path / "x.pt"), str(tmp_path / "no" / "m.safetensors")])

    assert code == 16
    assert "mkdir -p" in capsys.readouterr().err


def test_the_answer_as_json_fits_the_schema(tmp_path: Path, capsys: Printed) -> None:
    exported(tmp_path, {"model": {"w": torch.ones(3), "n": 5}, "step": 9}, "--json")

    answer = json.loads(capsys.readouterr().out)

    schema = json.loads((ROOT / "docs/reference/export.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(answer)
    assert (answer["part"], answer["step"], answer["left_out"]) == ("model", 9, ["n"])


@pytest.mark.parametrize("name", ["torch", "safetensors"])
def test_a_library_that_is_missing_is_named_with_how_to_get_it(
    name: str, tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.pt").write_bytes(b"")
    find = __import__("importlib.util").util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda each: None if each == name else find(each)
    )

    code, said = refused(capsys, tmp_path)

    assert code == 41
    assert f"pip install 'instride[{name}]'" in said
