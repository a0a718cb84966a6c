"""Beats: how the writer learns how fast training goes, for a few microseconds a step."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import torch

from instride.saver.choosing import Stepped
from instride.saver.leaving import let_go_in_children

if TYPE_CHECKING:
    from instride.snapshot.late import Promise

UNKNOWN_STEP = -1
STEP_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
"""Where an optimizer keeps them. Its constructor makes these, and not every class calls it."""
STEPS_TO_PEAK = 2
"""The first step makes what an optimizer keeps; the next one is the first beside all of that."""
NUM_PREPARED = 2
"""After so many optimizer steps the state has its final size, and memory is asked for again."""


class Beats:
    """Notes the passing of steps: as the loop says it, else as the optimizer does."""

    def __init__(
        self, engine: Stepped, parts: Iterable[object], prepare: Callable[[], None]
    ) -> None:
        self._page = engine.page
        self._prepare = prepare
        self._loop_says = False
        self._is_over = False
        self._num_steps = 0
        self._num_told = 0
        """How often the loop said which step it is at."""
        self._last_optimizer: int | None = None
        self._engine: Stepped | None = engine
        self._complete: set[int] = set()
        """Optimizers that keep all that they ever will: they have stepped, or got it back."""
        self._has_stepped = False
        """Whether training has run by now as it will, and shown how much memory it needs."""
        self._was_asked = False
        followed = (_followed(part) for part in parts)
        # One may be a part by itself, and inside of another one.
        self._optimizers = list({id(each): each for each in followed if each is not None}.values())
        self._fired: set[int] = set()
        """Optimizers whose hooks ran since the loop told of a step, or since the last save."""
        self._fired_before: set[int] = set()
        """Those of the step before."""
        self._captured: set[int] = set()
        if any(_has_no_flag(each) for each in self._optimizers) and _are_there_graphs():
            self._captured |= {id(each) for each in self._optimizers if _has_no_flag(each)}
        self._handles: list[Any] = []
        if self._optimizers:
            # A compiled optimizer step would trace the hooks, and compile anew until it gives up.
            # Asking for that loads the compiler, which whoever has an optimizer has loaded anyway.
            before = torch.compiler.disable(self._before_optimizer_step)
            after = torch.compiler.disable(self._after_optimizer_step)
            self._handles += [each.register_step_pre_hook(before) for each in self._optimizers]
            self._handles += [each.register_step_post_hook(after) for each in self._optimizers]
            engine.follow(self._promise, self._has_shown_peak)
        let_go_in_children(self)

    def step(self, step: int) -> None:
        """The loop told its step: better than anything an optimizer tells."""
        self._num_told += 1
        self._has_stepped |= self._num_told > STEPS_TO_PEAK
        self._loop_says = True
        self._fired_before, self._fired = self._fired, set()
        if self._engine is not None and not self._is_over:
            self._engine.give_way()
            self._engine.mark_step()
            self._page.beat(step, time.monotonic())

    def restored(self, step: int | None) -> None:
        """Training goes on from the checkpoint of a step, or anew: where only an optimizer tells of
        steps, nothing else says which they are."""
        if self._engine is not None and not self._is_over:
            self._page.restored(step, time.monotonic())

    def _has_shown_peak(self) -> bool:
        """To be asked once for each snapshot: nobody takes two without a step between, also where
        none is seen, as in a replayed graph."""
        was_asked, self._was_asked = self._was_asked, True
        return self._has_stepped or (was_asked and not self._complete)

    def _promise(self) -> Promise:
        """What belongs to optimizers whose hooks ran in the last step.

        Hooks do not run when a CUDA graph is replayed: what such a step changes must not be late.
        A graph may be older than this, and its capture was not seen then: an optimizer counts as
        captured if its flag allows it, or if it has no flag and there was any graph.
        """
        fired = (self._fired | self._fired_before) - self._captured
        self._fired, self._fired_before = set(), set()
        seen = [each for each in self._optimizers if id(each) in fired and not _is_for_graphs(each)]
        return lambda: _tensors_of(seen)

    def _before_optimizer_step(self, optimizer: Any, *_: object) -> None:
        if self._engine is not None:
            if optimizer.state:
                self._complete.add(id(optimizer))
            self._engine.fence()
            if self._is_over and not self._engine.is_late:
                self._engine = None  # nobody is called from here any more
                self._optimizers = []

    def _after_optimizer_step(self, optimizer: Any, *_: object) -> None:
        """Only the same optimizer seen again is another step: there may be several."""
        if self._engine is None or self._is_over:
            return
        self._has_stepped |= id(optimizer) in self._complete
        self._complete.add(id(optimizer))
        self._engine.give_way()
        self._fired.add(id(optimizer))
        is_capturing = torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()
        if is_capturing:
            self._captured.add(id(optimizer))
        if self._last_optimizer is None:
            self._last_optimizer = id(optimizer)
        if self._last_optimizer != id(optimizer):
            return
        self._engine.mark_step()
        self._num_steps += 1
        if self._num_steps <= NUM_PREPARED and not is_capturing:  # what it launches is no step's
            self._prepare()
        if not self._loop_says:
            self._page.beat(UNKNOWN_STEP, time.monotonic())

    def let_go(self) -> None:
        """In a forked child, which may step as well: its steps are none of this training, whose
        page it shares. Hooks stay, and do nothing: it may have been forked while they run."""
        self._engine = None
        self._optimizers = []

    def stop(self) -> None:
        """What is still copied late is waited for by the optimizers all the same, in their next
        step. Hooks that are left then do nothing: while they run they cannot be removed."""
        self._is_over = True
        if self._engine is None or not self._engine.is_late:
            for handle in self._handles:
                handle.remove()
            self._handles = []
            # The engine knows this too: until somebody collects garbage, it would keep all that
            # the optimizers have from being freed.
            self._optimizers = []


def _followed(part: object) -> torch.optim.Optimizer | None:
    """The optimizer whose hooks run when a part steps, if there are any.

    Wrappers, as those of accelerate, are optimizers that never called the constructor of torch:
    they have no place for hooks, and what they wrap steps.
    """
    if not isinstance(part, torch.optim.Optimizer):
        return None  # schedulers have an optimizer as well, which need not be a part
    inside = part if _takes_hooks(part) else getattr(part, "optimizer", None)
    is_optimizer = isinstance(inside, torch.optim.Optimizer)
    return inside if is_optimizer and _takes_hooks(inside) else None


def _takes_hooks(optimizer: torch.optim.Optimizer) -> bool:
    return all(hasattr(optimizer, hooks) for hooks in STEP_HOOKS)


def _is_for_graphs(optimizer: torch.optim.Optimizer) -> bool:
    """Whether its steps may be captured: torch refuses that where the flag is unset."""
    return any(group.get("capturable") for group in optimizer.param_groups)


def _has_no_flag(optimizer: torch.optim.Optimizer) -> bool:
    """SGD and others may be captured, and nothing tells whether they were."""
    return any("capturable" not in group for group in optimizer.param_groups)


def _are_there_graphs() -> bool:
    """Whether anything was captured in this process, whatever it was. Graphs are found as the
    objects that they are: the driver names none, and one that only writes to what is there has no
    memory of its own to be known by. Some 50 ms, once, and none where there is no GPU."""
    if not torch.cuda.is_initialized():
        return False
    kind, found = torch.cuda.CUDAGraph, gc.get_objects()
    # What was frozen is not told of: a graph is younger than its class, and is frozen with it. How
    # much is frozen tells nothing, as Python 3.12 freezes some objects of its own.
    is_hidden = not any(each is kind for each in found)
    # By its type: `isinstance` would ask objects of any program for their class.
    return is_hidden or any(issubclass(type(each), kind) for each in found)


def _tensors_of(optimizers: Iterable[torch.optim.Optimizer]) -> list[torch.Tensor]:
    """What optimizers change: parameters, and what is kept of each of them."""
    found = [p for each in optimizers for group in each.param_groups for p in group["params"]]
    kept = [state for each in optimizers for state in each.state.values()]
    # Some keep a number for all parameters there.
    values = [value for state in kept if isinstance(state, dict) for value in state.values()]
    return found + [value for value in values if isinstance(value, torch.Tensor)]
