"""Whatever is put in: a sentence with the value, a hint, an exit code of its own, no traceback."""

from __future__ import annotations

import random
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.integration.bad_input import USAGE, nanogpt
from tests.integration.commands import ANSWERED, COMMAND, environment

pytestmark = pytest.mark.usefixtures("own_directory")


FUZZING = settings(
    deadline=None,
    # Smaller than what it found first is not clearer here, and takes minutes to find.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
FUZZ = runpy.run_path(str(Path(__file__).parents[1] / "soak" / "fuzz_explain.py"))


def run_in_shell(script: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in which `$@` is the command."""
    return subprocess.run(
        ["sh", "-c", script, "sh", *COMMAND, "explain", "train.log"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment(),
    )


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="only Linux has a device that is always full"
)
@pytest.mark.parametrize("option", ["", "--json"])
def test_an_answer_that_cannot_be_printed_is_an_error(option: str) -> None:
    Path("train.log").write_text(nanogpt(range(500)))
    done = run_in_shell(f'"$@" {option} > /dev/full')
    assert done.returncode == USAGE
    assert done.stderr.startswith("error: cannot go on: No space left on device\n\nhint: ")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(
    sys.platform == "win32", reason="what is tried are redirections of sh, which is not there"
)
def test_nowhere_to_print_is_no_error() -> None:
    Path("train.log").write_text(nanogpt(range(500)))
    done = run_in_shell('"$@" >&-')
    assert done.returncode in ANSWERED
    assert done.stderr == ""


def judge(case: Any) -> None:
    code, problem = FUZZ["try_case"](case)
    assert problem == "", f"exit code {code} for {case}"


@given(st.binary(max_size=300))
@settings(FUZZING, max_examples=200)
def test_any_bytes_get_an_answer_or_a_sentence(content: bytes) -> None:
    judge(FUZZ["Case"]({"a.log": content}, ["a.log"]))


@given(st.randoms(use_true_random=False))
@settings(FUZZING, max_examples=400)
def test_any_mixture_of_lines_gets_an_answer_or_a_sentence(dice: random.Random) -> None:
    judge(FUZZ["make_case"](dice))
