"""Tables of bytes and fields for the pages about internals, from the code that writes them.

A page has places for them: what stands between `<!-- table: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import ast
import inspect
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, get_args, get_type_hints

import msgspec

from instride import faults
from instride.image import layout, zipping
from instride.store import manifest
from instride.system import striped
from instride.writer import page, protocol

PLACE = re.compile(r"(<!-- table: ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
EXAMPLE_SIZES = (256, 100_000, 12)
"""Of the storages in the example of a layout."""

LOCAL_FIELDS = (
    "signature", "version needed", "flags: a descriptor follows, names are UTF-8",
    "method: stored", "time", "date: 1 January 1980", "CRC-32: in the descriptor",
    "compressed size: in the descriptor", "size: in the descriptor", "length of the name",
    "length of the extra field",
)  # fmt: skip
DESCRIPTOR_FIELDS = ("signature", "CRC-32 of the bytes", "compressed size", "size")
CENTRAL_FIELDS = (
    "signature", "version made by", "version needed", "flags", "method", "time", "date",
    "CRC-32", "compressed size", "size", "length of the name", "length of the extra field",
    "length of the comment", "disk", "internal attributes", "external attributes",
    "offset of the local header",
)  # fmt: skip
END_64_FIELDS = (
    "signature", "size of the rest of this record", "version made by", "version needed", "disk",
    "disk of the directory", "records on this disk", "records", "size of the directory",
    "offset of the directory",
)  # fmt: skip
LOCATOR_FIELDS = ("signature", "disk", "offset of the 64-bit end record", "disks")
END_FIELDS = (
    "signature", "disk", "disk of the directory", "records on this disk", "records",
    "size of the directory", "offset of the directory", "length of the comment",
)  # fmt: skip


def filled(path: Path) -> str:
    """A page with its tables as they follow from the code now."""
    tables = {
        "records": _records(),
        "local-header": _structure(zipping.LOCAL, LOCAL_FIELDS, _example_header()),
        "descriptor": _structure(
            zipping.DESCRIPTOR, DESCRIPTOR_FIELDS, zipping.descriptor(0x1234ABCD, 100_000)
        ),
        "descriptor-64": _structure(
            zipping.DESCRIPTOR_64, DESCRIPTOR_FIELDS, zipping.descriptor(0x1234ABCD, 5 << 30)
        ),
        "central-header": _structure(
            zipping.CENTRAL,
            CENTRAL_FIELDS,
            zipping.central_header("archive/data/1", 0x1234ABCD, 100_000, 384),
        ),
        "end": _end(),
        "arena": _arena(),
        "page": _page(),
        "to-writer": _messages(protocol.ToWriter),
        "to-trainer": _messages(protocol.ToTrainer),
        "phases": _phases(),
        "manifest": _fields(manifest.Manifest, manifest),
        "timings": _fields(manifest.Timings, manifest),
    }

    def put(place: re.Match[str]) -> str:
        return f"{place[1]}{tables[place[2]]}{place[4]}"

    return PLACE.sub(put, path.read_text(encoding="utf-8"))


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += [f"| {' | '.join(str(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _structure(kind: struct.Struct, names: Sequence[str], raw: bytes) -> str:
    """The fields of a structure with their offsets, and what they are in an example."""
    codes = kind.format.removeprefix("<")
    rows = []
    offset = 0
    for code, name, value in zip(codes, names, kind.unpack_from(raw), strict=True):
        size = struct.calcsize("<" + code)
        rows.append((offset, size, name, f"`{value:#0{2 + 2 * size}x}`"))
        offset += size
    return _table(("offset", "bytes", "field", "example"), rows)


def _example_header() -> bytes:
    return layout.lay_out(EXAMPLE_SIZES).records[1].header()


def _records() -> str:
    placed = layout.lay_out(EXAMPLE_SIZES)
    rows = [
        (f"`{r.name}`", r.num_bytes, r.header_offset, r.data_offset, r.data_end, r.end)
        for r in placed.records
    ]
    heads = ("record", "bytes", "header from", "data from", "descriptor from", "to")
    return _table(heads, rows)


def _end() -> str:
    raw = zipping.end_of_archive(5, 105_000, 300)
    parts = (
        (zipping.END_64, END_64_FIELDS),
        (zipping.LOCATOR_64, LOCATOR_FIELDS),
        (zipping.END, END_FIELDS),
    )
    tables = []
    for kind, names in parts:
        tables.append(_structure(kind, names, raw))
        raw = raw[kind.size :]
    return "\n".join(tables)


def _arena() -> str:
    """The first stripes, and one that begins again with the first file."""
    starts = [number * striped.STRIPE_BYTES for number in range(striped.NUM_FILES + 2)]
    rows = (
        (start, *striped.place_of(start, striped.NUM_FILES), striped.STRIPE_BYTES)
        for start in starts
    )
    return _table(("offset in the arena", "file", "offset in the file", "bytes"), rows)


def _page() -> str:
    fields = {
        page.COPIED: "trainer | pieces in the arena, of what is still on its way there",
        page.WRITTEN: "writer | pieces of a stream that are written, whose slots are free",
        page.BEATS: "trainer | beats so far, written behind the beat that it counts",
        page.PROGRESS: "writer | grows with whatever gets done; the watchdog looks at it",
        page.JOURNALED: "writer | beats that are in the journal",
    }
    rows: list[Sequence[object]] = [
        (8 * index, "i64", *fields[index].split(" | ")) for index in sorted(fields)
    ]
    first, each = 8 * page.FIRST_BEAT, 8 * page.FIELDS_OF_A_BEAT
    place = f"{first} + {each} x (n mod {page.NUM_BEATS})"
    step = "step of beat n; -1 where its number is not known"
    restore = "of a `restore()`: -3 - the step restored, -2 where there was none"
    rows.append((place, "i64", "trainer", f"{step}; {restore}"))
    rows.append((f"{place} + 8", "f64", "trainer", "when it was, by the monotonic clock"))
    end = f"The page has {page.PAGE_BYTES} bytes.\n"
    return _table(("offset", "type", "written by", "what"), rows) + "\n" + end


def _messages(union: UnionType) -> str:
    documented = field_docs(protocol)
    parts = []
    for kind in get_args(union):
        tag = kind.__struct_config__.tag
        about = inspect.cleandoc(kind.__doc__ or "") if _has_own_doc(kind) else ""
        parts.append(f"**`{tag}`** {about}".rstrip() + "\n")
        names = kind.__struct_fields__
        if names:
            hints, docs = get_type_hints(kind), documented[kind.__name__]
            rows: list[Sequence[object]] = [(0, f'`"{tag}"`', "`str`", "")]
            rows += [
                (place, f"`{name}`", _type(hints[name]), _line(docs.get(name, "")))
                for place, name in enumerate(names, 1)
            ]
            parts.append(_table(("index", "field", "type", "what"), rows))
    return "\n".join(parts)


def _has_own_doc(kind: type) -> bool:
    """Structures without a docstring are given one by the library."""
    tree = ast.parse(inspect.getsource(kind)).body[0]
    return isinstance(tree, ast.ClassDef) and ast.get_docstring(tree) is not None


def _phases() -> str:
    trainer, writer = faults.TRAINER_PHASES, faults.WRITER_PHASES
    return _table(
        ("side", "phases, in order"),
        [(side, ", ".join(f"`{name}`" for name in names)) for side, names in
         (("trainer", trainer), ("writer", writer))],
    )  # fmt: skip


def _fields(kind: type[msgspec.Struct], module: ModuleType) -> str:
    hints, docs = get_type_hints(kind), field_docs(module)[kind.__name__]
    rows = [
        (f"`{name}`", _type(hints[name]), _line(docs.get(name, "")))
        for name in kind.__struct_fields__
    ]
    return _table(("field", "type", "what"), rows)


def _type(hint: Any) -> str:
    text = hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
    return "`" + text.replace("|", "\\|").replace("NoneType", "null").replace("None", "null") + "`"


def field_docs(module: ModuleType) -> dict[str, dict[str, str]]:
    """Docstrings that stand under the fields of the structures in a module."""
    return {
        node.name: dict(_texts(node))
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.ClassDef)
    }


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _texts(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, doc in pairwise(node.body):
        match field, doc:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, inspect.cleandoc(text)
