"""`instride compare` on logs that the test writes: as a screen and as JSON."""

from __future__ import annotations

import gzip
import io
import json
import re
from pathlib import Path
from typing import Literal

import jsonschema
import pytest
from rich.console import Console

from instride.cli.render.comparison import print_comparison
from instride.explain.comparing import compare
from instride.explain.explaining import Explanation, explain
from instride.explain.languages import LANGUAGES
from instride.steps.choosing import choose
from instride.steps.reading import read_with
from tests.integration.commands import Screen, too_wide
from tests.integration.logs import llm_c, nanogpt_saving

pytestmark = pytest.mark.usefixtures("own_directory")

CODES = sorted(LANGUAGES)
SCHEMA = Path(__file__).parents[2] / "docs/reference/compare.schema.json"


@pytest.fixture
def cured(own_directory: None) -> None:
    """Saves stopped training and slowed it down; then they did not, in a shorter run."""
    before = nanogpt_saving(2000, eval_every=500, eval_s=10.0, save_every=250, save_s=12.0, slow=20)
    after = nanogpt_saving(700, eval_every=500, eval_s=10.0, save_every=250, save_s=0.1)
    Path("before.log").write_text(before)
    Path("after.log").write_text(after)


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.usefixtures("cured")
def test_the_answer_comes_first(screen: Screen) -> None:
    printed = screen.show("before.log", "after.log")
    answer = words(printed.split("\n\n")[0])
    assert answer.startswith(
        "Steps are as fast as before (503 ms). Per 1,000 steps, saving and its aftermath cost "
    )
    found = re.search(r"In all, (\d+) % of the time is won: ([\d.]+) s per 1,000 steps", answer)
    assert found is not None
    # Every 250 steps 12 s and 20 steps of 1 s more, in 503 s and evaluations of 20 s.
    assert int(found[1]) == 20
    assert float(found[2]) == pytest.approx(4 * (12 - 0.1 + 20), rel=0.03)
    assert "over the 2,000 steps of the run before." in answer


@pytest.mark.usefixtures("cured")
def test_the_screen_has_the_runs_the_owners_and_the_findings(screen: Screen) -> None:
    printed = screen.show("before.log", "after.log")
    assert re.search(r"before  before\.log \(nanoGPT\) +2,000 +503 ms +", printed)
    assert re.search(r"after +after\.log \(nanoGPT\) +700 +503 ms +", printed)
    assert re.search(
        r"evaluation +30\.0 s +[\d.]+ % +20\.0 +10\.0 s +[\d.]+ % +20\.0 +0\.0", printed
    )
    assert re.search(r"after saves .* 0\.0 +-\d+", printed)
    assert "gone     After each of 7 saves some 20 steps ran 3.0\u00d7 slower" in printed
    assert "cheaper  before: 7 saves (every 250 steps) stopped training" in printed
    assert printed.rstrip().endswith("next: instride explain after.log   what is left to gain")


@pytest.mark.usefixtures("cured")
def test_the_other_way_round_it_got_worse(screen: Screen) -> None:
    printed = screen.show("after.log", "before.log")
    assert re.search(r"In all, it takes 2\d % more time: ", words(printed))
    assert "new     After each of 7 saves" in printed
    assert "dearer  before: 2 saves" in printed


@pytest.mark.usefixtures("cured")
def test_a_log_compared_with_itself_shows_no_difference(screen: Screen) -> None:
    for name in ("before.log", "after.log"):
        printed = screen.show(name, name)
        assert printed.startswith("No difference: an ordinary step takes 503 ms as before")
        assert "Findings are as before." in printed
        assert not re.search(r"[-+]\d", printed)
        answer = screen.answer(name, name)
        assert answer["different"] is False
        assert set(answer["won"].values()) == {0.0}
        assert {each["change"] for each in answer["findings"]} == {"same"}


def test_different_trainers_are_compared_with_a_warning(screen: Screen) -> None:
    Path("before.log").write_text(nanogpt_saving(500, eval_every=50, eval_s=5.0))
    Path("after.log").write_text(llm_c(500))
    printed = words(screen.show("before.log", "after.log"))
    assert "The logs are of different trainers (nanoGPT, llm.c)" in printed
    assert "What evaluation costs is in no number of the run after" in printed
    answer = screen.answer("before.log", "after.log")
    assert answer["before"]["dialect"] == "nanogpt"
    assert answer["owners"]["eval"]["won_per_1000_s"] is None
    assert len(answer["not_comparable"]) == 2


def test_a_log_that_is_too_short_is_said(screen: Screen) -> None:
    Path("before.log").write_text(nanogpt_saving(2000, save_every=500, save_s=60.0))
    Path("after.log").write_text(nanogpt_saving(200, save_every=500, save_s=60.0))
    printed = screen.show("before.log", "after.log")
    assert printed.startswith("No difference")
    assert re.search(r"saving .* \?\n", printed)
    assert "The run after has only 200 steps, too few for saving (every 500 steps" in words(printed)


