"""Repositories made to break a reader: doctor neither crashes nor hangs, and sees the rest."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from instride.doctor.catalogue import CATALOGUE, About
from instride.doctor.examining import Diagnosis, examine
from instride.doctor.request import Request
from tests.integration.commands import as_nobody

ABOUT_REPOSITORIES = tuple(rule.id for rule in CATALOGUE if rule.about is About.REPOSITORY)
TRAIN = """\
import torch

def main(model, batches):
    for step, batch in enumerate(batches):
        model(batch).sum().backward()
        if step % 1000 == 0:
            torch.save(model.state_dict(), "out/model.pt")
"""
CALL = "torch.save(model.state_dict(), path)"
LONG = 300_000
PEAK_BYTES = 1_000_000_000
LONGEST_S = 60
"""Far beyond what is promised: only a program that hangs takes so long."""

Hostile = Callable[[Path], object]


def text(name: str, content: str) -> Hostile:
    return lambda root: (root / name).write_text(content, encoding="utf-8")


def data(name: str, content: bytes) -> Hostile:
    return lambda root: (root / name).write_bytes(content)


def bomb(levels: int) -> str:
    """Each line is nine times the one before: a billion laughs."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for level in range(1, levels):
        names = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} [{names}]")
    return "\n".join(lines)


def huge(name: str) -> Hostile:
    """Three gigabytes that take no room on the disk."""

    def make(root: Path) -> None:
        with (root / name).open("wb") as stream:
            stream.write(CALL.encode())
            stream.truncate(3 << 30)

    return make


def deep_folders(root: Path) -> None:
    folder = root
    for _ in range(120):
        folder = folder / "deeper"
        folder.mkdir()
        (folder / "train.py").write_text(TRAIN)


def links(root: Path) -> None:
    (root / "here").symlink_to(".")
    (root / "above").symlink_to("..")
    (root / "everything").symlink_to("/")
    (root / "itself.py").symlink_to("itself.py")
    (root / "gone.py").symlink_to("nowhere.py")
    (root / "endless.py").symlink_to("/dev/zero")


def pipes(root: Path) -> None:
    for name in ("pipe.py", "pipe.yaml", "pyproject.toml", "GNUmakefile", "Procfile"):
        os.mkfifo(root / name)


def a_socket(root: Path) -> None:
    here = Path.cwd()
    os.chdir(root)  # a longer name than 107 bytes is no address
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket.py")
    finally:
        os.chdir(here)


def odd_names(root: Path) -> None:
    for name in (b"bad\xff.py", b"two\nlines.py", b"\x1b[31mred.py", b"spa ce'\".py", b"-rf.py"):
        (root / os.fsdecode(name)).write_text(TRAIN)


def folders_with_names_of_files(root: Path) -> None:
    for name in ("model.py", "pyproject.toml", "Makefile", "config.yaml"):
        (root / name).mkdir()


