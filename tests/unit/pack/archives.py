"""Archives as `torch.save` writes them, and as nobody does, without torch."""

from __future__ import annotations

import io
import struct
import zipfile


def zipped(records: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in records.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def mark_of_storage(key: str, kind: str, *, is_new: bool = False) -> bytes:
    """The persistent id of a storage, as a pickle of either protocol spells it."""
    module, _, name = kind.partition(" ")

    def text(value: str) -> bytes:
        raw = value.encode()
        if is_new:
            return b"\x8c" + bytes([len(raw)]) + raw + b"\x94"
        return b"X" + struct.pack("<I", len(raw)) + raw

    global_ = (
        text(module) + text(name) + b"\x93"
        if is_new
        else b"c%s\n%s\n" % (module.encode(), name.encode())
    )
    return b"(" + text("storage") + global_ + text(key) + text("cpu") + b"K\x07tQ"
