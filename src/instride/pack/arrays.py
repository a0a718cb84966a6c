"""numpy, or an error that says how to get it."""

from __future__ import annotations

from typing import Any

from instride.errors import MissingLibraryError

try:
    import numpy as np
except ImportError as error:
    raise MissingLibraryError("pack", "numpy", extra="pack") from error

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
__all__ = ["Bytes", "np"]
