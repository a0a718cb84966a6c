"""Whether there is what saving in the background is made of."""

from __future__ import annotations

import os
import threading


def is_possible() -> bool:
    """Shared memory without a name, and processes that can be watched: Linux since 5.3, if nobody
    forbids it."""
    if not hasattr(os, "memfd_create") or not hasattr(os, "pidfd_open"):
        return False
    try:
        os.close(os.memfd_create("instride-probe"))
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True


def can_start_threads() -> bool:
    """Python 3.12 starts none any more once a program is over, whatever it does at its end."""
    try:
        threading.Thread(target=int, daemon=True).start()
    except RuntimeError:
        return False
    return True
