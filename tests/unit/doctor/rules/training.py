"""Training programs around a piece of code that a rule is tried on."""

from __future__ import annotations

import textwrap

HEAD = """\
import copy
import io
import os
import shutil
import threading
from pathlib import Path

import torch


"""
LOOP = """\
def train(model, optimizer, batches, out_dir):
    for step, batch in enumerate(batches):
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
{body}
"""


def in_loop(body: str, before: str = "", after: str = "") -> str:
    """A training loop that does something every hundred steps."""
    return HEAD + textwrap.dedent(before) + LOOP.format(body=_inner(body, 12)) + _inner(after, 4)


def _inner(code: str, width: int) -> str:
    return textwrap.indent(textwrap.dedent(code), " " * width)
