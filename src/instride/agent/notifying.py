"""What systemd is told by a service: ready, alive, and what it does. Elsewhere nothing happens."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress

SOCKET = "NOTIFY_SOCKET"
WATCHDOG = "WATCHDOG_USEC"
WATCHDOG_PID = "WATCHDOG_PID"


class Service:
    """Speaks to the socket that systemd names in the environment."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._address = environ.get(SOCKET, "")
        self._every_s = _watchdog_s(environ) / 2
        self._said_s = float("-inf")

    def ready(self) -> None:
        self._send("READY=1")

    def stopping(self) -> None:
        self._send("STOPPING=1")

    def status(self, text: str) -> None:
        self._send(f"STATUS={text}")

    def alive(self) -> None:
        """Say so, if it is time again: a service that hangs is started anew."""
        now_s = time.monotonic()
        if self._every_s and now_s - self._said_s >= self._every_s:
            self._said_s = now_s
            self._send("WATCHDOG=1")

    def _send(self, text: str) -> None:
        if not self._address:
            return
        address = self._address
        if address.startswith("@"):  # how the environment writes a name without a file
            address = "\0" + address[1:]
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.sendto(text.encode(), address)


def _watchdog_s(environ: Mapping[str, str]) -> float:
    """How often a sign of life is wanted, in seconds; 0: never."""
    if environ.get(WATCHDOG_PID, str(os.getpid())) != str(os.getpid()):
        return 0.0
    try:
        return int(environ.get(WATCHDOG, "0")) / 1e6
    except ValueError:
        return 0.0
