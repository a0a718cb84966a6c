"""A training on a system without anything that only Linux, or only Unix, has.

What torch and the standard library need of it, they have got before it is taken away.
"""

from __future__ import annotations

import concurrent.futures
import ctypes
import mmap
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
from typing import Any

import numpy
import psutil
import torch
import torch._dynamo
import torch.utils.serialization.config

ONLY_UNIX = (
    "O_CLOEXEC", "O_DIRECT", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "fork", "getuid",
    "memfd_create", "pidfd_open", "posix_fadvise", "posix_fallocate", "pread", "preadv", "pwrite",
    "pwritev", "register_at_fork", "sched_setscheduler", "sched_param", "setpriority", "statvfs",
    "uname",
)  # fmt: skip
ONLY_UNIX_MODULES = ("fcntl", "isal", "isal.isal_zlib", "resource")


def take_away() -> None:
    for name in ONLY_UNIX:
        delattr(os, name)
    for module in ONLY_UNIX_MODULES:
        sys.modules[module] = None  # type: ignore[assignment]
    del signal.SIGUSR1, socket.send_fds, socket.recv_fds, socket.AF_UNIX
    del mmap.MAP_PRIVATE, mmap.MAP_ANONYMOUS
    loaded = ctypes.CDLL

    def load(name: str | None, *args: Any, **kwargs: Any) -> Any:
        if name is None:
            raise TypeError("bad argument type for built-in operation")  # as Windows says
        return loaded(name, *args, **kwargs)

    ctypes.CDLL = load  # type: ignore[assignment,misc]


def main(directory: pathlib.Path) -> None:
    import instride

    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(model.parameters())
    with instride.Saver(
        directory, keep=instride.Keep(last=2), model=model, optimizer=optimizer
    ) as saver:
        for step in range(saver.restore(), 3):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            if saver.due(step, every=1) or not saver.should_stop:
                saver.save(step, extra={"step": numpy.int64(step)}).wait()
        print(saver.restore(), saver.extra["step"])
    instride.save({"a": torch.ones(1)}, directory / "x.pt").wait()
    print(instride.load(directory / "x.pt")["a"].item())


if __name__ == "__main__":
    assert all((concurrent.futures.ThreadPoolExecutor, psutil, subprocess, tempfile))
    take_away()
    main(pathlib.Path(sys.argv[1]))
