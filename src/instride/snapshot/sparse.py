"""Sparse tensors, taken apart into the dense ones they are made of, and put together again."""

from __future__ import annotations

import torch

ROWS = (torch.sparse_csr, torch.sparse_bsr)
COLUMNS = (torch.sparse_csc, torch.sparse_bsc)


def parts_of(tensor: torch.Tensor) -> list[torch.Tensor] | None:
    """The dense parts of a sparse tensor; None for a layout that is not known."""
    if tensor.layout is torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in ROWS:
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    if tensor.layout in COLUMNS:
        return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
    return None


def put_together(
    parts: list[torch.Tensor], size: torch.Size, layout: torch.layout, *, is_coalesced: bool
) -> torch.Tensor:
    """The sparse tensor over these parts, which are not looked at."""
    with torch.sparse.check_sparse_tensor_invariants(False):
        if layout is torch.sparse_coo:
            return torch.sparse_coo_tensor(*parts, size, is_coalesced=is_coalesced)
        return torch.sparse_compressed_tensor(*parts, size, layout=layout)


def is_coalesced(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.sparse_coo and tensor.is_coalesced()
