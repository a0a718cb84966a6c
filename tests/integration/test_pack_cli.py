"""`instride pack` and `instride unpack` as people type them, and what other verbs say of packs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from instride.store.directory import LATEST, committed_in
from instride.store.pruning import prune
from instride.store.retention import Keep
from tests.unit.pack.packs import nudged, packed, weights
from tests.unit.store.committing import commit, flip

DATA = weights(100_000)


def instride(*args: object, code: int = 0, language: str = "C") -> tuple[str, str]:
    """What a command prints, and its exit code as expected."""
    done = subprocess.run(
        [sys.executable, "-m", "instride", *map(str, args)],
        env={**os.environ, "LC_ALL": language, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Three checkpoints; the second is packed, the third against the second."""
    data = DATA
    for step in (100, 200, 300):
        commit(tmp_path, step, data)
        data = nudged(data, step)
    (tmp_path / LATEST).unlink()
    instride("pack", tmp_path / "step_00000200.pt")
    base = tmp_path / "step_00000200.pt.pack"
    instride("pack", tmp_path / "step_00000300.pt", "--base", base)
    return tmp_path


def test_what_is_packed_already_is_told_with_the_command_that_undoes_it(store: Path) -> None:
    path = store / "step_00000200.pt"
    _, complaint = instride("pack", path, code=44)
    assert f"is `{path}.pack` now" in complaint
    command = re.search("hint: `instride (unpack .*)`", complaint)
    assert command is not None, complaint
    instride(*command[1].split())
    assert path.exists()


def test_what_is_missing_is_told_with_a_command_that_works(tmp_path: Path) -> None:
    _, complaint = instride("pack", tmp_path / "no" / "a.pt", code=44)
    assert f"hint: `ls -l {tmp_path}` shows what is there" in complaint


def test_a_file_is_packed_and_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(DATA)
    said, _ = instride("pack", path)
    assert "(400 kB to 332 kB, 83 %)" in said
    assert f"next: instride unpack {path}.pack" in said
    said, _ = instride("unpack", f"{path}.pack")
    assert path.read_bytes() == DATA
    assert "to the last byte as it was" in " ".join(said.split())


def test_the_answer_as_json(tmp_path: Path) -> None:
    for name in ("a.pt", "b.pt"):
        (tmp_path / name).write_bytes(DATA)
    said, _ = instride("pack", "--json", "--keep-original", tmp_path / "a.pt", tmp_path / "b.pt")
    answer = json.loads(said)
    assert answer["schema"] == 1
    assert [each["original_bytes"] for each in answer["packs"]] == [400_000, 400_000]
    assert all(each["is_original_kept"] for each in answer["packs"])
    said, _ = instride("unpack", "--json", "--force", tmp_path / "a.pt.pack")
    assert json.loads(said)["files"][0]["num_bytes"] == 400_000