@pytest.mark.usefixtures("cured")
def test_json_fits_its_schema(screen: Screen) -> None:
    schema = json.loads(SCHEMA.read_text())
    for logs in (("before.log", "after.log"), ("after.log", "before.log")):
        answer = screen.answer(*logs)
        jsonschema.validate(answer, schema)
        assert answer["schema"] == 1
        assert answer["before"]["source"] == [logs[0]]
    won = answer["won"]
    assert won["per_1000_s"] < 0
    assert won["over_before_s"] == pytest.approx(won["per_1000_s"] * 0.7)
    assert answer["answer"].startswith("Steps are as fast as before")


@pytest.mark.usefixtures("cured")
@pytest.mark.parametrize("code", CODES)
def test_all_but_a_command_fits_into_80_columns_in_every_language(
    code: str, screen: Screen
) -> None:
    Path("a-directory-with-a-long-name" * 3).mkdir()
    long = Path("a-directory-with-a-long-name" * 3, "after.log")
    long.write_text(Path("after.log").read_text())
    for logs in (("before.log", str(long)), (str(long), "before.log")):
        printed = screen.show("--lang", code, *logs)
        command = f"instride explain {logs[1]}"
        assert all(line.endswith(command) for line in too_wide(printed))
        assert command in printed
        assert all(line == line.rstrip() for line in printed.splitlines())
        assert "after.log" in printed


@pytest.mark.usefixtures("cured")
def test_the_language_is_that_of_the_locale(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    printed = screen.show("before.log", "after.log")
    assert printed.startswith("Die Schritte sind so schnell wie vorher (503\u00a0ms).")
    assert screen.show("--lang", "en", "before.log", "after.log").startswith("Steps are")


def explained(name: str) -> Explanation:
    choice = choose([name], None, ())
    return explain(read_with(choice.reader, choice.sources), choice.sources)


@pytest.mark.usefixtures("cured")
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("width", [40, 80, 100])
def test_colour_adds_nothing_but_colour(code: str, width: int) -> None:
    comparison = compare(explained("before.log"), explained("after.log"))
    shown = {}
    for has_colour in (True, False):
        file = io.StringIO()
        system: Literal["standard"] | None = "standard" if has_colour else None
        console = Console(file=file, width=width, force_terminal=has_colour, color_system=system)
        print_comparison(comparison, LANGUAGES[code], console)
        shown[has_colour] = file.getvalue()
    assert "\x1b[32m" in shown[True]
    assert re.sub(r"\x1b\[[\d;]*m", "", shown[True]) == shown[False]


@pytest.mark.usefixtures("cured")
def test_compressed_logs_and_directories_are_taken(screen: Screen) -> None:
    Path("old").mkdir()
    Path("old", "train.log").write_text(Path("before.log").read_text())
    Path("after.log.gz").write_bytes(gzip.compress(Path("after.log").read_bytes()))
    plain = screen.answer("before.log", "after.log")
    other = screen.answer("old", "after.log.gz")
    assert other["won"] == plain["won"]
    assert other["before"]["source"] == [str(Path("old", "train.log"))]


@pytest.mark.usefixtures("cured")
def test_a_pattern_says_what_a_step_looks_like_in_both(screen: Screen) -> None:
    pattern = r"iter (?P<step>\d+): .* time (?P<ms>[\d.]+)ms"
    answer = screen.answer("before.log", "after.log", "--pattern", pattern)
    assert answer["before"]["dialect"] == answer["after"]["dialect"] == "pattern"


@pytest.mark.usefixtures("cured")
@pytest.mark.parametrize(
    ("args", "code", "complaint"),
    [
        (["before.log"], 2, "`AFTER` is missing"),
        (["before.log", "no.log"], 10, "cannot read `no.log`"),
        (["no.log", "after.log"], 10, "cannot read `no.log`"),
        (["-", "-"], 2, "- can be given once only"),
        (["before.log", "after.log", "--lang", "xx"], 2, "`xx` is none of the values of --lang"),
        (["before.log", "after.log", "--dialect", "nanogtp"], 3, "no dialect is called `nanogtp`"),
        (
            ["before.log", "after.log", "--dialect", "nanogpt", "--pattern", "x"],
            2,
            "--dialect and --pattern exclude each other",
        ),
    ],
)
def test_mistakes_are_answered_with_an_error_and_a_hint(
    args: list[str], code: int, complaint: str, screen: Screen
) -> None:
    found, printed = screen.complaint(*args)
    assert found == code
    assert printed.startswith("error: ")
    assert complaint in printed
    assert "\n\nhint: " in printed
