"""`python -m instride.writer FD`: started by the Saver, never by a person."""

from __future__ import annotations

import socket
import sys

from instride.writer.process import run
from instride.writer.protocol import ToWriter, Wire

if __name__ == "__main__":
    sys.exit(run(Wire(socket.socket(fileno=int(sys.argv[1])), ToWriter)))
