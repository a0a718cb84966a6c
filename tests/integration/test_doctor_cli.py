"""`instride doctor` as it is typed: answers, exit codes, options, and errors with hints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.cells import cell_len

from instride.cli.main import main
from instride.doctor.catalogue import CATALOGUE
from instride.doctor.languages import LANGUAGES
from tests.unit.doctor.case_repository import line_of, write_case

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "docs/reference/doctor.schema.json"
Printed = pytest.CaptureFixture[str]


@pytest.fixture
def case(tmp_path: Path) -> Path:
    return write_case(tmp_path)


def asked(printed: Printed, *args: str) -> dict[str, Any]:
    """The JSON that a call prints."""
    code = main(["doctor", *args, "--json"])
    answer: dict[str, Any] = json.loads(printed.readouterr().out)
    assert code == any(each["certainty"] != "perhaps" for each in answer["findings"])
    return answer


def test_findings_end_with_1_and_a_clean_repository_with_0(case: Path, capsys: Printed) -> None:
    assert main(["doctor", str(case), "--only", "save-in-place"]) == 1
    assert main(["doctor", str(case), "--only", "module-pickled"]) == 0
    assert "\nNothing found.\n" in capsys.readouterr().out


def test_the_answer_as_json_fits_the_schema(case: Path, capsys: Printed) -> None:
    contract = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(contract)
    answer = asked(capsys, str(case), "--no-probe")
    jsonschema.Draft202012Validator(contract).validate(answer)
    assert answer["schema"] == 1
    assert answer["repository"] == str(case)
    assert answer["num_files"] == 4


def test_json_has_evidence_facts_and_fixes(case: Path, capsys: Printed) -> None:
    (finding,) = asked(capsys, str(case), "--only", "save-in-place")["findings"]
    line = line_of("train.py", "torch.save(state, path)")
    assert finding["evidence"][0] == {
        "path": "train.py",
        "line": line,
        "text": "torch.save(state, path)",
    }
    assert finding["certainty"] in {"sure", "likely"}
    assert {each["kind"] for each in finding["fixes"]} <= {"diff", "line", "command"}
    assert "{" not in finding["sentence"] + finding["fix"]


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_answers(case: Path, code: str, capsys: Printed) -> None:
    answer = asked(capsys, str(case), "--only", "save-in-place", "--lang", code)
    assert answer["findings"][0]["title"] == LANGUAGES[code].title("save-in-place")


def test_several_rules_can_be_asked_for(case: Path, capsys: Printed) -> None:
    rules = ["save-in-place", "two-cleaners"]
    answer = asked(capsys, str(case), "--only", rules[0], "--only", rules[1])
    assert sorted(each["rule"] for each in answer["findings"]) == sorted(rules)
    assert sorted(answer["checked"]) == sorted(rules)


def test_settings_silence_a_rule_unless_it_is_asked_for(case: Path, capsys: Printed) -> None:
    settings = '[tool.instride.doctor]\nignore = ["save-in-place"]\n'
    (case / "pyproject.toml").write_text(settings)
    answer = asked(capsys, str(case), "--no-probe")
    assert "save-in-place" not in [each["rule"] for each in answer["findings"]]
    assert answer["ignored"] == ["save-in-place"]
    assert asked(capsys, str(case), "--only", "save-in-place")["findings"]


def test_files_that_are_excluded_are_not_read(case: Path, capsys: Printed) -> None:
    (case / "pyproject.toml").write_text('[tool.instride.doctor]\nexclude = ["train.py"]\n')
    assert asked(capsys, str(case), "--only", "save-in-place")["findings"] == []


def test_a_comment_silences_a_line(case: Path, capsys: Printed) -> None:
    train = case / "train.py"
    call = "torch.save(state, path)"
    train.write_text(train.read_text().replace(call, f"{call}  # instride: ignore[save-in-place]"))
    assert asked(capsys, str(case), "--only", "save-in-place")["findings"] == []


def test_checkpoint_directories_are_found_or_given(case: Path, capsys: Printed) -> None:
    found = asked(capsys, str(case), "--no-probe", "--only", "few-inodes")
    assert found["checkpoints"] == [str(case / "checkpoints")]
    given = asked(
        capsys, str(case), "--no-probe", "--only", "few-inodes", "--checkpoints", str(case)
    )
    assert given["checkpoints"] == [str(case)]


def test_without_a_name_the_current_directory_is_looked_at(
    case: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(case)
    answer = asked(capsys, "--only", "save-in-place")
    assert answer["repository"] == "."
    assert answer["findings"]


def test_where_there_is_no_code_only_the_machine_is_looked_at(
    tmp_path: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = asked(capsys, "--no-probe")
    assert answer["repository"] is None
    assert "no-repository" in [each["id"] for each in answer["unknown"]]
    assert set(answer["checked"]) <= {each.id for each in CATALOGUE if each.about == "machine"}


@pytest.mark.parametrize("width", [60, 80, 200])
def test_lines_of_the_screen_fit_except_for_what_is_to_be_copied(
    case: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    fixes = [
        line
        for finding in asked(capsys, str(case), "--no-probe")["findings"]
        for fix in finding["fixes"]
        for line in fix["text"].splitlines()
    ]
    copied = {"".join(line.split()) for line in fixes}
    main(["doctor", str(case), "--no-probe"])
    for line in capsys.readouterr().out.splitlines():
        assert cell_len(line) <= width or "".join(line.split()) in copied


def test_the_screen_ends_with_a_command_to_type_next(
    case: Path, capsys: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(case)
    for repo, named in ((".", "."), (str(case) + "/." * 40, "REPO")):
        main(["doctor", repo, "--only", "save-in-place"])
        last = capsys.readouterr().out.splitlines()[-1]
        assert last == f"next: instride doctor {named} --log train.log   what saves really cost"


def test_colours_are_left_out_of_a_pipe_and_there_on_a_terminal(case: Path) -> None:
    command = [sys.executable, "-m", "instride", "doctor", str(case), "--only", "save-in-place"]
    plain = subprocess.run(command, capture_output=True, timeout=60, check=False)
    forced = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"}
    forced.pop("NO_COLOR", None)
    coloured = subprocess.run(command, capture_output=True, timeout=60, env=forced, check=False)
    assert plain.returncode == coloured.returncode == 1
    assert b"\x1b[" not in plain.stdout
    assert b"\x1b[" in coloured.stdout


def test_the_rules_are_listed_with_a_word_on_silencing(capsys: Printed) -> None:
    assert main(["doctor", "--rules"]) == 0
    printed = capsys.readouterr().out
    for rule in CATALOGUE:
        assert f"  {rule.id} " in printed
    assert "# instride: ignore[" in printed


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_list_of_rules_fits_into_80_columns(code: str, capsys: Printed) -> None:
    assert main(["doctor", "--rules", "--lang", code]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if cell_len(line) > 80] == []


def error_of(printed: Printed) -> str:
    both = printed.readouterr()
    assert both.out == ""
    return both.err


def test_a_missing_repository_is_an_error(tmp_path: Path, capsys: Printed) -> None:
    assert main(["doctor", str(tmp_path / "nowhere")]) == 20
    said = error_of(capsys)
    assert f"`{tmp_path / 'nowhere'}`" in said
    assert "hint:" in said


def test_a_file_is_no_repository(case: Path, capsys: Printed) -> None:
    assert main(["doctor", str(case / "train.py")]) == 20
    assert "train.py" in error_of(capsys)


def test_an_unknown_rule_is_an_error_with_the_nearest(case: Path, capsys: Printed) -> None:
    assert main(["doctor", str(case), "--only", "save_inplace"]) == 5
    assert "did you mean `save-in-place`?" in error_of(capsys)


def test_unknown_settings_are_an_error(case: Path, capsys: Printed) -> None:
    (case / "pyproject.toml").write_text("[tool.instride.doctor]\nskip = []\n")
    assert main(["doctor", str(case)]) == 6
    assert "`skip` in pyproject.toml" in error_of(capsys)


def test_a_log_that_cannot_be_read_is_an_error(case: Path, capsys: Printed) -> None:
    assert main(["doctor", str(case), "--log", str(case / "no.log"), "--no-probe"]) == 10
    assert "no.log" in error_of(capsys)


def test_neither_torch_nor_the_code_of_the_repository_is_loaded(case: Path) -> None:
    (case / "yaml.py").write_text("raise SystemExit('this was run')\n")
    program = (
        "import sys\nfrom instride.cli.main import main\n"
        f"code = main(['doctor', {str(case)!r}, '--no-probe', '--json'])\n"
        "sys.exit(99 if 'torch' in sys.modules else code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 1, done.stderr


def test_help_loads_none_of_what_doctor_needs() -> None:
    program = (
        "import sys\nfrom instride.cli.main import main\nmain(['doctor', '--help'])\n"
        "sys.exit(bool({'msgspec', 'psutil', 'rich', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
