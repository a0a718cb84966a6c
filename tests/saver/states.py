"""States of every kind that people save, and what it means that two of them are equal."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import torch

DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn,
    torch.float8_e5m2, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16,
    torch.uint32, torch.uint64, torch.bool, torch.complex64, torch.complex128,
]  # fmt: skip


def of_dtype(dtype: torch.dtype) -> torch.Tensor:
    """Some bytes, seen as values of a kind."""
    raw = torch.arange(256, dtype=torch.int64).to(torch.uint8)
    return (raw % 2).to(torch.bool) if dtype is torch.bool else raw.view(dtype)


def tied() -> dict[str, Any]:
    weight = torch.randn(8, 8)
    return {"embedding": weight, "head": weight, "row": weight[3], "turned": weight.t()}


def trained() -> dict[str, Any]:
    """A model, its optimizer and its scheduler after a few steps."""
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.BatchNorm1d(32))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    for _ in range(3):
        model(torch.randn(4, 16)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
    return {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
    }


def cyclic() -> dict[str, Any]:
    shared = [torch.ones(3)]
    tree: dict[str, Any] = {"a": shared, "b": shared}
    tree["self"] = tree
    return tree


STATES: dict[str, Callable[[], Any]] = {
    "a tensor": lambda: torch.randn(5, 7),
    "nothing": lambda: {},
    "numbers": lambda: {"i": 1, "f": 0.1, "b": True, "n": None, "s": "text", "c": 1 + 2j, 7: "key"},
    "bytes": lambda: {"raw": b"\x00\xff", "size": torch.Size([2, 3]), "dtype": torch.bfloat16},
    "nested": lambda: {"a": [1, (2, {"b": torch.ones(2)}), []], "t": (), "set": {1, 2}},
    "ordered": lambda: OrderedDict(b=torch.ones(1), a=torch.zeros(1)),
    "counter": lambda: {"counts": Counter(a=3)},
    "dtypes": lambda: {str(dtype): of_dtype(dtype) for dtype in DTYPES},
    "zero sized": lambda: {"a": torch.empty(0), "b": torch.empty(3, 0), "c": torch.ones(2)},
    "scalars": lambda: {str(i): torch.tensor(float(i)) for i in range(100)},
    "tied": tied,
    "views": lambda: {"slice": torch.arange(100)[10:20], "strided": torch.arange(100)[::7]},
    "not contiguous": lambda: {
        "t": torch.randn(4, 6).t(),
        "p": torch.randn(2, 3, 4).permute(2, 0, 1),
    },
    "expanded": lambda: {"e": torch.ones(1, 4).expand(5, 4)},
    "channels last": lambda: torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last),
    "parameters": lambda: {
        "w": torch.nn.Parameter(torch.randn(3)),
        "frozen": torch.nn.Parameter(torch.randn(3), requires_grad=False),
        "leaf": torch.randn(2).requires_grad_(),
    },
    "sparse": lambda: {
        "coo": torch.eye(4).to_sparse(),
        "csr": torch.eye(4).to_sparse_csr(),
        "csc": torch.eye(4).to_sparse_csc(),
        "loose": torch.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (3,)),
    },
    "cyclic": cyclic,
    "trained": trained,
    "large": lambda: {"w": torch.randn(3 << 20), "v": torch.randn(1 << 18)},
}


def assert_same(left: Any, right: Any, seen: frozenset[int] = frozenset()) -> None:
    """Bit for bit: types, values, shapes, strides, and NaNs with their payload."""
    assert type(left) is type(right)
    if id(left) in seen:
        return
    seen |= {id(left)}
    if isinstance(left, torch.Tensor):
        assert_same_tensor(left, right)
    elif isinstance(left, dict):
        assert list(left) == list(right)
        for key in left:
            assert_same(left[key], right[key], seen)
        assert_same(getattr(left, "__dict__", None), getattr(right, "__dict__", None), seen)
    elif isinstance(left, list | tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_same(one, other, seen)
    else:
        assert left == right or (left != left and right != right)


def assert_same_tensor(left: torch.Tensor, right: torch.Tensor) -> None:
    assert (left.dtype, left.shape, left.layout) == (right.dtype, right.shape, right.layout)
    assert left.requires_grad == right.requires_grad
    if left.layout is torch.sparse_coo:
        assert left.is_coalesced() == right.is_coalesced()
        assert_same_tensor(left._indices(), right._indices())
        assert_same_tensor(left._values(), right._values())
    elif left.layout is not torch.strided:
        assert torch.equal(left.to_dense(), right.to_dense())
    else:
        assert left.numel() == 0 or left.stride() == right.stride()
        assert bits(left) == bits(right)


def bits(tensor: torch.Tensor) -> bytes:
    plain = tensor.detach().clone(memory_format=torch.contiguous_format).reshape(-1)
    return bytes(plain.view(torch.uint8).numpy()) if plain.numel() else b""
