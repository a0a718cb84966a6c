"""Names in Python files, and the loops and functions around a node."""

from __future__ import annotations

import ast

import pytest

from instride.doctor.repository import PythonFile


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import torch\ntorch.save()", "torch.save"),
        ("import torch as T\nT.save()", "torch.save"),
        ("from torch import save\nsave()", "torch.save"),
        ("from torch import save as s\ns()", "torch.save"),
        ("import torch.cuda\ntorch.cuda.synchronize()", "torch.cuda.synchronize"),
        ("from . import utils\nutils.save()", ".utils.save"),
        ("from ..a import b\nb()", "..a.b"),
        ("self.model.step()", "self.model.step"),
        ("f()()", None),
    ],
)
def test_a_name_is_seen_through_imports(code: str, name: str | None) -> None:
    file = PythonFile("a.py", code)
    call = file.nodes(ast.Call)[0]
    assert file.name_of(call.func) == name


@pytest.mark.parametrize(
    ("code", "depth"),
    [
        ("for a in b:\n    call()", 1),
        ("while True:\n    for a in b:\n        call()", 2),
        ("while call():\n    pass", 1),
        ("for a in call():\n    pass", 0),
        ("for a in b:\n    pass\nelse:\n    call()", 0),
        ("for a in b:\n    def f():\n        call()", 0),
        ("for a in b:\n    f = lambda: call()", 0),
    ],
)
def test_only_what_a_loop_repeats_is_in_it(code: str, depth: int) -> None:
    file = PythonFile("a.py", code)
    [call] = [each for each in file.nodes(ast.Call) if ast.unparse(each.func) == "call"]
    assert len(file.loops_of(call)) == depth


def test_nodes_come_in_the_order_of_the_source() -> None:
    file = PythonFile("a.py", "a(b(), [c()])\nif d():\n    e()\n")
    names = [file.name_of(call.func) for call in file.nodes(ast.Call)]
    assert names == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize(
    ("path", "aside"),
    [("tests/a.py", True), ("docs/x/a.py", True), ("a/test_b.py", True), ("a/train.py", False)],
)
def test_tests_and_documentation_are_aside(path: str, aside: bool) -> None:
    assert PythonFile(path, "").aside is aside


def test_a_long_line_is_cut_for_evidence() -> None:
    place = PythonFile("a.py", "  x = '" + "y" * 500 + "'\n").place(1)
    assert len(place.text) == 160
    assert place.text.endswith("...")
