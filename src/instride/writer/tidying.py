"""After a commit: read back, delete what need not be kept, look ahead. Nobody waits for it."""

from __future__ import annotations

from shlex import quote

from instride.errors import DamagedError
from instride.store.latest import how_stale
from instride.writer.committing import Commits, Outcome, num_more_that_fit
from instride.writer.deleting import Deleting
from instride.writer.telling import Told, why_of

FEW = 3
"""From so few checkpoints that still fit on, the person is told."""


class Tidying:
    def __init__(self, commits: Commits, told: Told, deleting: Deleting) -> None:
        self._commits = commits
        self._told = told
        self._deleting = deleting
        self.is_going = False

    def after(self, outcome: Outcome) -> None:
        """Whatever happens here is told, and raises nothing: what comes next must be saved."""
        self.is_going = True
        try:
            self._read_back_and_delete(outcome)
        except DamagedError as error:
            self._told.note("damaged", path=str(outcome.path), why=str(error))
            self._told.notice(f"damaged {outcome.path}", str(error), error.hint)
        except Exception as error:  # not only of the disk: a thread that ended would save no more
            self._told.note("tidy-failed", path=str(outcome.path), why=why_of(error))
        finally:
            self.is_going = False

    def _read_back_and_delete(self, outcome: Outcome) -> None:
        self._commits.verify(outcome.path)
        self._told.note("verified", path=str(outcome.path))
        with self._deleting.noted():
            self._commits.prune(outcome.path)
        if self._commits.is_latest_stale:
            self._told.notice("latest", *how_stale(outcome.path.parent))
        num_more = num_more_that_fit(outcome.path)
        if num_more < FEW:
            self._told.notice(
                "little-space",
                f"the disk of `{outcome.path.parent}` has room for {num_more} more "
                f"checkpoint{'' if num_more == 1 else 's'} of this size",
                f"`df -h {quote(str(outcome.path.parent))}` shows the disk; "
                "`Saver(keep=instride.Keep(last=1))` keeps as few as can be",
            )
