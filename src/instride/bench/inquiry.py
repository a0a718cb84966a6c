"""Having things measured that nobody has measured before."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from instride.bench.answers import Answers, Asked
from instride.bench.asking import A, ChildFailedError, ask
from instride.bench.orders import Answer, Order

IN_PART = "not all that was asked for has been measured of it yet; `--ways` asks for the rest"


class Inquiry:
    def __init__(
        self,
        wanted: Collection[str],
        answers: Answers,
        scratch: Path,
        on_progress: Callable[[str], None],
    ) -> None:
        """`wanted` are the ways that something is to be measured of now."""
        self._wanted = wanted
        self._answers = answers
        self._scratch = scratch
        self._on_progress = on_progress

    def ask(
        self, what: str, order: Order, kind: type[A], number: int | None = None
    ) -> tuple[A, int]:
        """What was answered before, or is now, in the round of that number; and the most memory.

        Raises ChildFailedError: what failed is not kept, so that the next command tries it again.
        """
        asked = Asked.of(order, number)
        if (before := self._answers.find(asked, kind)) is not None:
            return before
        if order.way and order.way not in self._wanted:
            raise ChildFailedError(IN_PART)
        self._on_progress(what)
        self._answers.begin(self._scratch)
        answer, peak_bytes = ask(order, kind)
        assert isinstance(answer, Answer)
        self._answers.keep(asked, answer, peak_bytes)
        return answer, peak_bytes