def test_what_cannot_be_done_has_an_exit_code_and_a_hint(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.pt", DATA)
    (tmp_path / "a.pt").write_bytes(DATA)
    for args, code, words in (
        (("pack", tmp_path / "none.pt"), 44, "No such file"),
        (("pack", path), 44, "a pack already"),
        (("pack", tmp_path / "a.pt"), 43, "--force"),
        (("unpack", tmp_path / "a.pt"), 44, "no pack"),
        (("unpack", path, path, "-o", tmp_path / "x"), 2, "one pack"),
    ):
        _, said = instride(*args, code=code)
        assert words in said
        assert "hint:" in said
    flip(path, 500)
    _, said = instride("unpack", "--force", path, code=30)
    assert "is damaged" in said
    assert (tmp_path / "a.pt").read_bytes() == DATA


def test_what_is_done_is_told_also_if_a_later_file_fails(tmp_path: Path) -> None:
    """The originals are gone by then."""
    a, b, c = (tmp_path / name for name in ("a.pt", "b.pt", "c.pt"))
    for path in (a, b, c, tmp_path / "c.pt.pack"):
        path.write_bytes(DATA)
    said, complaint = instride("pack", a, b, c, code=43)
    shown = [line.split()[0] for line in said.splitlines()]  # a long path by its end
    assert [name.rpartition("/")[2] for name in shown] == ["a.pt.pack", "b.pt.pack"]
    assert "c.pt.pack` is there already" in complaint
    said, _ = instride("unpack", f"{a}.pack", c, code=44)
    assert "a.pt: " in said
    said, _ = instride("pack", "--json", "--force", a, tmp_path / "none.pt", code=44)
    assert [each["original"] for each in json.loads(said)["packs"]] == [str(a)]
    said, _ = instride("unpack", "--json", f"{a}.pack", c, code=44)
    assert [each["path"] for each in json.loads(said)["files"]] == [str(a)]


def test_list_shows_what_packs_saved_and_what_they_need(store: Path) -> None:
    said, _ = instride("list", store)
    assert "packed to 83" in said
    assert "base step_00000200.pt.pack" in said
    entries = json.loads(instride("list", "--json", store)[0])["checkpoints"]
    assert [entry["base"] for entry in entries] == [None, None, "step_00000200.pt.pack"]
    assert entries[0]["ratio"] is None
    assert 0.8 < entries[1]["ratio"] < 0.85
    assert entries[2]["ratio"] < 0.75


def test_list_shows_packs_of_any_name(tmp_path: Path) -> None:
    base = packed(tmp_path / "epoch=3.ckpt", DATA)
    packed(tmp_path / "epoch=4.ckpt", nudged(DATA), base)
    said, _ = instride("list", tmp_path)
    assert "epoch=3.ckpt.pack  332 kB, packed to 83 %" in said
    assert "base epoch=3.ckpt.pack" in said
    assert "damaged" not in said
    base.unlink()
    (cut,) = tmp_path.glob("*.pack")
    (tmp_path / "cut.pack").write_bytes(cut.read_bytes()[:-1])
    said, _ = instride("list", tmp_path)
    assert said.count("damaged") == 2
    packs = json.loads(instride("list", "--json", tmp_path)[0])["packs"]
    assert [each["name"] for each in packs] == ["cut.pack", "epoch=4.ckpt.pack"]


def test_verify_finds_a_damaged_base_before_it_is_needed(store: Path) -> None:
    instride("verify", store)
    base = store / "step_00000200.pt.pack"
    flip(base, 1000)
    said, _ = instride("verify", store / "step_00000300.pt.pack", code=30)
    assert base.name in said


def test_verify_finds_a_base_that_is_gone(store: Path) -> None:
    (store / "step_00000200.pt.pack").unlink()
    said, _ = instride("verify", store / "step_00000300.pt.pack", code=30)
    assert "`step_00000200.pt.pack` is not there" in said


def test_list_marks_a_pack_whose_base_is_gone(store: Path) -> None:
    (store / "step_00000200.pt.pack").unlink()
    said, _ = instride("list", store)
    assert "base gone: step_00000200.pt.pack" in said
    assert "1 stray manifest" in said
    entries = json.loads(instride("list", "--json", store)[0])["checkpoints"]
    assert [entry["is_base_gone"] for entry in entries] == [False, True]


@pytest.mark.parametrize("options", [["--dry-run"], []])
def test_prune_tells_for_whose_sake_a_base_stays(store: Path, options: list[str]) -> None:
    said, _ = instride("prune", "--keep-last", 1, *options, store)
    (line,) = (line for line in said.splitlines() if line.split()[:1] == ["200"])
    assert line.endswith("kept: base of 300")
    (line,) = (line for line in said.splitlines() if line.split()[:1] == ["300"])
    assert line.endswith("kept")


def test_verify_knows_a_pack_that_has_no_manifest(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.pt", DATA)
    instride("verify", path)
    flip(path, 5000)
    instride("verify", path, code=30)


def test_a_base_in_use_outlives_what_the_rule_says(store: Path) -> None:
    pruning = prune(store, Keep(last=1), dry_run=False)
    assert [entry.step for entry in pruning.deleted] == [100]
    assert [checkpoint.step for checkpoint in committed_in(store)] == [200, 300]


def test_a_checkpoint_and_its_pack_count_as_one(tmp_path: Path) -> None:
    for step in (100, 200, 300):
        path = commit(tmp_path, step, DATA)
        instride("pack", "--keep-original", path)
    pruning = prune(tmp_path, Keep(last=2), dry_run=True)
    assert [entry.name for entry in pruning.deleted] == [
        "step_00000100.pt",
        "step_00000100.pt.pack",
    ]


def test_a_base_that_a_training_may_delete_is_not_for_files_of_others(store: Path) -> None:
    (store / "best.pt").write_bytes(DATA)
    _, said = instride(
        "pack", store / "best.pt", "--base", store / "step_00000200.pt.pack", code=44
    )
    assert "may delete it" in said


@pytest.mark.parametrize("language", ["de_DE.UTF-8", "fr_FR.UTF-8", "ja_JP.UTF-8"])
def test_other_languages_say_it_in_their_words(language: str, tmp_path: Path) -> None:
    (tmp_path / "a.pt").write_bytes(DATA)
    english, _ = instride("pack", "--force", "--keep-original", tmp_path / "a.pt")
    said, _ = instride("pack", "--force", "--keep-original", tmp_path / "a.pt", language=language)
    assert said != english
    assert "a.pt.pack" in said


def test_packs_of_any_name_are_listed_and_verified_with_their_directory(tmp_path: Path) -> None:
    """As a trainer leaves them that nobody here wrote."""
    base = packed(tmp_path / "ckpt.pt", DATA)
    packed(tmp_path / "ckpt-best.pt", nudged(DATA), base)
    said, _ = instride("list", tmp_path)
    assert "(2 checkpoints, " in said
    assert f"next: instride verify {tmp_path}" in said
    said, _ = instride("verify", tmp_path)
    assert "ckpt-best.pt.pack" in said
    assert f"next: instride list {tmp_path}" in said
    flip(base, 2000)
    said, _ = instride("verify", tmp_path, code=30)
    assert said.count("ckpt.pt.pack: it differs somewhere in the bytes from 16 to ") == 1


@pytest.mark.parametrize("change", [-100, 100])
def test_what_is_damaged_is_not_packed(change: int, store: Path) -> None:
    """Its pack would be whole, and be taken for a checkpoint that is."""
    path = store / "step_00000100.pt"
    os.truncate(path, path.stat().st_size + change)
    _, said = instride("pack", path, code=30)
    assert f"the checkpoint `{path}` is damaged" in said
    assert path.exists()
    assert not path.with_name(path.name + ".pack").exists()


def test_what_is_damaged_is_not_exported(store: Path) -> None:
    pytest.importorskip("safetensors")
    path = store / "step_00000100.pt"
    os.truncate(path, path.stat().st_size - 100)
    _, said = instride("export", path, store / "m.safetensors", code=30)
    assert f"the checkpoint `{path}` is damaged" in said


def test_an_original_that_stays_is_not_to_be_unpacked(store: Path) -> None:
    (store / LATEST).symlink_to("step_00000100.pt")
    said, _ = instride("pack", store / "step_00000100.pt")
    assert "the original stays" in said
    assert f"next: instride list {store}" in said
