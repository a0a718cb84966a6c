"""The files that an arena lies in, and their memory as this process has it mapped."""

from __future__ import annotations

import weakref

import torch

from instride.snapshot.pages import Pages
from instride.system.striped import (
    Memory,
    close_files,
    fill,
    let_go_in_child,
    make_files,
    place_of,
    reserve,
    resize,
)


class SharedMemory:
    """It can only grow, and is mapped anew then, in one piece."""

    def __init__(self, name: str, num_files: int) -> None:
        self.fds = make_files(name, num_files)
        """None once they are closed."""
        self.bytes = torch.empty(0, dtype=torch.uint8)
        """All of it."""
        self._mappings: list[weakref.ref[Memory]] = []
        """This one, and those of before that something still refers to."""

    def grow(self, num_bytes: int) -> None:
        resize(self.fds, num_bytes)
        mapping = reserve(num_bytes)
        # Known before it is filled: who is forked meanwhile has no thread that would get that far.
        self._mappings = [each for each in self._mappings if each() is not None]
        self._mappings.append(weakref.ref(mapping))
        # The old mapping goes when the last view of it does; the pages are those of the files.
        self.bytes = torch.frombuffer(fill(mapping, self.fds), dtype=torch.uint8)

    def pages(self, start: int, end: int) -> Pages:
        """Some that lie in one file; the mapping is there for as long as somebody has them."""
        file, offset = place_of(start, len(self.fds))
        return Pages(self.fds[file], offset, self.bytes[start:end])

    def let_go(self) -> None:
        """Keep nothing mapped that nobody else refers to."""
        self.bytes = torch.empty(0, dtype=torch.uint8)

    def let_go_in_child(self) -> None:
        """Of what was mapped before a fork, whoever else refers to it."""
        for mapping in (each() for each in self._mappings):
            if mapping is not None:
                let_go_in_child(mapping)
        self.close()

    def close(self) -> None:
        """The files; what is mapped of them stays."""
        close_files(self.fds)
        self.fds = ()
