"""Compressors and syncs beside training, with priorities that work and that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.doctor.model import FixKind
from tests.unit.doctor.rules.training import in_loop
from tests.unit.doctor.rules.trying import found, line_with, lines

LOOP = "while true; do zstd -q out/step_*.pt; sleep 60; done"
TRAIN = "python train.py\n"
DAEMON = """\
[watcher]
path = "checkpoints"
pattern = "step_*.pt"

[compression]
enabled = true
level = 3
"""
COMPOSE = """\
services:
  trainer:
    image: train
    command: python train.py
  packer:
    image: tools
    command: zstd-watch /checkpoints
"""
UNIT = "[Service]\nExecStart=/usr/bin/checkpoint-compressor /data/checkpoints\n"


def test_a_daemon_that_a_makefile_starts_is_found(tmp_path: Path) -> None:
    makefile = "train:\n\tsaver --config daemon.toml &\n\tpython train.py\n"
    files = {"Makefile": makefile, "daemon.toml": DAEMON}
    [finding] = found("compressor-beside-training", tmp_path, files)
    assert lines(finding) == [("Makefile", 2), ("daemon.toml", line_with(DAEMON, "enabled"))]
    assert "+\tnice -n 19 ionice -c 3 saver --config daemon.toml &" in finding.fixes[0].text


BESIDE = {
    "a loop": {"run.sh": f"{LOOP} &\n{TRAIN}"},
    "a loop over several lines": {"run.sh": LOOP.replace("; ", "\n") + f" &\n{TRAIN}"},
    "a subshell": {"run.sh": f"({LOOP}) &\n{TRAIN}"},
    "a function": {"run.sh": "pack() {\n" + LOOP + "\n}\npack &\n" + TRAIN},
    "nohup": {"run.sh": f"nohup pigz out/step_1.pt &\n{TRAIN}"},
    "a program by its name": {"run.sh": f"./bin/compress-checkpoints out/ckpt &\n{TRAIN}"},
    "tar": {"run.sh": f"tar czf ckpt.tgz checkpoints &\n{TRAIN}"},
    "training in the background before it": {"run.sh": f"python train.py &\n{LOOP}\n{LOOP} &\n"},
    "variables": {"run.sh": f"TOOL=zstd\n$TOOL -q out/step_1.pt &\n{TRAIN}"},
    "another session with nice": {"run.sh": f"setsid nice -n 19 xz out/step_1.pt &\n{TRAIN}"},
    "tmux with nice": {"run.sh": f"tmux new -d -s p 'nice -n 19 xz out/step_1.pt'\n{TRAIN}"},
    "screen": {"run.sh": f"screen -dmS pack xz out/step_1.pt\n{TRAIN}"},
    "a target of its own": {
        "Makefile": "pack:\n\txz checkpoints/step_*.pt &\n\ntrain:\n\tpython train.py\n"
    },
    "a Procfile": {"Procfile": "train: python train.py\npack: compressd checkpoints\n"},
    "a service": {"compose.yaml": COMPOSE},
    "a unit": {"pack.service": UNIT, "train.py": in_loop("pass")},
    "a unit with nice": {"pack.service": UNIT + "Nice=19\n", "train.py": in_loop("pass")},
}


@pytest.mark.parametrize("files", BESIDE.values(), ids=BESIDE.keys())
def test_a_compressor_beside_training_is_found(tmp_path: Path, files: dict[str, str]) -> None:
    assert len(found("compressor-beside-training", tmp_path, files)) == 1


YIELDING = {
    "nice": {"run.sh": f"nice -n 19 zstd out/step_1.pt &\n{TRAIN}"},
    "nice in a loop": {"run.sh": f"{LOOP.replace('zstd', 'nice zstd')} &\n{TRAIN}"},
    "nohup and nice": {"run.sh": f"nohup nice -n 19 zstd out/step_1.pt &\n{TRAIN}"},
    "the idle class": {"run.sh": f"chrt -i 0 zstd out/step_1.pt &\n{TRAIN}"},
    "CPUs of its own": {"run.sh": f"taskset -c 15 zstd out/step_1.pt &\n{TRAIN}"},
    "the weight of a group": {
        "run.sh": f"systemd-run --user -p CPUWeight=1 zstd out/step_1.pt\n{TRAIN}"
    },
    "the weight of a session": {
        "run.sh": "setsid sh -c 'echo 19 > /proc/self/autogroup; exec xz out/step_1.pt' &\n" + TRAIN
    },
    "a service with a share": {
        "compose.yaml": COMPOSE.replace("image: tools", "image: tools\n    cpu_shares: 2")
    },
    "a unit with a weight": {
        "pack.service": UNIT + "CPUWeight=1\n",
        "train.py": in_loop("pass"),
    },
}


@pytest.mark.parametrize("files", YIELDING.values(), ids=YIELDING.keys())
def test_a_priority_that_works_is_enough(tmp_path: Path, files: dict[str, str]) -> None:
    assert not found("compressor-beside-training", tmp_path, files)


NOT_BESIDE = {
    "in the foreground": {"run.sh": f"zstd out/step_1.pt\n{TRAIN}"},
    "after training": {"run.sh": f"{TRAIN}zstd out/step_1.pt &\n"},
    "waited for": {"run.sh": f"zstd out/step_1.pt &\nwait\n{TRAIN}"},
    "data, once": {"run.sh": f"gzip data.json &\n{TRAIN}"},
    "without training": {"run.sh": f"{LOOP} &\n"},
    "a redirection": {"run.sh": f"zstd out/step_1.pt > log 2>&1\n{TRAIN}"},
    "text": {"run.sh": f'echo "zstd out/step_1.pt &"\n{TRAIN}'},
    "a daemon that does not compress": {
        "Makefile": "train:\n\tsaver --config daemon.toml &\n\tpython train.py\n",
        "daemon.toml": DAEMON.replace("true", "false"),
    },
    "a comment": {"run.sh": f"# {LOOP} &\n{TRAIN}"},
    "a unit that has nothing to do with it": {
        "web.service": "[Service]\nExecStart=/usr/bin/gzip-server\n",
        "train.py": in_loop("pass"),
    },
}


@pytest.mark.parametrize("files", NOT_BESIDE.values(), ids=NOT_BESIDE.keys())
def test_what_does_not_run_beside_training_is_left_alone(
    tmp_path: Path, files: dict[str, str]
) -> None:
    assert not found("compressor-beside-training", tmp_path, files)


@pytest.mark.parametrize(
    ("files", "instead"),
    [
        (BESIDE["a unit"], "+CPUWeight=1"),
        (BESIDE["a service"], "+    cpu_shares: 2"),
        (BESIDE["another session with nice"], "/proc/self/autogroup"),
        (BESIDE["a loop"], "do nice -n 19 ionice -c 3 zstd"),
    ],
)
def test_the_fix_fits_where_it_runs(tmp_path: Path, files: dict[str, str], instead: str) -> None:
    [finding] = found("compressor-beside-training", tmp_path, files)
    assert finding.fixes[0].kind is FixKind.DIFF
    assert instead in finding.fixes[0].text


SYNCS = [
    "rsync -a out/ckpt/ host:/backup/",
    "rclone sync checkpoints remote:bucket",
    "aws s3 sync checkpoints s3://bucket",
    "gsutil -m rsync -r checkpoints gs://bucket",
]


@pytest.mark.parametrize("command", SYNCS)
def test_a_sync_in_a_loop_beside_training_is_found(tmp_path: Path, command: str) -> None:
    text = f"(\n  while true; do\n    {command}\n    sleep 300\n  done\n) &\n{TRAIN}"
    [finding] = found("syncer-beside-training", tmp_path, {"run.sh": text})
    assert lines(finding) == [("run.sh", 3)]


@pytest.mark.parametrize(
    "text",
    [
        f"while true; do rsync --bwlimit=20m -a ckpt/ h:/b/; sleep 9; done &\n{TRAIN}",
        f"while true; do nice -n 19 rsync -a ckpt/ h:/b/; sleep 9; done &\n{TRAIN}",
        f"aws s3 sync s3://bucket/data data\n{TRAIN}",
        f"{TRAIN}aws s3 sync checkpoints s3://bucket &\n",
        f"rsync -a host:data/ data/ &\nwait\n{TRAIN}",
    ],
)
def test_a_sync_that_is_limited_or_over_is_left_alone(tmp_path: Path, text: str) -> None:
    assert not found("syncer-beside-training", tmp_path, {"run.sh": text})


def test_compression_of_whole_checkpoints_is_found(tmp_path: Path) -> None:
    [finding] = found("whole-file-compression", tmp_path, {"daemon.toml": DAEMON})
    assert finding.facts == {"setting": "compression.enabled = true"}
    assert "+enabled = false" in finding.fixes[0].text


def test_a_codec_among_the_settings_of_checkpoints_is_found(tmp_path: Path) -> None:
    text = "checkpoint:\n  dir: out\n  compression: zstd\n"
    [finding] = found("whole-file-compression", tmp_path, {"train.yaml": text})
    assert lines(finding) == [("train.yaml", 3)]


def test_a_save_into_a_packed_file_is_found(tmp_path: Path) -> None:
    body = "with gzip.open('last.pt.gz', 'wb') as f:\n    torch.save(model.state_dict(), f)"
    [finding] = found("whole-file-compression", tmp_path, {"train.py": in_loop(body)})
    assert finding.facts == {"setting": "gzip.open"}


@pytest.mark.parametrize(
    "files",
    [
        {"daemon.toml": DAEMON.replace("true", "false")},
        {"daemon.toml": DAEMON.replace("step_*.pt", "*.log").replace("checkpoints", "logs")},
        {"data.yaml": "dataset:\n  compression: gzip\n"},
        {"daemon.toml": DAEMON, "pack.py": "level = config['compression']['level']\n"},
        {"train.yaml": "checkpoint:\n  compression: none\n"},
    ],
)
def test_other_compression_is_left_alone(tmp_path: Path, files: dict[str, str]) -> None:
    assert not found("whole-file-compression", tmp_path, files)
