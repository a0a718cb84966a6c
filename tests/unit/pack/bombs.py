"""Small files that ask for much memory, one after the other, and what each made of this process.

`python -m tests.unit.pack.bombs`, a line each: its name, and the most bytes needed so far.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from pathlib import Path

from instride.pack.dtypes import regions_of
from tests.unit.pack.archives import zipped
from tests.unit.pack.packs import safetensors


def of_records(num_records: int) -> bytes:
    """A directory with that many records, all of them of the same bytes."""
    data = zipped({"a/data/0": bytes(64)})
    directory, end = data.rindex(b"PK\x01\x02"), bytearray(data[data.rindex(b"PK\x05\x06") :])
    one = data[directory : data.rindex(b"PK\x05\x06")]
    struct.pack_into("<II", end, 12, len(one) * num_records, directory)
    return data[:directory] + one * num_records + bytes(end)


def bombs() -> Iterator[tuple[str, bytes]]:
    yield "records", of_records(250_000)
    yield "memos", _pickled(b"\x8c\x01x\x94" * 4_000_000)
    yield "values", _pickled(b"K\x01" * 8_000_000)
    yield "a number of many digits", _pickled(b"I" + b"9" * 10_000_000 + b"\n")
    yield "a string that claims to be long", _pickled(b"\x8d" + struct.pack("<Q", 2**62))
    tensors = {f"t{number}": ("F32", b"") for number in range(200_000)}
    yield "a header of many tensors", safetensors(**tensors)


def _pickled(raw: bytes) -> bytes:
    return zipped({"a/data.pkl": b"\x80\x04" + raw + b"."})


def _peak_bytes() -> int:
    fields = Path("/proc/self/status").read_text(encoding="ascii").split()
    return int(fields[fields.index("VmHWM:") + 1]) * 1024


if __name__ == "__main__":
    for name, data in bombs():
        regions_of(io.BytesIO(data))
        print(f"{name}: {_peak_bytes()}")
