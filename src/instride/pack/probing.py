"""Whether a base is worth it, found out on some blocks of a file before all of it is packed."""

from __future__ import annotations

import threading

from instride.pack.compressing import Compression

NUM_BLOCKS = 16
LEAST_GAIN = 0.05
"""A base that saves less is not worth having to be kept."""


class Probe:
    """Blocks from all over a file, compressed against its base and alone."""

    def __init__(self, compression: Compression) -> None:
        self._compression = compression
        cuts = compression.cuts
        self._waiting = cuts[:: max(1, len(cuts) // NUM_BLOCKS)]
        self.bytes_left = sum(each.end - each.start for each in self._waiting)
        self._lock = threading.Lock()
        self._against_base_bytes = 0
        self._alone_bytes = 0

    @property
    def pays(self) -> bool:
        return self._against_base_bytes <= (1 - LEAST_GAIN) * self._alone_bytes

    def do_one(self) -> bool:
        with self._lock:
            if not self._waiting:
                return False
            cut = self._waiting.pop()
        sizes = []
        for alone in (False, True):
            block = self._compression.compress(cut, alone=alone)
            sizes.append(block.encoded.num_bytes)
            self._compression.take_back(block)
        with self._lock:
            self._against_base_bytes += sizes[0]
            self._alone_bytes += sizes[1]
            self.bytes_left -= cut.end - cut.start
        return True
