"""Programs that were started without standard streams: what anybody says there is lost, and lands
in no file of ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import instride

pytestmark = pytest.mark.torch

SCRIPT = """
import json, os, sys
import torch
import instride

said = {}
weight = torch.arange(1 << 20, dtype=torch.float32)

class Part:
    def state_dict(self):
        return {"weight": weight}

    def load_state_dict(self, state):
        weight.copy_(state["weight"])

with instride.Saver(sys.argv[1], part=Part()) as saver:
    for step in (1, 2):
        pending = saver.save(step)
        for descriptor in range(3):
            try:
                os.write(descriptor, b"a library warns of something " * 20000)
                said[descriptor] = os.readlink(f"/proc/self/fd/{descriptor}")
            except OSError:
                pass
        saver.due(step)
        pending.wait(60)
    saver.restore()
with open(sys.argv[2], "w") as file:
    json.dump(said, file)
"""


@pytest.mark.parametrize("closed", ["<&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_what_is_written_to_a_stream_that_was_closed_is_in_no_snapshot(
    closed: str, tmp_path: Path
) -> None:
    store, told = tmp_path / "store", tmp_path / "told"
    command = f'exec "$@" {closed}'
    arguments = [sys.executable, "-c", SCRIPT, str(store), str(told)]
    done = subprocess.run(
        ["sh", "-c", command, "sh", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0
    assert "instride" not in told.read_text()
    saved = instride.load(store / "step_00000002.pt")
    assert torch.equal(saved["part"]["weight"], torch.arange(1 << 20, dtype=torch.float32))
