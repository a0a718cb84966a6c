"""What a program is there for."""

from __future__ import annotations

import pytest

from instride.doctor.machine.programs import Trade, shown_name, trade_of


@pytest.mark.parametrize(
    ("command", "trade"),
    [
        ("zstd -T0 step_100.pt", Trade.COMPRESSOR),
        ("7z.exe a out.7z", Trade.COMPRESSOR),
        ("python3.11 -u tools/compress_checkpoints.py --level 19", Trade.COMPRESSOR),
        ("python -X dev -m my.compressor", Trade.COMPRESSOR),
        ("bash sync.sh", Trade.SYNCER),
        ("rclone sync out remote:out", Trade.SYNCER),
        ("python3 /usr/bin/aws s3 sync . s3://b", Trade.SYNCER),
        ("tracker-miner-fs-3", Trade.INDEXER),
        ("MsMpEng.exe", Trade.INDEXER),
        ("python train_gpt2.py config.yaml", Trade.TRAINER),
        ("python -m torch.distributed.run --nproc 8 x.py", Trade.TRAINER),
        ("torchrun train.py", Trade.TRAINER),
        ("python -c import-time;compress", Trade.OTHER),
        ("python serve.py compress", Trade.OTHER),
        ("vim train.py", Trade.OTHER),
        ("python asynchronous.py", Trade.OTHER),
        ("python", Trade.OTHER),
        ("python -m", Trade.OTHER),
    ],
)
def test_name_and_script_tell_the_trade(command: str, trade: Trade) -> None:
    words = command.split()
    assert trade_of(words[0], words) is trade


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("python3 -u /opt/tools/pack.py --all", "python3 pack.py"),
        ("python -m my.packer", "python my.packer"),
        ("python -c pass", "python"),
        ("zstd step_100.pt", "zstd"),
    ],
)
def test_an_interpreter_is_shown_with_what_it_runs(command: str, shown: str) -> None:
    words = command.split()
    assert shown_name(words[0], words) == shown
