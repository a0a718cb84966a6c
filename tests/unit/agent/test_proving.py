"""Files that were changed behind the agent's back: it must say so, and live on."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from instride.agent.proving import Proofs
from instride.governor.pace import Pace

CONTENT = b"numbers of a tensor" * 3


def _archive(method: int) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", method) as archive:
        archive.writestr("archive/data.pkl", CONTENT)
        archive.writestr("archive/data/\N{GREEK SMALL LETTER THETA}", CONTENT)
    return raw.getvalue()


def _holds(path: Path) -> bool:
    return Proofs(Pace(), lambda: None).holds(path, is_made=False)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_no_flipped_bit_of_a_zip_stops_the_agent(tmp_path: Path, method: int) -> None:
    raw = _archive(method)
    path = tmp_path / "step_1.pt"
    path.write_bytes(raw)
    assert _holds(path)
    verdicts = []
    for bit in range(8 * len(raw)):
        damaged = bytearray(raw)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        verdicts.append(_holds(path))
    assert verdicts.count(False) > len(verdicts) / 2  # the rest are dates, versions and the like


@pytest.mark.parametrize("place", range(len(CONTENT)))
def test_a_flipped_bit_of_the_content_is_found(tmp_path: Path, place: int) -> None:
    damaged = bytearray(_archive(zipfile.ZIP_STORED))
    damaged[damaged.index(CONTENT) + place] ^= 1
    path = tmp_path / "step_1.pt"
    path.write_bytes(damaged)
    assert not _holds(path)
