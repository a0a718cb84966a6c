"""What is restored is not in the memory of the host twice, not even for a moment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.saver.scripts import run

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(sys.platform != "linux", reason="peaks are told by /proc"),
]

TRAINING = """
def of(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith(field))

def training():
    model = torch.nn.Sequential(*(torch.nn.Linear(2048, 2048) for _ in range(8)))
    return model, torch.optim.AdamW(model.parameters())

model, optimizer = training()
"""
SAVING = """
for parameter in model.parameters():
    parameter.grad = torch.ones_like(parameter)
optimizer.step()
with instride.Saver("store", model=model, optimizer=optimizer) as saver:
    saver.save(1).wait(60)
"""
# The arena, which takes a whole state, is no part of what restoring needs.
RESTORING = """
with instride.Saver("store", memory_bytes=1 << 20, model=model, optimizer=optimizer) as saver:
    if WARM:
        saver.restore()
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    before = of("VmRSS")
    assert saver.restore() == 2
    print(of("VmHWM") - before)
"""
WEIGHTS_MIB = 8 * 2048 * 2048 * 4 >> 20
SPARE_MIB = 64
"""A piece for each thread that reads, the structure, and what torch loads for the first time."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a store in it."""
    folder = tmp_path_factory.mktemp("restoring")
    run(folder, TRAINING + SAVING)
    return folder


@pytest.mark.parametrize(
    ("is_warm", "made_mib"),
    [(False, 2 * WEIGHTS_MIB), (True, 0)],
    ids=["a new process", "in mid-run"],
)
def test_restoring_takes_no_more_memory_than_what_it_makes(
    is_warm: bool, made_mib: int, folder: Path
) -> None:
    [more_mib] = run(folder, f"WARM = {is_warm}\n" + TRAINING + RESTORING)

    assert int(more_mib) <= made_mib + SPARE_MIB
