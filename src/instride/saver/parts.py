"""The parts of a training: anything with `state_dict()` and `load_state_dict()`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeGuard, runtime_checkable

import torch
from torch.optim import Optimizer

from instride.errors import nearest
from instride.store.retention import Keep

TORCH = ("torch.optim.", "torch.amp.")
"""Where schedulers and scalers of torch are."""
RESERVED = frozenset({"step", "rng", "extra", "instride"})
MODULE_METHODS = (
    "_save_to_state_dict",
    "_load_from_state_dict",
    "get_extra_state",
    "set_extra_state",
)
MODULE_HOOKS = (
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)
OPTIMIZER_HOOKS = (
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


@runtime_checkable
class Part(Protocol):
    """A model, an optimizer, a scheduler, a data loader that remembers where it is."""

    def state_dict(self) -> Any: ...

    def load_state_dict(self, state: Any, /) -> Any: ...


def check_parts(parts: Mapping[str, object], options: Iterable[str]) -> dict[str, Part]:
    """The parts, or TypeError and ValueError for what is none; one of `options` may be meant."""
    checked: dict[str, Part] = {}
    for name, part in parts.items():
        if name in RESERVED:
            raise ValueError(f"`{name}=` cannot be the name of a part: instride uses it itself")
        if isinstance(part, type):
            raise TypeError(
                f"`{name}` is the class `{part.__qualname__}`: give the object that is trained, "
                f"as in `{name} = {part.__qualname__}(...)`"
            )
        if not isinstance(part, Part):
            raise TypeError(_no_part(name, part, options))
        checked[name] = part
    if not checked:
        raise ValueError("nothing to save: name the parts, as in Saver('checkpoints', model=model)")
    return checked


def _no_part(name: str, part: object, options: Iterable[str]) -> str:
    kind = type(part).__qualname__
    text = f"`{name}` is of type `{kind}`, without `state_dict()` and `load_state_dict()`; "
    meant = "keep" if isinstance(part, Keep) else nearest(name, options)
    if meant is not None:
        return f"{text}did you mean the option `{meant}=`?"
    if part is None:
        return f"`{name}` is None: leave it out where there is none"
    extra = f"`saver.save(step, extra={{'{name}': ...}})`"
    return f"{text}values that change go along with each save: {extra}"


def live_state(part: Part) -> Any:
    """The state of a part over its own tensors.

    A module would make new tensor objects each time; with `keep_vars` it hands out its own, which
    is quicker, and lets a plan be recognised.
    """
    if isinstance(part, torch.nn.Module) and type(part).state_dict is torch.nn.Module.state_dict:
        return part.state_dict(keep_vars=True)
    return part.state_dict()


def tells_at_any_time(part: Part) -> bool:
    """Whether asking for its state does nothing else: no work together with other processes, as
    hooks of sharded modules do, and no code of somebody's own."""
    if isinstance(part, torch.nn.Module):
        return _loads_as_modules_do(part)
    if is_optimizer(part):
        return _loads_as_optimizers_do(part)
    return type(part).state_dict.__module__.startswith(TORCH)


def is_optimizer(part: Part) -> TypeGuard[Optimizer]:
    """Whether it is one that tells its parameters. A class may be derived from that of torch, never
    call its constructor, and have none of what that makes: it is a part like any other."""
    return isinstance(part, Optimizer) and hasattr(part, "param_groups")


def loads_as_torch_does(part: Part) -> bool:
    """Whether it is a module or an optimizer without code of its own for that, so that what fits it
    can be told by looking."""
    if isinstance(part, torch.nn.Module):
        return _loads_as_modules_do(part)
    return is_optimizer(part) and _loads_as_optimizers_do(part)


def fillable_state(part: Part) -> Any:
    """The tensors of a part that may be filled before it is asked to load them.

    Only those of modules and optimizers that load as torch does: by a copy onto itself, or by
    keeping what they are given. Any other part may empty its tensors first, and would have been
    handed nothing else.
    """
    if isinstance(part, torch.nn.Module) and _loads_as_modules_do(part):
        return live_state(part)
    if is_optimizer(part) and _loads_as_optimizers_do(part):
        return {"state": part.state_dict()["state"]}
    return None


def kept_state(part: Part, saved: Any) -> Any:
    """What of a saved state a part may go on with, as it is given. Modules copy it, unless they
    have code of their own for that.

    Optimizers move moments to their parameters in any case; what comes with groups, as a learning
    rate for a graph does, they leave where it is.
    """
    if isinstance(part, torch.nn.Module) and _has_methods_of_torch(part):
        return None
    if not is_optimizer(part):
        return saved
    if not isinstance(saved, dict):
        return None
    return saved if _loads_as_optimizers_do(part) else saved.get("param_groups")


def gpus_of(*parts: Part) -> set[torch.device]:
    """The GPUs that modules and optimizers are on. Nothing is asked for its state: that may be work
    for all processes together."""
    devices = {tensor.device for part in parts for tensor in _memory_of(part)}
    return {device for device in devices if device.type == "cuda"}


def _memory_of(part: Part) -> Iterator[torch.Tensor]:
    if isinstance(part, torch.nn.Module):
        yield from part.parameters()
        yield from part.buffers()
    elif is_optimizer(part):
        for group in part.param_groups:
            yield from group["params"]


def _loads_as_modules_do(module: torch.nn.Module) -> bool:
    return _has_methods_of_torch(module) and not any(
        getattr(each, hooks) for each in module.modules() for hooks in MODULE_HOOKS
    )


def _has_methods_of_torch(module: torch.nn.Module) -> bool:
    return _is_own(module, torch.nn.Module, "state_dict", "load_state_dict") and all(
        _is_own(each, torch.nn.Module, *MODULE_METHODS) for each in module.modules()
    )


def _loads_as_optimizers_do(optimizer: Optimizer) -> bool:
    return _is_own(
        optimizer, Optimizer, "state_dict", "load_state_dict", "__setstate__"
    ) and not any(getattr(optimizer, hooks, True) for hooks in OPTIMIZER_HOOKS)


def _is_own(value: object, base: type, *names: str) -> bool:
    """Whether methods are those of a class of torch, or of others of its kind there."""
    home = base.__module__.rpartition(".")[0]
    return all(
        name not in vars(value) and getattr(type(value), name).__module__.startswith(f"{home}.")
        for name in names
    )
