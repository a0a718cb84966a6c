"""The configuration file: that of an ordinary checkpoint daemon, and what is wrong with others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from instride.agent.configuration import Configuration, read_file
from instride.errors import BadConfigError
from tests.unit.doctor.case_repository import DAEMON

ROOT = Path(__file__).parents[3]


def read(tmp_path: Path, text: str) -> Configuration:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return read_file(path)


def test_the_configuration_of_the_case_is_understood_as_it_is(tmp_path: Path) -> None:
    configuration = read(tmp_path, DAEMON)
    assert configuration == Configuration(
        directories=(tmp_path / "checkpoints",),
        pattern="step_*.pt",
        keep=3,
        is_compressing=True,
        level=9,
    )


def test_everything_can_be_said(tmp_path: Path) -> None:
    configuration = read(
        tmp_path,
        """
        [watcher]
        path = ["a", "/b"]
        interval = 10
        [compression]
        enabled = true
        format = "lz4"
        level = 3
        remove_original = true
        [governor]
        budget = 0.05
        mode = "after"
        deadline = 600
        log = "train.log"
        """,
    )
    assert configuration == Configuration(
        directories=(tmp_path / "a", Path("/b")),
        interval_s=10.0,
        format="lz4",
        level=3,
        removes_original=True,
        budget=0.05,
        mode="after",
        deadline_s=600.0,
        log=tmp_path / "train.log",
    )


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "") == Configuration()


@pytest.mark.parametrize(
    ("text", "setting", "line", "why"),
    [
        ("[watcher]\npath = 'a'\npatern = '*.pt'", "[watcher] patern", 3, "did you mean `pattern`"),
        ("[cleanup]\nkeep-latest = 3", "[cleanup] keep-latest", 2, "did you mean `keep_latest`"),
        ("\n[compresion]\nlevel = 1", "[compresion]", 2, "did you mean `compression`"),
        ("[metrics]\nport = 1", "[metrics]", 1, "there is no such setting"),
        ("[governor]\nnice = 19", "[governor] nice", 2, "there is no such setting"),
        ("[cleanup]\nkeep_latest = 0", "[cleanup] keep_latest", 2, "whole number from 1 on"),
        ("[cleanup]\nkeep_latest = true", "[cleanup] keep_latest", 2, "whole number from 1 on"),
        ("[compression]\nlevel = 30", "[compression] level", 2, "from 1 to 22"),
        ("[compression]\nenabled = 'yes'", "[compression] enabled", 2, "true or false"),
        ("[compression]\nformat = 'gzip'", "[compression] format", 2, "one of zstd, lz4, pack"),
        ("[compression]\nformat='pack'\nlevel=3", "[compression] level", 3, "no level"),
        ("[watcher]\npath = 3", "[watcher] path", 2, "must be a text"),
        ("[watcher]\npattern = 'a/*.pt'", "[watcher] pattern", 2, "names of files"),
        ("[watcher]\ninterval = -1", "[watcher] interval", 2, "number of seconds"),
        ("[governor]\nbudget = 2", "[governor] budget", 2, "between 0 and 1"),
        ("[governor]\nmode = 'never'", "[governor] mode", 2, "one of share, after"),
        ("watcher = 3", "[watcher]", 1, "not a table"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, text: str, setting: str, line: int, why: str
) -> None:
    with pytest.raises(BadConfigError) as caught:
        read(tmp_path, text)
    said = str(caught.value)
    assert f"`{setting}`" in said
    assert f"line {line}," in said
    assert why in said


def test_a_key_is_found_in_its_own_section(tmp_path: Path) -> None:
    text = "[watcher]\npath = 'level'\n[compression]\n# level = 3\nlevel = 99\n"
    with pytest.raises(BadConfigError, match="line 5"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("raw", "why"), [(b"[watcher\n", "line 1"), (b"a = '\xff'", "UTF-8"), (None, "No such file")]
)
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, raw: Any, why: str) -> None:
    path = tmp_path / "config.toml"
    if raw is not None:
        path.write_bytes(raw)
    with pytest.raises(BadConfigError, match=why):
        read_file(path)


@pytest.mark.parametrize("guide", ["compress-while-you-train", "replace-your-checkpoint-daemon"])
def test_configurations_in_the_guides_are_understood(tmp_path: Path, guide: str) -> None:
    text = (ROOT / f"docs/guides/{guide}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.+?)```", text, re.DOTALL)
    assert blocks
    for block in blocks:
        read(tmp_path, block)
    assert guide != "replace-your-checkpoint-daemon" or DAEMON in blocks