HOSTILE: dict[str, Hostile] = {
    "a huge Python file": huge("huge.py"),
    "a huge YAML file": huge("huge.yaml"),
    "a huge file without a suffix": huge("train_all"),
    "a very long list": text("list.py", f"{CALL}\nx = [{'1,' * LONG}]\n"),
    "very many calls": text("calls.py", f"{CALL}\n" * 20_000),
    "open brackets": text("open.py", CALL + "(" * LONG),
    "nested brackets": text("nested.py", f"{CALL}\nx = {'[' * 90}{']' * 90}\n"),
    "deeply nested brackets": text("deep.py", f"{CALL}\nx = {'[' * 5_000}{']' * 5_000}\n"),
    "a long sum": text("sum.py", f"{CALL}\nx = {'1+' * 20_000}1\n"),
    "a long chain of names": text("chain.py", f"torch.save(a{'.b' * 20_000}, path)\n"),
    "a long chain of calls": text("calling.py", f"torch.save(a{'()' * 3_000}, path)\n"),
    "many minus signs": text("minus.py", f"{CALL}\nx = {'-' * 50_000}1\n"),
    "nested blocks": text(
        "blocks.py", "".join(f"{' ' * n}for x in y:\n" for n in range(95)) + " " * 95 + CALL
    ),
    "many branches": text(
        "branches.py", "if a: pass\n" + f"elif b: {CALL}\n" * 3_000 + "else: pass\n"
    ),
    "thousands of functions of one name": text(
        "same.py", f"def save(model, path):\n    {CALL}\n    save(model, path)\n" * 4_000
    ),
    "thousands of classes that train": text(
        "trainers.py",
        "class A:\n def train(self, model, path):\n  for x in y:\n"
        f"   self.train(model, path).backward()\n   optimizer.step()\n   {CALL}\n" * 1_000,
    ),
    "a syntax error": text("wrong.py", f"def f(:\n  {CALL}\n"),
    "Python 2": text("old.py", f"print 'saving'\n{CALL}\nexcept IOError, e:\n"),
    "binary junk": data("junk.py", bytes(range(256)) * 4_000),
    "junk as YAML": data("junk.yaml", bytes(range(128, 256)) * 4_000),
    "junk as a makefile": data("GNUmakefile", bytes(range(1, 256)) * 4_000),
    "Latin-1": data("latin.py", b"# caf\xe9\nname = '\xfc'\n"),
    "UTF-16": data("wide.py", TRAIN.encode("utf-16")),
    "a byte order mark": data("mark.py", b"\xef\xbb\xbf" + TRAIN.encode()),
    "lone surrogates": text("lone.py", "x = '\\ud800'\nout_dir = '\\ud800'\n"),
    "an invalid escape": text("escape.py", "x = '\\d'\n1 is 1\n"),
    "a number too long to be read": text("number.py", f"x = {'9' * 10_000}\n"),
    "a YAML bomb": text("bomb.yaml", bomb(40)),
    "YAML that refers to itself": text("self.yaml", "a: &a [*a, *b]\n<<: *a\n"),
    "deep YAML": text("deep.yaml", "x: " + "[" * 20_000),
    "deep block YAML": text("block.yaml", "- " * 20_000 + "x"),
    "YAML that builds objects": text("object.yaml", "x: !!python/object/apply:os.abort []\n"),
    "deep JSON": text("deep.json", "[" * 50_000 + "]" * 50_000),
    "a long JSON number": text("number.json", '{"steps": ' + "9" * 10_000 + "}"),
    "deep TOML": text("deep.toml", "x = " + "[" * 50_000 + "]" * 50_000),
    "dotted TOML": text("dotted.toml", "a" + ".a" * 5_000 + " = 1"),
    "INI without a section": text("plain.ini", "x = 1\n%(x)s = %(x)s\n"),
    "a makefile of one line": text("GNUmakefile", "train:\n\t" + "python a & " * 50_000),
    "a makefile that goes on": text("GNUmakefile", "train: \\\n" * 50_000),
    "a script of blanks": text("run.sh", " " * LONG + "&\n" + "\t" * LONG + "\\\n"),
    "a script of letters": text("start.sh", "a" * LONG + " & " + "python " * 30_000),
    "quotes that are never closed": text("quotes.sh", "nice '" + '"`$(' * 50_000),
    "a compose file of lists": text("compose.yaml", "services:\n" + "  - x\n" * 50_000),
    "a unit of one line": text("train.service", "[Service]\nExecStart=" + "x=" * 100_000),
    "broken settings": text("pyproject.toml", "[tool.instride.doctor\nignore = "),
    "deep folders": deep_folders,
    "folders with names of files": folders_with_names_of_files,
}
ONLY_POSIX: dict[str, Hostile] = {
    "links in a circle": links,
    "pipes": pipes,
    "a socket": a_socket,
    "odd names": odd_names,
}
if sys.platform != "win32":
    HOSTILE |= ONLY_POSIX


def looked_at(root: Path) -> Diagnosis:
    return examine(Request(repo=root, only=ABOUT_REPOSITORIES), LONGEST_S)


