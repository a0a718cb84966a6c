"""`list`, `verify` and `prune` as they are typed: answers, exit codes, JSON, errors with hints."""

from __future__ import annotations

import errno
import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from instride.cli.main import main
from instride.store.journal import append, journal_path
from instride.store.manifest import decode_manifest, write_manifest
from tests.integration.commands import COMMAND, as_nobody, environment, run
from tests.unit.store.committing import commit, flip, large, owned_by_this_process

ROOT = Path(__file__).parents[2]
Printed = pytest.CaptureFixture[str]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for step in (100, 200, 300):
        commit(tmp_path, step, large(step % 256), metric=1 / step)
    return tmp_path


def asked(printed: Printed, code: int, *args: str) -> dict[str, Any]:
    """The JSON that a call prints, which fits its schema."""
    assert main([*args, "--json"]) == code
    captured = printed.readouterr()
    answer: dict[str, Any] = json.loads(captured.out)
    assert captured.err == ""
    schema = ROOT / "docs" / "reference" / f"{args[0]}.schema.json"
    jsonschema.Draft202012Validator(json.loads(schema.read_text())).validate(answer)
    assert answer["schema"] == 1
    return answer


def refused(printed: Printed, *args: str) -> tuple[int, str]:
    code = main([*args])
    captured = printed.readouterr()
    assert captured.out == ""
    return code, captured.err


def test_list_answers_with_a_table_and_with_json(store: Path, capsys: Printed) -> None:
    assert main(["list", str(store)]) == 0
    table = capsys.readouterr().out

    answer = asked(capsys, 0, "list", str(store))

    assert "newest, latest" in table
    assert [entry["step"] for entry in answer["checkpoints"]] == [100, 200, 300]
    assert answer["owner"] is None


@pytest.mark.parametrize("verb", ["list", "verify"])
def test_a_file_that_is_called_as_the_link_to_the_newest_is_told_of(
    verb: str, store: Path, capsys: Printed
) -> None:
    link = store / "latest"
    assert not asked(capsys, 0, verb, str(store))["is_latest_stale"]
    link.unlink()
    link.write_bytes((store / "step_00000100.pt").read_bytes())

    assert asked(capsys, 0, verb, str(store))["is_latest_stale"]
    assert main([verb, str(store)]) == 0

    command = f"mv -n {link} {link}.other"
    assert command in " ".join(capsys.readouterr().out.split())
    subprocess.run(command.split(), check=True)
    assert not asked(capsys, 0, verb, str(store))["is_latest_stale"]


def test_verify_ends_with_0_where_all_is_whole(store: Path, capsys: Printed) -> None:
    answer = asked(capsys, 0, "verify", str(store))

    assert [each["state"] for each in answer["checkpoints"]] == ["whole"] * 3


def test_verify_ends_with_30_and_tells_all_that_is_damaged(store: Path, capsys: Printed) -> None:
    flip(store / "step_00000100.pt", 0)
    flip(store / "step_00000300.pt", 0)

    answer = asked(capsys, 30, "verify", str(store))
    assert main(["verify", str(store)]) == 30
    screen = capsys.readouterr().out

    assert answer["num_damaged"] == 2
    assert "step_00000100.pt: it differs somewhere in the bytes from 0 to" in screen
    assert "step_00000300.pt: it differs somewhere in the bytes from 0 to" in screen


