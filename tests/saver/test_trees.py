"""Any tree of state, as nobody would write it by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import instride
from tests.saver.states import DTYPES, assert_same, of_dtype

pytestmark = pytest.mark.torch

NUMBERS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(min_size=1, max_size=5),
)
KEYS = st.one_of(st.text(max_size=4), st.integers(-5, 5))


@st.composite
def tensors(draw: st.DrawFn) -> torch.Tensor:
    """A tensor of any kind, perhaps a part of another, perhaps turned, perhaps empty."""
    flat = of_dtype(draw(st.sampled_from(DTYPES)))
    start = draw(st.integers(0, flat.numel()))
    stop = draw(st.integers(start, flat.numel()))
    part = flat[start : stop : draw(st.sampled_from([1, 1, 3]))]
    if part.numel() % 2 == 0 and draw(st.booleans()):
        part = part.view(-1, 2) if part.is_contiguous() else part
        part = part.t() if draw(st.booleans()) else part
    return part


@st.composite
def trees(draw: st.DrawFn) -> Any:
    """A tree in which tensors may occur more than once."""
    pool = draw(st.lists(tensors(), min_size=1, max_size=4))
    leaves = st.one_of(NUMBERS, st.sampled_from(pool))
    return draw(
        st.recursive(
            leaves,
            lambda inner: st.one_of(
                st.lists(inner, max_size=4),
                st.tuples(inner, inner),
                st.dictionaries(KEYS, inner, max_size=4),
            ),
            max_leaves=12,
        )
    )


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(trees())
def test_any_tree_comes_back_as_it_was(tmp_path: Path, tree: Any) -> None:
    instride.save({"tree": tree}, tmp_path / "x.pt").wait(60)

    assert_same(torch.load(tmp_path / "x.pt", weights_only=True), {"tree": tree})