@pytest.mark.parametrize("name", HOSTILE)
def test_beside_a_hostile_file_the_trainer_is_still_seen(name: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    HOSTILE[name](tmp_path)
    diagnosis = looked_at(tmp_path)
    (saving,) = [each for each in diagnosis.findings if each.rule == "save-in-place"]
    assert "train.py" in [getattr(each, "path", None) for each in saving.evidence]
    assert [each for each in diagnosis.unknown if each.id == "rule-failed"] == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a huge Python file", "skipped-too-large"),
        ("a huge YAML file", "skipped-too-large"),
        ("a syntax error", "skipped-broken"),
        ("Python 2", "skipped-not-python-3"),
        ("binary junk", "skipped-broken"),
        ("deep folders", "skipped-too-deep"),
    ],
)
def test_what_was_not_read_is_said(name: str, why: str, tmp_path: Path) -> None:
    HOSTILE[name](tmp_path)
    assert why in [each.id for each in looked_at(tmp_path).unknown]


def test_files_and_folders_that_may_not_be_read_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "secret.py").write_text(TRAIN)
    (tmp_path / "secret.py").chmod(0)
    (tmp_path / "closed").mkdir(mode=0)
    tmp_path.chmod(0o755)
    monkeypatch.chdir(tmp_path)  # the folders above it are open to their owner only
    with as_nobody():
        diagnosis = looked_at(Path())
    assert "save-in-place" in [each.rule for each in diagnosis.findings]
    assert "skipped-unreadable" in [each.id for each in diagnosis.unknown]


def test_a_repository_of_too_many_files_is_read_in_part(tmp_path: Path) -> None:
    for folder in range(210):
        (tmp_path / f"{folder:03}").mkdir()
        for number in range(100):
            (tmp_path / f"{folder:03}" / f"{number}.txt").touch()
    assert "skipped-too-many" in [each.id for each in looked_at(tmp_path).unknown]


def test_what_others_wrote_cannot_reach_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN.replace("out/model.pt", "\x1b]0;owned\x07.pt"))
    done = run_doctor(tmp_path, "--only", "save-in-place")
    assert done.returncode == 1
    assert b"\x1b" not in done.stdout
    assert b"\x07" not in done.stdout


def run_doctor(repo: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Run it in another directory than the repository's."""
    return subprocess.run(
        [sys.executable, "-m", "instride", "doctor", str(repo), "--no-probe", *options],
        capture_output=True,
        timeout=LONGEST_S,
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )


MEASURED = """\
import json, sys
from pathlib import Path
from instride.doctor.examining import examine
from instride.doctor.request import Request

diagnosis = examine(Request(repo=Path(sys.argv[1]), only=tuple(sys.argv[3:])), float(sys.argv[2]))
# Not what the resource module says: that begins with the size of the process that started us.
status = Path("/proc/self/status").read_text()
peak = int(status.partition("VmHWM:")[2].split()[0])
print(json.dumps({
    "rules": [each.rule for each in diagnosis.findings],
    "unknown": [each.id for each in diagnosis.unknown],
    "peak_bytes": peak * 1024,
}))
"""


def measured(repo: Path) -> dict[str, Any]:
    """What is found and not told without a hurry, and the most memory that it took."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(repo), str(LONGEST_S), *ABOUT_REPOSITORIES],
        capture_output=True,
        timeout=2 * LONGEST_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_code_that_is_mostly_data_takes_bounded_memory(tmp_path: Path) -> None:
    for number in range(24):
        text = f"import torch\n{CALL}\nx = [{'1,' * 150_000}]\n"
        (tmp_path / f"data_{number}.py").write_text(text)
    answer = measured(tmp_path)
    assert answer["peak_bytes"] < PEAK_BYTES
    assert not {"rule-failed", "cut-short"} & set(answer["unknown"])


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_all_of_them_together_take_bounded_memory_and_end(tmp_path: Path) -> None:
    for number, (name, make) in enumerate(HOSTILE.items()):
        if name != "broken settings":
            folder = tmp_path / f"{number:02}"
            folder.mkdir()
            make(folder)
            (folder / "main.py").write_text(TRAIN)
    answer = measured(tmp_path)
    assert "save-in-place" in answer["rules"]
    assert answer["peak_bytes"] < PEAK_BYTES
    assert not {"rule-failed", "cut-short"} & set(answer["unknown"])
