"""What the system says about a file that cannot be changed, as an error that names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from instride.errors import InstrideError, UnwritableError
from instride.reasons import Reason


@contextmanager
def naming_what_cannot_be_written(path: Path) -> Iterator[None]:
    """Raise UnwritableError for what the system refuses; errors of ours are raised as they are."""
    try:
        yield
    except InstrideError:
        raise  # many are an OSError too
    except OSError as error:
        raise UnwritableError(str(path), Reason.of(error)) from error
