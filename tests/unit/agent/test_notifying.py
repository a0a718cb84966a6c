"""What systemd hears, on a socket like its own."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from instride.agent.notifying import Service


@pytest.fixture
def line(tmp_path: Path) -> socket.socket:
    received = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    received.bind(str(tmp_path / "notify"))
    return received


def heard(line: socket.socket) -> list[str]:
    line.setblocking(False)
    said = []
    while True:
        try:
            said.append(line.recv(1000).decode())
        except BlockingIOError:
            return said


def test_a_service_tells_that_it_is_ready_and_alive(line: socket.socket) -> None:
    with line:
        service = Service({"NOTIFY_SOCKET": line.getsockname(), "WATCHDOG_USEC": "60000000"})
        service.ready()
        service.status("compresses")
        service.alive()
        service.alive()  # too soon to say it again
        service.stopping()
        assert heard(line) == ["READY=1", "STATUS=compresses", "WATCHDOG=1", "STOPPING=1"]


def test_a_watchdog_of_somebody_else_is_not_answered(line: socket.socket) -> None:
    with line:
        environ = {"NOTIFY_SOCKET": line.getsockname(), "WATCHDOG_USEC": "60000000"}
        Service({**environ, "WATCHDOG_PID": str(os.getpid() + 1)}).alive()
        Service({**environ, "WATCHDOG_USEC": "soon"}).alive()
        assert heard(line) == []


def test_without_systemd_and_with_a_dead_socket_nothing_happens(tmp_path: Path) -> None:
    Service({}).ready()
    Service({"NOTIFY_SOCKET": str(tmp_path / "gone")}).ready()


def test_names_without_a_file_are_spoken_to() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        name = f"instride-test-{os.getpid()}"
        line.bind("\0" + name)
        Service({"NOTIFY_SOCKET": "@" + name}).ready()
        assert heard(line) == ["READY=1"]
