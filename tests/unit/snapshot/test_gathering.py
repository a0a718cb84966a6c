"""What is loaded on a GPU is what its source says."""

from __future__ import annotations

import hashlib

import pytest

from instride.snapshot.gathering import KERNEL

pytestmark = pytest.mark.torch


def test_the_kernel_was_made_from_the_source_beside_it() -> None:
    """After a change: `make kernels`."""
    source = KERNEL.with_suffix(".cu").read_bytes()

    first_line = KERNEL.read_text(encoding="ascii").splitlines()[0]

    assert first_line == f"// From gather.cu: {hashlib.sha256(source).hexdigest()}"
