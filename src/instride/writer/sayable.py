"""What can be written down of texts that may hold the names of files: these may be any bytes."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

MessageT = TypeVar("MessageT", bound=msgspec.Struct)


def sayable(value: Any) -> Any:
    """The value; in a text, or in a list of them, what is no UTF-8 is spelt out."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [sayable(each) for each in value]
    return value


def sayable_message(message: MessageT) -> MessageT:
    fields = msgspec.structs.asdict(message)
    return msgspec.structs.replace(message, **{name: sayable(fields[name]) for name in fields})
