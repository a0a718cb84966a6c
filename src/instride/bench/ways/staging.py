"""A stager of DCP that keeps its memory from save to save, whatever torch says. Imported late: ways
that need none of it must not have it in their memory."""

from __future__ import annotations

from torch.distributed.checkpoint._state_dict_stager import StateDictStager
from torch.distributed.checkpoint.staging import DefaultStager, StagingOptions


class _KeptMemory(StateDictStager):
    """The copies that a stager keeps, and what it copies by."""

    def close(self) -> None:
        return

    def give_back(self) -> None:
        super().close()


class KeptStager(DefaultStager):
    """Only the benchmark ends it.

    Torch 2.11 closes what a stager keeps at the end of each staging (pytorch/pytorch#183413, which
    2.13 does not): its memory is lost, to be locked anew for the next save, which ends in a
    `KeyError` moreover. Such a row would tell of a bug, and not of what that way can do.
    """

    def __init__(self, options: StagingOptions) -> None:
        super().__init__(options)
        self._state_dict_stager: _KeptMemory = _KeptMemory(
            pin_memory=options.use_pinned_memory, share_memory=options.use_shared_memory
        )

    def close(self) -> None:
        """Nothing: it is the caller's, who goes on saving."""

    def end(self) -> None:
        super().close()  # waits for its thread
        self._state_dict_stager.give_back()
