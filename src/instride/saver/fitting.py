"""What of a checkpoint fits the parts of a training: found out before anything is changed.

Parts with code of their own for loading are not compared: nobody but they can tell, and they do
when they load.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch.optim import Optimizer

from instride.errors import MismatchError
from instride.saver.misfits import (
    ModuleMisfits,
    has_same_order,
    keeps_moments_apart,
    misfit_of_groups,
    misfits_of_module,
    parameters_by_key,
    parameters_of,
    unlike_moments,
    wrapped,
)
from instride.saver.parts import (
    RESERVED,
    Part,
    is_optimizer,
    live_state,
    loads_as_torch_does,
)


class Fitting:
    """Compares one checkpoint with the parts. What does not fit is an error if that is strict; if
    not, it is taken out of the checkpoint, and noted."""

    def __init__(self, path: Path, parts: Mapping[str, Part], *, strict: bool) -> None:
        self.parts = parts
        self.strict = strict
        self.notes: list[str] = []
        """What was left out, for people."""
        self._path = path
        # Parameters, by their identity.
        self._filled: set[int] = set()
        self._left: set[int] = set()
        self._moved: set[int] = set()
        self._unknown: dict[str, set[int]] = {}
        self._in_doubt: set[int] = set()

    def check(self, tree: object) -> dict[str, Any]:
        """The tree without what does not fit. Raises MismatchError, also for a tree that no Saver
        made, or somebody else who names parts in the same way."""
        if not isinstance(tree, dict):
            kind = type(tree).__qualname__
            raise MismatchError(self._path, f"it holds a `{kind}`, not named parts")
        if self.strict and not tree.keys() >= RESERVED:
            raise MismatchError(
                self._path,
                "it was not saved by a Saver: it says neither step nor state of the generators",
            )
        missing = sorted(self.parts.keys() - tree.keys())
        if missing and self.strict:
            raise MismatchError(self._path, f"it has no part `{missing[0]}`")
        self.notes = [f"`{self._path}` has no part `{name}`" for name in missing]
        for name, part in self.parts.items():
            if isinstance(part, torch.nn.Module):
                self._check_module(name, part, tree)
        for name, part in self.parts.items():
            if is_optimizer(part) and name in tree:
                self._check_optimizer(name, part, tree)
            elif isinstance(part, torch.amp.GradScaler) and _was_turned_on(part, tree.get(name)):
                self._leave(name, "it was not enabled when it was saved", tree)
        return tree

    def _check_module(self, name: str, module: torch.nn.Module, tree: dict[str, Any]) -> None:
        if name not in tree:
            self._left.update(map(id, module.parameters()))
            return
        if not loads_as_torch_does(module):
            self._unknown[name] = set(map(id, module.parameters()))
            return
        saved, live = tree[name], live_state(module)
        if not isinstance(saved, dict):
            self._left.update(map(id, module.parameters()))
            self._leave(name, f"it is a `{type(saved).__qualname__}` in the checkpoint", tree)
            return
        misfits = misfits_of_module(saved, live)
        parameters = {each for each, _ in module.named_parameters(remove_duplicate=False)}
        if misfits.may_shift(parameters) or not has_same_order(saved, live, parameters):
            self._moved.update(map(id, module.parameters()))
        self._filled.update(id(live[each]) for each in live.keys() - misfits.stay)
        if misfits.are_there:
            self._tell(name, misfits, saved, live)
            self._left.update(id(live[each]) for each in misfits.stay)
            for each in [*misfits.only_saved, *misfits.unlike]:
                del saved[each]

    def _tell(
        self, name: str, misfits: ModuleMisfits, saved: Iterable[str], live: Iterable[str]
    ) -> None:
        why = misfits.told(strict=self.strict)
        wrapper = wrapped(saved, live)
        if wrapper is None:
            error = MismatchError(self._path, f"part `{name}`: {why}")
        else:
            hint = "hint.wrapped" if wrapper.is_saved else "hint.inside"
            error = MismatchError(
                self._path,
                f"part `{name}`: {wrapper.told()}",
                hint=hint,
                part=name,
                wrapper=wrapper.name,
            )
        if self.strict:
            raise error
        note = f"part `{name}` was not restored as a whole from `{self._path}`: {why}"
        if wrapper is not None:
            note = f"{note}; {wrapper.told()}\n\nhint: {error.hint}"
        self.notes.append(note)

    def _check_optimizer(self, name: str, optimizer: Optimizer, tree: dict[str, Any]) -> None:
        parameters = set(map(id, parameters_of(optimizer)))
        left = parameters & (self._left - self._filled)
        is_known = loads_as_torch_does(optimizer)
        misfit = misfit_of_groups(tree[name], optimizer) if is_known else None
        if misfit is not None:
            self._leave(name, misfit, tree)
        elif left and not (is_known and keeps_moments_apart(optimizer)):
            self._leave(name, "not all of its parameters were restored", tree)
        elif parameters & self._moved and not self.strict:
            self._leave(
                name,
                "parameters came to its model, left it, or have another order there: whose moments "
                "are whose cannot be told",
                tree,
            )
        elif is_known:
            self._check_moments(name, optimizer, left, tree[name])
            if parameters & self._moved:
                self.notes.append(
                    f"part `{name}`: the parameters of its model have another order than in "
                    f"`{self._path}`. An optimizer knows them by their order: if its own is that "
                    "of the model, moments of one are those of another now"
                )

    def _check_moments(
        self, name: str, optimizer: Optimizer, left: set[int], saved: dict[str, Any]
    ) -> None:
        unlike = unlike_moments(saved, optimizer)
        if unlike and self.strict:
            raise MismatchError(self._path, f"part `{name}`: {next(iter(unlike.values()))}")
        num_left = 0
        for key, parameter in parameters_by_key(saved, optimizer).items():
            if (id(parameter) in left or key in unlike) and key in saved["state"]:
                del saved["state"][key]
                num_left += 1
        if num_left:
            self.notes.append(
                f"part `{name}` was not restored as a whole from `{self._path}`: the moments of "
                f"{num_left} parameters that were not restored, or have another shape, were left "
                "out, and begin anew"
            )

    def _leave(self, name: str, why: str, tree: dict[str, Any]) -> None:
        if self.strict:
            raise MismatchError(self._path, f"part `{name}`: {why}")
        del tree[name]
        self.notes.append(f"part `{name}` stays as it was, without `{self._path}`: {why}")

    def may_fill(self, part: Part) -> bool:
        """Whether a part will be restored for sure, so that its tensors may be filled already."""
        if self.strict or not is_optimizer(part):
            return True
        unknown = set().union(*self._unknown.values())
        return unknown.isdisjoint(map(id, parameters_of(part)))

    def has_compared(self, name: str) -> bool:
        """Whether all that does not fit a module was found, and noted."""
        return name not in self._unknown

    def doubt(self, name: str) -> None:
        """A part said, when it loaded, that not everything fits."""
        self._in_doubt.update(self._unknown.get(name, ()))

    def is_in_doubt(self, part: Part) -> bool:
        """Whether moments of an optimizer may be of parameters that were not restored."""
        return is_optimizer(part) and not self._in_doubt.isdisjoint(map(id, parameters_of(part)))


def _was_turned_on(scaler: torch.amp.GradScaler, saved: Any) -> bool:
    """Whether it is on now and was off when it was saved: it would refuse to load nothing."""
    return bool(scaler.is_enabled() and saved == {})
