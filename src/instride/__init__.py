"""instride finds out why training steps are slow, from the log you already have."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
