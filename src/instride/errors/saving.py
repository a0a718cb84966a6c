"""Why a snapshot was not taken, or not written."""

from __future__ import annotations

import errno
import shlex
from collections.abc import Iterable
from typing import ClassVar

from instride.errors.base import InstrideError, quoted_folder
from instride.reasons import Reason

OF_A_PROCESS = (errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN)
"""No disk is to blame for these."""
HINTS_BY_CODE = {errno.EEXIST: "hint.taken", errno.EISDIR: "hint.folder"}


class StoreInUseError(InstrideError, RuntimeError):
    """Another trainer that runs saves into the same directory."""

    exit_code = 31
    texts: ClassVar = {
        "message": "`{directory}` belongs to the training with pid {pid} on {host}, which runs",
        "message.agent": "`{directory}` belongs to the agent with pid {pid} on {host}, which runs",
        "message.here": "`{directory}` belongs to another Saver of this process ({pid})",
        "hint": "give this training a directory of its own, or stop the other: `kill {pid}`",
        "hint.here": "call `close()` of that Saver first, or give this one a directory of its own",
        "hint.agent": "its `Saver` prunes by itself, as its `keep=` says; the agent can look after "
        "the directory when the training is over",
        "hint.second-agent": "`instride agent status {quoted}` shows what it does; `kill {pid}` "
        "stops it",
        "hint.prune": "it prunes by itself, as its `keep=` says; what this command would delete is "
        "shown by the same with `--dry-run`",
    }

    def __init__(
        self, directory: str, host: str, pid: int, *, message: str = "message", hint: str = "hint"
    ) -> None:
        quoted = shlex.quote(directory)
        super().__init__(message, hint, directory=directory, host=host, pid=str(pid), quoted=quoted)


class SaveFailedError(InstrideError, OSError):
    """A checkpoint could not be written; training was not stopped."""

    exit_code = 32
    texts: ClassVar = {
        "message": "the checkpoint `{path}` was not saved: {why}",
        "message.store": "nothing can be saved now: {why}",
        "hint": "`df -h {folder}` and `ls -ld {folder}` show the disk and the permissions",
        "hint.store": "`ls -ld {folder} {quoted}` and `df -h {folder}` show the permissions and "
        "the disk",
        "hint.taken": "it was left as it is; give it another name: `mv -n {quoted} {quoted}.other`",
        "hint.folder": "name a file in it, as in `{quoted}/model.pt`",
        "hint.forked": "save in the process that made the `Saver`, or make another one in this",
        "hint.closed": "call `saver.save(step)` before `saver.close()`",
        "hint.limits": "`free -m` shows the memory; `ulimit -a` and `sysctl vm.max_map_count` "
        "show the limits of a process",
        "hint.state": "`torch.save` of the same state shows whether it can be saved at all: leave "
        "out what cannot, or make numbers, strings and tensors of it",
        "hint.changed": "write to parameters before `saver.save(step)`, or behind the "
        "`optimizer.step()` that follows it",
    }

    def __init__(
        self, path: object, why: str | Reason, *, message: str = "message", hint: str = "hint"
    ) -> None:
        quoted, folder = shlex.quote(str(path)), quoted_folder(str(path))
        super().__init__(message, hint, path=str(path), why=why, folder=folder, quoted=quoted)

    @classmethod
    def of(cls, path: object, error: Exception) -> SaveFailedError:
        """For whatever was raised on the way. What has a `hint_name` knows which hint it needs."""
        if isinstance(error, OSError):
            return cls(path, error.strerror or str(error), hint=hint_by(error.errno))
        if isinstance(error, MemoryError):
            return cls(path, str(error) or "there is no memory left", hint="hint.limits")
        hint = getattr(error, "hint_name", "hint.state")
        return cls(path, f"{type(error).__name__}: {error}", hint=hint)


def hint_by(code: int | None) -> str:
    """The hint for what the system said of a save."""
    if code in HINTS_BY_CODE:
        return HINTS_BY_CODE[code]
    return "hint.limits" if code in OF_A_PROCESS else "hint"


class UnsafeStateError(InstrideError, ValueError):
    """`strict=True`, and the state holds what `torch.load(weights_only=True)` refuses."""

    exit_code = 34
    texts: ClassVar = {
        "message": "`torch.load(weights_only=True)` would refuse this state because of {names}",
        "hint": "save numbers, strings and tensors instead, or leave out `strict=True`",
    }

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(names=", ".join(f"`{name}`" for name in names))


class StorageStuckError(InstrideError, TimeoutError):
    """The disk does not answer."""

    exit_code = 35
    texts: ClassVar = {
        "message": "nothing was written to `{path}` for {seconds}: its disk does not answer",
        "hint": "the writer goes on by itself when the disk comes back: `instride list {folder}`",
    }

    def __init__(self, path: object, seconds: float) -> None:
        super().__init__(path=str(path), seconds=seconds, folder=quoted_folder(str(path)))


class StateTooLargeError(InstrideError, MemoryError):
    """State that only `torch.save` can handle does not fit into the memory that is left."""

    exit_code = 36
    texts: ClassVar = {
        "message": "a snapshot of {wanted} MB does not fit into the {room} MB that may be used",
        "hint": "`free -m` shows the memory; `Saver(memory_bytes=...)` sets the limit",
    }

    def __init__(self, wanted_bytes: int, room_bytes: int) -> None:
        super().__init__(wanted=wanted_bytes >> 20, room=room_bytes >> 20)


class SaveSkippedError(InstrideError, RuntimeError):
    """A save was left out because the one before was still being written."""

    exit_code = 39
    texts: ClassVar = {
        "message": "`{path}` was skipped: the snapshot before it is still being written",
        "hint": "save less often, or wait for it with `Saver(when_busy='wait')`",
        "message.full": "`{path}` was skipped: the disk is full, and the snapshot before it waits "
        "for space",
        "hint.full": "`df -h {folder}` shows the disk; that one is saved once there is space",
        "message.inside": "`{path}` was skipped: a signal handler asked for it while another save "
        "was being taken",
        "hint.inside": "let the loop save: `saver.due(step)` hears SIGTERM and SIGUSR1",
    }

    def __init__(self, path: object, *, is_inside: bool = False, is_full: bool = False) -> None:
        """`is_inside`: another save; `is_full`: the disk."""
        form = ".inside" if is_inside else ".full" if is_full else ""
        folder = quoted_folder(str(path))
        super().__init__(f"message{form}", f"hint{form}", path=str(path), folder=folder)
        self.is_full = is_full


class NeedsLinuxError(InstrideError, RuntimeError):
    """The agent looks after other processes, by means that only Linux has."""

    exit_code = 51
    texts: ClassVar = {
        "message": "`instride agent` needs Linux; this is `{system}`",
        "hint": "`instride pack` and `instride prune` do the same by hand",
    }

    def __init__(self, system: str) -> None:
        super().__init__(system=system)
