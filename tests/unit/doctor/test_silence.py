"""Comments and settings that silence a rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.doctor.model import Finding, Place, Reading
from instride.doctor.silence import Settings, is_silenced, read_settings
from instride.errors import BadSettingError, UnknownRuleError


def finding(line: int, *more: Place) -> Finding:
    return Finding("save-in-place", {}, (Place("train.py", line, "torch.save(x, p)"), *more))


def silenced(found: Finding, *lines: str) -> bool:
    return is_silenced(found, {"train.py": lines})


def settings_of(tmp_path: Path, text: str) -> Settings:
    (tmp_path / "pyproject.toml").write_text(text)
    return read_settings(tmp_path)


@pytest.mark.parametrize(
    "comment",
    [
        "# instride: ignore[save-in-place]",
        "# instride:ignore[save-in-place]",
        "// instride: ignore[unused-key, save-in-place]",
        "; noted, instride: ignore[save-in-place] for now",
    ],
)
def test_a_comment_on_the_line_or_above_silences(comment: str) -> None:
    assert silenced(finding(2), "import torch", f"torch.save(x, p)  {comment}")
    assert silenced(finding(2), comment, "torch.save(x, p)")


def test_comments_elsewhere_or_about_other_rules_do_not_silence() -> None:
    comment = "# instride: ignore[save-in-place]"
    assert not silenced(finding(3), comment, "x = 1", "torch.save(x, p)")
    assert not silenced(finding(1), "torch.save(x, p)", comment)
    assert not silenced(finding(1), "torch.save(x, p)  # instride: ignore[unused-key]")
    assert not silenced(finding(1), "torch.save(x, p)  # instride: ignore[]")


def test_a_comment_beside_any_of_its_places_silences_a_finding() -> None:
    other = Place("train.py", 4, "keep_latest()")
    assert silenced(finding(1, other), "", "", "# instride: ignore[save-in-place]", "")


def test_what_is_in_no_file_cannot_be_silenced_by_a_comment() -> None:
    found = Finding("swap-in-use", {}, (Reading("SwapFree", "0 kB"),))
    assert not silenced(found, "# instride: ignore[swap-in-use]")


def test_a_misspelt_rule_beside_a_finding_is_an_error_that_says_where() -> None:
    with pytest.raises(UnknownRuleError, match=r"`save-inplace` \(train.py:1\)") as error:
        silenced(finding(1), "torch.save(x, p)  # instride: ignore[save-inplace]")
    assert "did you mean `save-in-place`?" in error.value.hint


def test_settings_name_rules_and_patterns(tmp_path: Path) -> None:
    text = '[tool.instride.doctor]\nignore = ["unused-key"]\nexclude = ["old/*"]\n'
    assert settings_of(tmp_path, text) == Settings(("unused-key",), ("old/*",))


@pytest.mark.parametrize("text", ["", "[tool]\n", "[tool.instride]\n", "this is no TOML", "a = '"])
def test_a_file_that_says_nothing_of_it_changes_nothing(tmp_path: Path, text: str) -> None:
    assert settings_of(tmp_path, text) == Settings()


def test_a_repository_needs_no_settings_file(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == Settings()
    (tmp_path / "pyproject.toml").mkdir()
    assert read_settings(tmp_path) == Settings()


def test_an_unknown_rule_in_the_settings_is_an_error_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UnknownRuleError, match=r"`unused_keys` \(pyproject.toml\)") as error:
        settings_of(tmp_path, '[tool.instride.doctor]\nignore = ["unused_keys"]\n')
    assert "`unused-key`" in error.value.hint


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('ignored = ["unused-key"]', "did you mean `ignore`"),
        ("level = 3", "no such setting"),
        ('ignore = "unused-key"', "not a list"),
        ("exclude = [1]", "not a list"),
    ],
)
def test_a_setting_that_is_not_one_is_an_error(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(BadSettingError, match=said):
        settings_of(tmp_path, f"[tool.instride.doctor]\n{line}\n")


def test_a_table_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadSettingError, match="not a table"):
        settings_of(tmp_path, "[tool.instride]\ndoctor = 1\n")
