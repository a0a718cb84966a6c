"""The folder that a benchmark writes to, and deletes again."""

from __future__ import annotations

import os
import tempfile

from instride.errors import UnwritableError
from instride.reasons import Reason

SCRATCH = "instride-bench-"
"""How the names of such folders begin."""


def scratch_in(folder: str) -> tempfile.TemporaryDirectory[str]:
    """A new one. Raises UnwritableError where none can be made.

    What a writer adds while it is deleted must not be what the command ends with.
    """
    try:
        return tempfile.TemporaryDirectory(dir=folder, prefix=SCRATCH, ignore_cleanup_errors=True)
    except OSError as error:
        # As a directory: it is this one that has to be made, not what it lies in.
        named = os.path.join(folder, "")  # noqa: PTH118 - a path would drop the end
        raise UnwritableError(named, Reason.of(error)) from error
