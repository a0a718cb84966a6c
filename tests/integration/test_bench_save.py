"""`instride bench save`: a short run of it, and what happens to a way that tears or fails."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest

torch = pytest.importorskip("torch")

from instride.bench.asking import ChildFailedError, ask  # noqa: E402 - needs torch
from instride.bench.child import NUM_BLOWS, hammer  # noqa: E402
from instride.bench.names import NAMES  # noqa: E402
from instride.bench.orders import Order, Task, Timed  # noqa: E402
from instride.bench.training import Training  # noqa: E402
from instride.bench.ways import WAYS  # noqa: E402
from instride.bench.ways.contract import NoSaving  # noqa: E402
from instride.bench.ways.others import TorchSave  # noqa: E402
from instride.cli.main import main  # noqa: E402
from tests.integration.careless import LateSave  # noqa: E402

pytestmark = pytest.mark.torch
ROOT = Path(__file__).parents[2]
SMALLEST = "1"
"""One layer: 12 MB of state."""


@pytest.mark.parametrize("verb", ["save", "interference"])
def test_a_folder_that_is_not_there_is_told_with_what_makes_it(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "none"
    assert main(["bench", verb, "--folder", str(folder)]) == 16
    said = capsys.readouterr().err
    assert f"cannot write `{folder}/`: No such file or directory" in said
    assert f"hint: `mkdir -p {folder}`" in said


def test_a_short_run_fits_the_schema(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # threads that spin are slow beside other tests
    ways = ["--ways", "instride"]
    page = tmp_path / "save.md"
    options = ["--params", SMALLEST, "--rounds", "1", "--folder", str(tmp_path)]
    assert main(["bench", "save", *ways, *options, "--record", str(page), "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    schema = ROOT / "docs/reference/bench-save.schema.json"
    jsonschema.validate(answer, json.loads(schema.read_text(encoding="utf-8")))
    rows: dict[str, Any] = {row["name"]: row for row in answer["rows"]}
    assert list(rows) == ["none", "instride"]
    assert (rows["none"]["torn"], rows["none"]["num_hammered"]) == (None, 0)
    assert (rows["instride"]["torn"], rows["instride"]["num_whole"]) == (False, NUM_BLOWS)
    assert rows["instride"]["synced"]
    assert answer["state_bytes"] >= 12 << 20
    assert rows["none"]["peak_host_bytes"] == 0
    assert min(answer["floors"].values()) > 0
    assert answer["left_out"] == []
    assert "instride" in page.read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == [page]


@contextmanager
def started(*args: str) -> Iterator[subprocess.Popen[str]]:
    program = "import sys; from instride.cli.main import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-c", program, "bench", "save", *args],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()  # one that does not end fails the test, and nobody waits for it


def num_lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


@pytest.mark.skipif(sys.platform != "linux", reason="children end with their parent on Linux")
def test_what_is_stopped_and_what_is_killed_goes_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    (folder := tmp_path / "folder").mkdir()
    answers = tmp_path / "answers.jsonl"
    options = ["--ways", "torch.save", "--params", SMALLEST, "--rounds", "1", "--saves", "2",
               "--no-memory", "--folder", str(folder), "--resume", str(answers)]  # fmt: skip
    for number, num_new in ((signal.SIGTERM, 3), (signal.SIGKILL, 2)):
        wanted = num_lines(answers) + num_new
        with started(*options) as process:
            while num_lines(answers) < wanted:
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(number)
            _, told = process.communicate(timeout=60)
        if number is signal.SIGTERM:
            assert process.returncode == 130
            assert told.strip() == f"stopped: the same command goes on with what is in {answers}"
            assert list(folder.iterdir()) == []
    assert list(folder.iterdir()) != []
    assert main(["bench", "save", *options, "--json"]) == 0
    answer = json.loads(capfd.readouterr().out)
    schema = ROOT / "docs/reference/bench-save.schema.json"
    jsonschema.validate(answer, json.loads(schema.read_text(encoding="utf-8")))
    assert [row["name"] for row in answer["rows"]] == ["none", "torch.save"]
    assert answer["goes"]["num_goes"] == 3
    assert list(folder.iterdir()) == []
    lines = map(json.loads, answers.read_bytes().splitlines())
    asked = [line["asked"] for line in lines if "asked" in line]
    assert len(asked) == len({json.dumps(each) for each in asked}) == 5


def test_every_way_has_a_name_on_the_command_line() -> None:
    assert tuple(WAYS) == NAMES


@pytest.mark.parametrize(("kind", "torn"), [(LateSave, True), (TorchSave, False)])
def test_a_way_that_saves_what_came_later_is_torn(
    kind: type[NoSaving], torn: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WAYS, "tested", kind)
    order = Order(Task.HAMMER, str(tmp_path), "tested", num_params=1)
    assert hammer(order, tmp_path).num_whole == (0 if torn else NUM_BLOWS)


def test_a_way_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(ChildFailedError, match="KeyError: 'no such way'"):
        ask(Order(Task.TIME, str(tmp_path), "no such way", num_params=1), Timed)


def test_an_unknown_way_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "save", "--ways", "no-such-way"]) == 2
    assert "no-such-way" in capsys.readouterr().err


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_device_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "save", "--device", "cuda", "--no-memory"]) == 50
    assert "no device `cuda`" in capsys.readouterr().err


def test_numbers_do_not_vanish_on_their_way_through_the_layers() -> None:
    training = Training(16 << 20)
    with torch.no_grad():
        outputs = training.model(torch.randn(16, 1024))
    assert 0.1 < float(outputs.std()) < 10
