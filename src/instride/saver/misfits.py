"""What of a saved state does not fit a module or an optimizer, by names, shapes and kinds alone.

The tensors that are compared need not have their data yet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import torch
from torch.nn.parameter import is_lazy
from torch.optim import LBFGS, Optimizer

MOST_NAMED = 3
"""So many are told by name, the others are counted."""
WRAPPERS = {"_orig_mod": "torch.compile", "module": "DistributedDataParallel"}
"""What puts a name of its own before all names of a model, and which."""


class ModuleMisfits(NamedTuple):
    """What differs between the state of a module in a checkpoint and the module."""

    only_saved: list[str]
    only_live: list[str]
    unlike: dict[str, str]
    """What both have, and how it differs."""

    @property
    def are_there(self) -> bool:
        return bool(self.only_saved or self.only_live or self.unlike)

    @property
    def stay(self) -> set[str]:
        """What of the module is not restored."""
        return {*self.only_live, *self.unlike}

    def may_shift(self, parameters: Collection[str]) -> bool:
        """Whether a parameter came or went. Of what only the checkpoint has, nobody knows whether
        it was one."""
        return bool(self.only_saved) or any(name in parameters for name in self.only_live)

    def told(self, *, strict: bool) -> str:
        said = []
        if self.only_saved:
            then = "" if strict else " (left out)"
            said.append(f"only the checkpoint has {named(self.only_saved)}{then}")
        if self.only_live:
            then = "" if strict else " (unchanged)"
            said.append(f"only the part has {named(self.only_live)}{then}")
        if self.unlike:
            name, how = next(iter(self.unlike.items()))
            others = "" if len(self.unlike) == 1 else f", and {len(self.unlike) - 1} more differ"
            then = "" if strict else " (unchanged)"
            said.append(f"`{name}` {how}{others}{then}")
        return "; ".join(said)


def named(names: Sequence[str]) -> str:
    """A few names, then a count."""
    shown = [f"`{name}`" for name in names[:MOST_NAMED]]
    if len(names) > MOST_NAMED:
        shown.append(f"{len(names) - MOST_NAMED} more")
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def misfits_of_module(saved: Mapping[str, Any], live: Mapping[str, Any]) -> ModuleMisfits:
    both = ((name, how_unlike(saved[name], live[name])) for name in live if name in saved)
    return ModuleMisfits(
        [name for name in saved if name not in live],
        [name for name in live if name not in saved],
        {name: how for name, how in both if how is not None},
    )


def how_unlike(saved: Any, live: torch.Tensor) -> str | None:
    """What keeps a module from copying one tensor to another. Another kind of number does not."""
    if not isinstance(saved, torch.Tensor):
        return "is no tensor in the checkpoint"
    if saved.is_nested or live.is_nested:
        return None  # has no shape that could be compared
    # A number by itself and one in a list are the same to torch.
    if saved.shape != live.shape and (live.shape, saved.shape) != ((), (1,)):
        return f"is {list(saved.shape)} in the checkpoint and {list(live.shape)} in the part"
    return None


def has_same_order(
    saved: Mapping[str, Any], live: Mapping[str, Any], parameters: Collection[str]
) -> bool:
    """Whether parameters that both have are in the same order. Optimizers know them by that: in
    another one, the moments of one are taken for those of another."""
    both = saved.keys() & live.keys() & set(parameters)
    return [name for name in saved if name in both] == [name for name in live if name in both]


class Wrapped(NamedTuple):
    """The names are the same but for a prefix, which a wrapper around the model gives them."""

    name: str
    is_saved: bool
    """Whether the checkpoint has it, or the part."""

    def told(self) -> str:
        there, not_there = ("the checkpoint", "the part")[:: 1 if self.is_saved else -1]
        return (
            f"all names begin with `{self.name}.` in {there} and not in {not_there}, as "
            f"`{WRAPPERS[self.name]}` makes them"
        )


def wrapped(saved: Iterable[str], live: Iterable[str]) -> Wrapped | None:
    in_saved, in_live = set(saved), set(live)
    for name in WRAPPERS:
        if in_saved == {f"{name}.{each}" for each in in_live}:
            return Wrapped(name, is_saved=True)
        if in_live == {f"{name}.{each}" for each in in_saved}:
            return Wrapped(name, is_saved=False)
    return None


def misfit_of_groups(saved: Any, optimizer: Optimizer) -> str | None:
    """How the groups of parameters differ; torch would find out when the model is restored."""
    try:
        sizes = [len(group["params"]) for group in saved["param_groups"]]
        has_state = isinstance(saved["state"], dict)
    except (TypeError, KeyError):
        has_state = False
    if not has_state:
        return "it is not the state of an optimizer"
    here = [len(group["params"]) for group in optimizer.param_groups]
    if len(sizes) != len(here):
        return f"groups of parameters: {len(sizes)} in the checkpoint, {len(here)} in the part"
    for number, (size, its) in enumerate(zip(sizes, here, strict=True)):
        if size != its:
            return f"parameters in group {number}: {size} in the checkpoint, {its} in the part"
    return _misfit_of_kinds(saved, optimizer)


def _misfit_of_kinds(saved: Any, optimizer: Optimizer) -> str | None:
    """What an optimizer would look for in vain, in its next step, among what another kind of them
    has. Tried out on an empty one: what an older one of the same kind had not, it gets by itself.
    """
    tried: Optimizer = object.__new__(type(optimizer))
    tried.defaults = dict(optimizer.defaults)
    groups = [{**group, "params": []} for group in saved["param_groups"]]
    try:
        tried.__setstate__({"state": {}, "param_groups": groups})
    except Exception:  # it will say itself what is wrong
        return None
    for group, live in zip(groups, optimizer.param_groups, strict=True):
        missing = sorted((live.keys() & optimizer.defaults.keys()) - group.keys())
        if missing:
            kind = type(optimizer).__name__
            return f"it has no {named(missing)}, which {kind} needs: it is of another kind"
    return None


def parameters_by_key(saved: Any, optimizer: Optimizer) -> dict[Any, torch.Tensor]:
    """What a saved state calls the parameters of an optimizer whose groups fit."""
    keys = chain.from_iterable(group["params"] for group in saved["param_groups"])
    return dict(zip(keys, parameters_of(optimizer), strict=True))


def parameters_of(optimizer: Optimizer) -> Iterable[torch.Tensor]:
    return chain.from_iterable(group["params"] for group in optimizer.param_groups)


def keeps_moments_apart(optimizer: Optimizer) -> bool:
    """Whether each parameter has moments by itself, of its shape or one that spreads over it, and
    gets new ones if it has none. So it is with those of torch; others may do what they like."""
    is_of_torch = type(optimizer).__module__.startswith("torch.optim.")
    return is_of_torch and not isinstance(optimizer, LBFGS)


def unlike_moments(saved: Any, optimizer: Optimizer) -> dict[Any, str]:
    """The keys of parameters whose saved moments have another size, and which."""
    if not keeps_moments_apart(optimizer):
        return {}
    found: dict[Any, str] = {}
    for key, parameter in parameters_by_key(saved, optimizer).items():
        for name, value in _tensors_of(saved["state"].get(key)):
            if not is_lazy(parameter) and not _spreads_over(value, parameter):
                shapes = f"{list(value.shape)}, of a parameter of {list(parameter.shape)}"
                found.setdefault(key, f"`{name}` of parameter {key} is {shapes}")
    return found


def _tensors_of(state: Any) -> list[tuple[str, torch.Tensor]]:
    values = state.items() if isinstance(state, dict) else ()
    return [(name, value) for name, value in values if isinstance(value, torch.Tensor)]


def _spreads_over(moment: torch.Tensor, parameter: torch.Tensor) -> bool:
    if moment.is_nested or parameter.is_nested or moment.numel() == 1:
        return True
    sizes = zip(moment.shape, parameter.shape, strict=False)
    return moment.dim() == parameter.dim() and all(its in (1, size) for its, size in sizes)
