"""Programs that save, run as people run them: in a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

START = """
import os, signal, sys, threading
import torch
import instride

def saver(name, **parts):
    return instride.Saver(name, model=torch.nn.Linear(2, 2), **parts)

"""


def run(folder: Path, script: str, *, name: str = "train.py", **environment: str) -> list[str]:
    """What a program prints that ends well."""
    code, printed = run_to_any_end(folder, script, name=name, **environment)
    assert code == 0, printed
    return printed


def run_to_any_end(
    folder: Path, script: str, *, name: str = "train.py", **environment: str
) -> tuple[int, list[str]]:
    """How a program ended, and what it printed."""
    (folder / name).write_text(START + script)
    done = subprocess.run(
        [sys.executable, name],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout.split()
