"""The screen fits its terminal, whatever the run, the language, the width and the encoding."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from instride.cli.render.dialects import print_dialects
from instride.cli.render.html.content import content
from instride.explain.languages import LANGUAGES
from instride.explain.languages.words import Words
from instride.steps.readers import READERS
from tests.unit.cli.screen_logs import LOGS
from tests.unit.cli.showing import COLUMNS, explained, explained_run, shown
from tests.unit.explain.making import Training
from tests.unit.explain.pausing import EVAL, SAVE
from tests.unit.explain.stories import FINDINGS, UNKNOWNS

STORIES = [
    pytest.param(story, id=f"{name} {number}")
    for name, stories in {**FINDINGS, **UNKNOWNS}.items()
    for number, story in enumerate(stories, 1)
]


@pytest.fixture(params=sorted(LANGUAGES))
def language(request: pytest.FixtureRequest) -> Words:
    return LANGUAGES[request.param]


@pytest.fixture
def train_log(tmp_path: Path) -> Path:
    log = tmp_path / "train.log"
    log.write_text(LOGS["step-timing"]())
    return log


def wider_than(screen: str, columns: int) -> list[str]:
    return [line for line in screen.splitlines() if cell_len(line) > columns]


@pytest.mark.parametrize("told", STORIES)
def test_every_line_of_every_story_fits_in_every_language(
    told: object, language: Words, tmp_path: Path
) -> None:
    assert callable(told)
    screen = shown(explained_run(told(), tmp_path), language)
    assert wider_than(screen, COLUMNS) == []


@pytest.mark.parametrize("width", [80, 100, 200])
def test_a_wide_terminal_is_used_up_to_100_columns(
    train_log: Path, language: Words, width: int
) -> None:
    screen = shown(explained(train_log), language, width=width)
    assert wider_than(screen, min(100, width)) == []
    assert width == 80 or wider_than(screen, 80)


def test_columns_of_the_table_end_where_their_heads_end(train_log: Path, language: Words) -> None:
    lines = shown(explained(train_log), language).splitlines()
    begin = lines.index(language.screen_phrases["where"])
    head, first, second = lines[begin + 1 : begin + 4]
    ends = [cell_len(head[: head.index(name) + len(name)]) for name in heads(language)]
    for row in (first, second):
        rest = columns_of(row)
        assert all(rest[end - 1] != " " and rest[end] == " " for end in ends[:4])


@pytest.mark.parametrize("gap_s", [50.0, 5000.0])
def test_shares_leave_gaps_out_however_long_they_are(gap_s: float, tmp_path: Path) -> None:
    training = Training(has_wall=True)
    training.train(200)
    training.resume(160, gap_s, has_banner=True)
    training.train(240)
    explanation = explained_run(training.finish(), tmp_path)
    lines = shown(explanation).splitlines()
    (compute,) = [line for line in lines if line.startswith("  compute")]
    (lost,) = [line for line in lines if line.startswith("  lost work")]
    (gap,) = [line for line in lines if line.startswith("  not running")]
    assert "91 %" in compute
    assert "9.1 %" in lost
    assert "%" not in gap
    assert any("9.1 %, sure" in line for line in lines)
    assert content(explanation).whole_s == pytest.approx(440.0)


def line_before(lines: list[str], heading: str) -> str:
    """The last line of the part before a heading."""
    return lines[lines.index(heading) - 2]


def test_the_table_says_what_is_typical_of_what(language: Words, tmp_path: Path) -> None:
    training = Training()
    for number in range(4):
        training.train(100)
        training.pause(EVAL, 9.0)
        if number % 2:
            training.pause(SAVE, 4.0)
    training.train(100)
    lines = shown(explained_run(training.finish(), tmp_path), language).splitlines()
    phrases = language.screen_phrases
    told = f"  {phrases['typical']}{phrases['twice']}"
    assert line_before(lines, phrases["picture"]) == told
    assert cell_len(told) <= COLUMNS


def test_steps_with_one_owner_are_not_said_to_count_twice(tmp_path: Path, language: Words) -> None:
    screen = shown(explained_run(FINDINGS["eval"][0](), tmp_path), language)
    assert language.screen_phrases["typical"] in screen
    assert language.screen_phrases["twice"] not in screen


@pytest.mark.parametrize(("name", "is_joint"), [("eval-and-save", True), ("eval", False)])
def test_pauses_that_are_not_split_are_not_called_evaluations(
    name: str, is_joint: bool, tmp_path: Path, language: Words
) -> None:
    lines = shown(explained_run(FINDINGS[name][0](), tmp_path), language).splitlines()
    begin = lines.index(language.screen_phrases["where"])
    rows = [line.strip() for line in lines[begin + 2 : begin + 5]]
    label = language.screen_phrases["joint"] if is_joint else language.labels["eval"]
    assert any(row.startswith(label) for row in rows)


def test_a_table_of_one_row_needs_no_footnote(tmp_path: Path, language: Words) -> None:
    training = Training()
    training.train(100)
    screen = shown(explained_run(training.finish(), tmp_path), language)
    assert language.screen_phrases["typical"] not in screen


def test_the_axis_of_the_picture_has_the_last_step_of_the_first_lines(
    tmp_path: Path, language: Words
) -> None:
    training = Training(has_wall=True)
    training.train(1900)
    training.resume(1500, 60.0, has_banner=True)
    training.train(100)
    lines = shown(explained_run(training.finish(), tmp_path), language).splitlines()
    highest, last = language.number(1900), language.number(1600)
    assert highest in lines[1]
    assert any(line.endswith(f" {highest} \u252c {last}") for line in lines)


def heads(language: Words) -> list[str]:
    return list(language.table_heads.values())


def columns_of(row: str) -> str:
    """A row with a character for each column: wide ones are doubled."""
    return "".join(char * cell_len(char) for char in row)


def test_huge_numbers_fit(language: Words, tmp_path: Path) -> None:
    training = Training(has_wall=True, step=10**9)
    for _ in range(30):
        training.train(100, 90_000.0)
        training.pause(SAVE, 8_000_000.0)
    screen = shown(explained_run(training.finish(), tmp_path), language)
    assert wider_than(screen, COLUMNS) == []


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437", "cp932", "euc-jp", "utf-8"])
def test_a_terminal_gets_only_characters_that_it_has(
    train_log: Path, language: Words, encoding: str
) -> None:
    screen = shown(explained(train_log), language, encoding=encoding)
    is_english = LANGUAGES["en"].screen_phrases["where"] in screen
    is_shown = language.letters.encode(encoding, "replace").decode(encoding) == language.letters
    assert is_english == (language.code == "en" or not is_shown)


def test_letters_are_kept_where_only_spaces_and_signs_are_missing(train_log: Path) -> None:
    screen = shown(explained(train_log), LANGUAGES["fr"], encoding="latin-1")
    assert "\u00e9tapes 1 201" in screen
    english = shown(explained(train_log), LANGUAGES["en"], encoding="ascii")
    assert "3.3x slower" in english
    assert "5.21 s +- 34.4 ms" in english


def test_following_says_how_to_end_instead_of_what_is_next(
    train_log: Path, language: Words
) -> None:
    screen = shown(explained(train_log), language, is_following=True)
    assert screen.splitlines()[-1] == language.screen_phrases["following"]
    assert "--json   " not in screen


@pytest.mark.parametrize(
    ("name", "command"),
    [("a b.log", "explain 'a b.log' --json"), ("x" * 90, f"explain {'x' * 90} --json")],
)
def test_the_last_line_names_the_log_however_long_its_name_is(
    name: str, command: str, tmp_path: Path, language: Words
) -> None:
    log = tmp_path / name
    log.write_text(LOGS["nanogpt"]())
    assert command in shown(explained(log), language).splitlines()[-1]


def test_dialects_are_listed_in_the_language(
    language: Words, capsys: pytest.CaptureFixture[str]
) -> None:
    print_dialects(language)
    printed = capsys.readouterr().out
    for reader in READERS:
        assert language.trainer(reader.dialect.title) in printed
        assert reader.dialect.sample in printed
        assert language.sampling_labels[reader.dialect.sampling] in printed
    samples = {reader.dialect.sample for reader in READERS}
    rest = [line for line in printed.splitlines() if not any(each in line for each in samples)]
    assert wider_than("\n".join(rest), COLUMNS) == []
