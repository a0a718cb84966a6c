"""Entries of configuration files, with their lines, within bounds."""

from __future__ import annotations

import pytest

from instride.doctor.repository import ConfigFile, Why


def read(kind: str, text: str) -> list[tuple[str, object, int]]:
    file = ConfigFile(f"a.{kind}", text, kind)
    assert file.entries is not None
    assert file.broken is None
    return [(".".join(each.path), each.value, each.line) for each in file.entries]


def test_yaml_gives_values_with_their_lines() -> None:
    text = (
        "# settings\nmodel:\n  width: 64\n  rate: 1e-4\n  bias: no\nname: 'no'\n"
        "sizes:\n  - 1\n  - b: x\nempty:\n---\nlast: ~\n"
    )
    assert read("yaml", text) == [
        ("model.width", 64, 3),
        ("model.rate", 1e-4, 4),
        ("model.bias", False, 5),
        ("name", "no", 6),
        ("sizes.0", 1, 8),
        ("sizes.1.b", "x", 9),
        ("empty", None, 10),
        ("last", None, 12),
    ]


def test_a_scalar_alias_is_its_value_and_a_larger_one_nothing() -> None:
    text = "a: &n 3\nb: *n\nc: &m {d: 1}\ne: *m\nf: 2\n"
    assert read("yaml", text) == [("a", 3, 1), ("b", 3, 2), ("c.d", 1, 3), ("f", 2, 5)]


def test_aliases_of_aliases_do_not_grow() -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    assert len(read("yaml", "\n".join(lines))) == 2


DEEP = {
    "lists": ("yaml", "- " * 3000 + "a"),
    "mappings": ("yaml", "{a: " * 100_000),
    "brackets": ("yaml", "[" * 1_000_000),
    "objects": ("json", '{"a":' * 100_000),
    "tables": ("toml", "a = " + "{a=" * 100_000),
    "a key of many parts": ("toml", "a" + ".a" * 100_000 + " = 1"),
    "a table of many parts": ("toml", "[a" + " . a" * 100_000 + "]\nb = 1"),
}


@pytest.mark.parametrize(("kind", "text"), DEEP.values(), ids=DEEP.keys())
def test_deep_nesting_ends(kind: str, text: str) -> None:
    assert ConfigFile("a", text, kind).entries == []


def test_toml_gives_values_with_their_lines() -> None:
    text = '[a]\nname = "x"\n\n# name = 3\n[b]\nname = 2\n[b.c]\nflag = true\n[[d]]\nname = 1.5\n'
    assert read("toml", text) == [
        ("a.name", "x", 2),
        ("b.name", 2, 6),
        ("b.c.flag", True, 8),
        ("d.0.name", 1.5, 10),
    ]


def test_json_gives_values_with_their_lines() -> None:
    text = '{\n  "a": {"b": 1,\n    "c": null},\n  "d": [true, "x"]\n}\n'
    assert read("json", text) == [
        ("a.b", 1, 2),
        ("a.c", None, 3),
        ("d.0", True, 4),
        ("d.1", "x", 4),
    ]


def test_ini_gives_values_with_their_lines() -> None:
    text = "[run]\nSteps = 10\n; Steps = 3\nfast = yes\n"
    assert read("ini", text) == [("run.Steps", 10, 2), ("run.fast", True, 4)]


@pytest.mark.parametrize(
    ("kind", "text"),
    [("yaml", "a: [1"), ("toml", "a = "), ("json", "{"), ("ini", "a = 1"), ("yaml", "a: b: c")],
)
def test_what_does_not_parse_is_said(kind: str, text: str) -> None:
    file = ConfigFile("a", text, kind)
    assert file.entries == []
    assert file.broken is Why.BROKEN


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("yaml", "\n".join(f"k{n}: {n}" for n in range(6000))),
        ("json", "[" + ",".join("1" * 30_000) + "]"),
        ("json", '{"a": [' + ",".join("1" * 6000) + "]}"),
    ],
)
def test_data_is_no_configuration(kind: str, text: str) -> None:
    assert read(kind, text) == []