def go_where_one_may_not_be_read(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(store)  # the directories above are closed to others than root
    store.chmod(0o755)
    (store / "step_00000200.pt").chmod(0)


def test_verify_tells_what_may_not_be_read_from_what_is_damaged(
    store: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_where_one_may_not_be_read(store, monkeypatch)
    with as_nobody():
        answer = asked(capsys, 40, "verify", ".")
        assert main(["verify", "."]) == 40
    screen = capsys.readouterr().out

    assert [each["state"] for each in answer["checkpoints"]] == ["whole", "unreadable", "whole"]
    assert (answer["num_damaged"], answer["num_unreadable"]) == (0, 1)
    assert "1 checkpoint could not be read." in screen
    assert "step_00000200.pt: Permission denied" in screen
    flip(store / "step_00000300.pt", 0)
    with as_nobody():
        assert asked(capsys, 30, "verify", ".")["num_damaged"] == 1


def test_one_that_may_not_be_read_is_told_with_a_command_that_shows_why(
    store: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_where_one_may_not_be_read(store, monkeypatch)
    with as_nobody():
        assert main(["verify", "step_00000200.pt"]) == 40
        screen = capsys.readouterr().out
        listed = asked(capsys, 0, "list", ".")

    assert "step_00000200.pt: Permission denied" in screen
    assert "next: ls -l step_00000200.pt   shows who may read it" in screen
    states = [each["state"] for each in listed["checkpoints"]]
    assert states == ["committed", "unreadable", "committed"]


@pytest.mark.parametrize("verb", ["list", "verify", "prune --keep-last 1", "agent status"])
@pytest.mark.parametrize(
    ("closed", "named", "look"),
    [
        ("runs", "runs", "ls -ld runs"),
        ("runs", "runs/step_00000100.pt", "ls -ld runs"),
        ("runs/.instride/manifests", "runs", "ls -ld runs/.instride/manifests"),
        ("runs/.instride", "runs", "ls -ld runs/.instride"),
    ],
)
def test_a_folder_that_is_closed_to_us_is_named_whatever_is_asked_of_it(
    verb: str,
    closed: str,
    named: str,
    look: str,
    tmp_path: Path,
    capsys: Printed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o755)
    Path("runs").mkdir()
    commit(Path("runs"), 100)
    main([*verb.split(), "runs"])  # its code is loaded while we may read it
    capsys.readouterr()
    Path(closed).chmod(0)
    try:
        with as_nobody():
            code, said = refused(capsys, *verb.split(), named)
    finally:
        Path(closed).chmod(0o755)

    assert code == 40
    assert f"error: cannot look at `{named}" in said
    assert "Permission denied" in said
    assert f"hint: `{look}` shows whose it is" in said


@pytest.mark.parametrize(
    ("verb", "code"),
    [("verify {}", 40), ("list {}", 40), ("export {} x.safetensors", 40), ("unpack {}", 44)],
)
def test_of_a_link_to_nothing_it_is_told_what_is_missing(
    verb: str, code: int, store: Path, capsys: Printed
) -> None:
    """`latest` itself is there, as whoever looks can see."""
    (store / "step_00000300.pt").unlink()

    got, said = refused(capsys, *verb.format(store / "latest").split())

    assert got == code
    assert f"`{store}/latest -> step_00000300.pt`: No such file" in said
    command = said.split("`")[-2].split()
    if command[0] == "instride":
        command[:1] = COMMAND
    looked = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "200" in looked.stdout, "which others there are"


def test_what_the_system_refuses_is_told_with_the_file_that_it_names(
    store: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(directory: Path) -> None:
        raise OSError(errno.EIO, "", str(directory / "latest"))

    monkeypatch.setattr("instride.store.listing.latest_of", refuse)
    code, said = refused(capsys, "list", str(store))

    assert code == 2
    assert f"error: cannot go on with `{store}/latest`: Input/output error" in said
    assert f"hint: `ls -l {store}/latest` shows" in said


def test_prune_shows_first_and_deletes_then(store: Path, capsys: Printed) -> None:
    args = ["prune", str(store), "--keep-last", "1"]

    shown = asked(capsys, 0, *args, "--dry-run")
    assert len(list(store.glob("step_*.pt"))) == 3
    done = asked(capsys, 0, *args)

    assert shown["deleted"] == done["deleted"]
    assert [path.name for path in store.glob("step_*.pt")] == ["step_00000300.pt"]


def test_the_command_that_a_dry_run_ends_with_deletes(store: Path, capsys: Printed) -> None:
    main(["prune", str(store), "--keep-last", "1", "--keep-best", "1", "--dry-run"])
    last = capsys.readouterr().out.splitlines()[-1]
    command = last.removeprefix("next: ").split("   ")[0].split()

    assert main(command[1:]) == 0

    assert [path.name for path in store.glob("step_*.pt")] == ["step_00000300.pt"]


def test_prune_refuses_while_a_training_saves_there(store: Path, capsys: Printed) -> None:
    """Options that are not the user's own would show something else than what would go."""
    lock = owned_by_this_process(store)

    code, said = refused(capsys, "prune", str(store), "--keep-last", "1", "--keep-every", "10")

    assert code == 31
    assert "the same with `--dry-run`" in said
    assert "--keep" not in said
    lock.release()


@pytest.mark.parametrize("options", [["--dry-run"], []])
def test_prune_ends_with_30_where_it_found_damage_and_shows_it_among_the_others(
    options: list[str], store: Path, capsys: Printed
) -> None:
    flip(store / "step_00000300.pt", 0)
    args = ["prune", str(store), "--keep-last", "1", *options]

    assert main(args) == 30
    screen = capsys.readouterr().out
    asked(capsys, 30, *args)

    rows = [line.split() for line in screen.splitlines() if line.split()[:1] == ["300"]]
    assert [row[-1] for row in rows] == ["damaged"]
    assert (store / "step_00000300.pt").exists()


def test_prune_ends_with_40_where_it_left_alone_what_it_may_not_read(
    store: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_where_one_may_not_be_read(store, monkeypatch)
    with as_nobody():
        answer = asked(capsys, 40, "prune", ".", "--keep-last", "1", "--dry-run")

    assert [each["state"] for each in answer["damaged"]] == ["unreadable"]


def test_verify_tells_how_many_it_had_nothing_to_compare_with(store: Path, capsys: Printed) -> None:
    (store / "step_00000400.pt").write_bytes(b"somebody's")

    assert main(["verify", str(store)]) == 0

    assert "\n1 file without a manifest: not compared with anything.\n" in capsys.readouterr().out


def test_a_file_that_has_lost_its_manifest_is_not_said_to_be_of_somebody_else(
    store: Path, capsys: Printed
) -> None:
    for manifest in (store / ".instride" / "manifests").glob("step_00000200.pt.*"):
        manifest.unlink()

    assert main(["list", str(store)]) == 0
    listed = " ".join(capsys.readouterr().out.split())
    _, said = refused(capsys, "verify", str(store / "step_00000200.pt"))

    assert "1 file without a manifest, left alone: not instride's, or a copy" in listed
    assert "step_00000200.pt` has no manifest to compare it with" in said


def test_verify_names_no_list_of_checkpoints_where_there_is_none(
    tmp_path: Path, capsys: Printed
) -> None:
    """As beside what `instride.save` wrote."""
    commit(tmp_path, 100).rename(tmp_path / "x.pt")
    (manifest,) = (tmp_path / ".instride" / "manifests").iterdir()
    found = decode_manifest(manifest.read_bytes())
    assert found is not None
    write_manifest(tmp_path / "x.pt", replace(found, name="x.pt"))

    assert main(["verify", str(tmp_path / "x.pt")]) == 0
    assert "next:" not in capsys.readouterr().out
    commit(tmp_path, 200)
    assert main(["verify", str(tmp_path / "x.pt")]) == 0
    assert f"next: instride list {tmp_path}" in capsys.readouterr().out


@pytest.mark.parametrize("args", [["list"], ["verify"], ["prune", "--keep-last", "1"]])
def test_a_directory_that_is_not_there_is_told_with_a_hint(
    args: list[str], tmp_path: Path, capsys: Printed
) -> None:
    code, said = refused(capsys, *args, str(tmp_path / "no"))

    assert code == 40
    assert said.startswith("error: cannot look at `")
    assert "\nhint: " in said


def test_prune_needs_to_be_told_how_many_to_keep(store: Path, capsys: Printed) -> None:
    code, said = refused(capsys, "prune", str(store))

    assert code == 2
    assert said.startswith("error: `--keep-last` is missing\n")


@pytest.mark.parametrize("number", ["0", "-1", "x"])
def test_prune_refuses_numbers_that_keep_nothing(number: str, store: Path, capsys: Printed) -> None:
    assert refused(capsys, "prune", str(store), "--keep-last", number)[0] == 2
    assert len(list(store.glob("step_*.pt"))) == 3


def test_no_bar_is_drawn_off_a_terminal(store: Path) -> None:
    ended = run(["verify", str(store)])

    assert ended.returncode == 0
    assert ended.stderr == b""


def test_a_terminal_shows_how_far_the_reading_is_beside_the_answer(store: Path) -> None:
    terminal, end = pty.openpty()
    command = [*COMMAND, "verify", str(store), "--json"]
    env = environment({"TERM": "xterm"})
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=end, check=True, env=env)
    os.close(end)
    shown = b""
    with suppress(OSError):  # how a terminal ends
        while data := os.read(terminal, 4096):
            shown += data
    os.close(terminal)

    assert b"MB" in shown
    assert json.loads(ended.stdout)["num_damaged"] == 0


@pytest.mark.parametrize("verb", ["list", "verify", "prune"])
def test_no_verb_that_reads_a_store_loads_torch(verb: str, store: Path) -> None:
    options = ["--keep-last", "1"] if verb == "prune" else []
    program = (
        "import sys; from instride.cli.main import main; "
        f"code = main([{verb!r}, {str(store)!r}, *{options!r}]); "
        "sys.exit(code or 'torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


@pytest.mark.parametrize(("kind", "command"), [("start", "list"), ("step", "explain")])
def test_what_comes_next_works(kind: str, command: str, store: Path, capsys: Printed) -> None:
    """A journal in which nobody told of steps explains nothing."""
    append(journal_path(store), [{"t": 1.0, "kind": kind, "step": 1}])
    assert main(["verify", str(store)]) == 0
    assert f"next: instride {command} {store}" in capsys.readouterr().out
