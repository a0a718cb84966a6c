"""Errors: each has its own exit code, a sentence with the value, and a hint."""

from __future__ import annotations

import errno
import inspect
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from traceback import format_exception

import pytest

from instride import errors
from instride.errors import (
    BadConfigError,
    BadPatternError,
    BadSettingError,
    BenchFailedError,
    BinaryLogError,
    CannotResumeError,
    DamagedError,
    EmptyLogError,
    InstrideError,
    MismatchError,
    MissingLibraryError,
    NeedsLinuxError,
    NoAgentError,
    NoCheckpointError,
    NoLogsError,
    NoRepositoryError,
    NoStepsError,
    NoStoreError,
    NotExportableError,
    NoTimesError,
    OverwriteError,
    PackError,
    SaveFailedError,
    SaveSkippedError,
    StateTooLargeError,
    StorageStuckError,
    StoreInUseError,
    UnknownDialectError,
    UnknownRuleError,
    UnreadableLogError,
    UnsafeCheckpointError,
    UnsafeStateError,
    UnwritableError,
    looking_at,
    nearest,
)
from instride.reasons import REASONS, Reason, fill

ALL = [each for _, each in inspect.getmembers(errors, inspect.isclass)]
CLASSES = [each for each in ALL if issubclass(each, InstrideError)]
EXAMPLES: list[tuple[InstrideError, str]] = [
    (UnknownDialectError("nanogtp", "nanogpt"), "`nanogtp`"),
    (UnknownDialectError("x", None), "`x`"),
    (BadPatternError("(", "it is not closed"), "`(`"),
    (UnknownRuleError("save-inplace", "save-in-place"), "`save-inplace`"),
    (UnknownRuleError("x", None, "pyproject.toml"), "`x`"),
    (BadSettingError("ignore", "it is no list"), "`ignore`"),
    (BadConfigError("a.toml", Reason("no-table"), "[cleanup]", 3), "`[cleanup]`"),
    (BadConfigError("a.toml", Reason("no-text"), message="message.file"), "`a.toml`"),
    (NoAgentError("runs"), "`runs`"),
    (UnreadableLogError("train.log", "Permission denied"), "`train.log`"),
    (EmptyLogError("train.log"), "`train.log`"),
    (BinaryLogError("train.log"), "`train.log`"),
    (NoStepsError("train.log", "17 dialects"), "`train.log`"),
    (NoTimesError("train.log", 1, "no time could be read"), "`train.log`"),
    (NoLogsError("logs", 3), "`logs`"),
    (UnwritableError("no/where.html", "No such file or directory"), "`no/where.html`"),
    (UnwritableError("there.html", "No space left on device"), "`there.html`"),
    (UnwritableError(".", Reason("os.EISDIR")), "`.`"),
    (NoRepositoryError("trainer", "No such file or directory"), "`trainer`"),
    (DamagedError("runs/step_00000100.pt", Reason("gone-manifest")), "`runs/step_00000100.pt`"),
    (StoreInUseError("runs", "node7", 1234), "`runs`"),
    (StoreInUseError("runs", "node7", 1234, hint="hint.prune"), "1234"),
    (StoreInUseError("runs", "a", 7, message="message.agent", hint="hint.second-agent"), "`runs`"),
    (StoreInUseError("runs", "node7", 1234, hint="hint.agent"), "1234"),
    (StoreInUseError("runs", "node7", 1, message="message.here", hint="hint.here"), "`runs`"),
    (SaveFailedError("runs/step_00000100.pt", "No space left"), "`runs/step_00000100.pt`"),
    (SaveFailedError("runs/step_7.pt", "a file", hint="hint.taken"), "`runs/step_7.pt`"),
    (SaveFailedError("runs", "a directory", hint="hint.folder"), "`runs`"),
    (SaveFailedError("runs/step_7.pt", "it was", hint="hint.forked"), "`runs/step_7.pt`"),
    (SaveFailedError("runs/step_7.pt", "it was", hint="hint.closed"), "`runs/step_7.pt`"),
    (SaveFailedError("runs/step_7.pt", "it was", hint="hint.changed"), "`runs/step_7.pt`"),
    (SaveFailedError("runs", "runs: a file", message="message.store"), "runs: a file"),
    (SaveFailedError("runs", "no", message="message.store", hint="hint.store"), "no"),
    (SaveFailedError.of("runs/step_7.pt", OSError(errno.ENOMEM, "x maps")), "x maps"),
    (SaveFailedError.of("runs/step_7.pt", TypeError("a lock")), "TypeError: a lock"),
    (NoCheckpointError("runs"), "`runs`"),
    (NoCheckpointError("runs", 100), "100"),
    (NoCheckpointError("runs", is_listed=True), "`runs`"),
    (NoCheckpointError("other.pt", is_foreign=True), "`other.pt`"),
    (UnsafeStateError(["extra.when"]), "`extra.when`"),
    (StorageStuckError("runs/step_00000100.pt", 60.0), "`runs/step_00000100.pt`"),
    (StateTooLargeError(512 << 20, 256 << 20), "512"),
    (MismatchError("runs/step_00000100.pt", "it has no part `ema`"), "`ema`"),
    (MismatchError("x.pt", "names", hint="hint.inside", part="model", wrapper="module"), "`x.pt`"),
    (MismatchError("x.pt", "names", hint="hint.wrapped", part="m", wrapper="module"), "`x.pt`"),
    (UnsafeCheckpointError("old.pt", "a class of yours"), "`old.pt`"),
    (UnsafeCheckpointError("old.pt", "a class of yours", hint="hint.export"), "`old.pt`"),
    (SaveSkippedError("runs/step_00000100.pt"), "`runs/step_00000100.pt`"),
    (SaveSkippedError("runs/step_7.pt", is_inside=True), "`runs/step_7.pt`"),
    (SaveSkippedError("runs/step_7.pt", is_full=True), "`runs/step_7.pt`"),
    (NoStoreError("runs", "No such file or directory"), "`runs`"),
    (NoStoreError("runs", "a directory", hint="hint.checkpoint", command="ls runs"), "`runs`"),
    (NoStoreError("runs", "a directory", hint="hint.list"), "`runs`"),
    (NoStoreError("runs", Reason("os.EACCES")), "`runs`"),
    (NoStoreError("runs/a.pt", Reason("os.ENOENT"), hint="hint.away"), "`runs/a.pt`"),
    (NoStoreError("runs/a.pt", "no directory", hint="hint.directory"), "`runs/a.pt`"),
    (MissingLibraryError("export", "safetensors"), "`safetensors`"),
    (NotExportableError("x.pt", Reason("no-tensors")), "`x.pt`"),
    (NotExportableError("x.pt", Reason("no-parts"), hint="hint.file"), "`x.pt`"),
    (OverwriteError("model.safetensors"), "`model.safetensors`"),
    (PackError("model.pt", "it is no file"), "`model.pt`"),
    (PackError("runs", "a directory", hint="hint.directory", pattern="*.pt"), "`runs`"),
    (PackError("runs", "a directory", hint="hint.unpack.directory"), "`runs`"),
    (PackError("a.pt", "it was packed", hint="hint.packed", pack="a.pt.pack"), "`a.pt`"),
    (BenchFailedError("the disk is full"), "the disk is full"),
    (BenchFailedError("cuda", is_device=True), "`cuda`"),
    (NeedsLinuxError("darwin"), "darwin"),
    (CannotResumeError("a.jsonl", ["num_params=1"], ["num_params=2"]), "`num_params=1`"),
    (CannotResumeError("a.jsonl", message="message.foreign"), "`a.jsonl`"),
    (CannotResumeError("a.jsonl", message="message.busy", hint="hint.busy"), "`a.jsonl`"),
]
TREE_LINE = re.compile(r"(?:[|`]-- )?(\w+Error) +(?:\((\w+)\) +)?(\d+)(?: .*)?")


def tree() -> dict[str, tuple[str, int]]:
    """The classes that the docstring of the module draws: their builtin and exit code."""
    found = {}
    for line in (errors.__doc__ or "").splitlines():
        if drawn := TREE_LINE.fullmatch(line.strip()):
            found[drawn[1]] = drawn[2] or "", int(drawn[3])
    return found


def test_the_tree_lists_every_class_with_its_exit_code() -> None:
    assert {name: code for name, (_, code) in tree().items()} == {
        each.__name__: each.exit_code for each in CLASSES
    }


def test_the_tree_names_the_builtin_that_each_class_also_is() -> None:
    for each in CLASSES:
        if each is not InstrideError:
            builtin, _ = tree()[each.__name__]
            assert [base.__name__ for base in each.__bases__] == ["InstrideError", builtin]


def test_no_two_errors_share_an_exit_code() -> None:
    codes = [each.exit_code for each in CLASSES]
    assert len(set(codes)) == len(codes)


def test_exit_codes_leave_room_for_answers_and_signals() -> None:
    assert all(2 <= each.exit_code < 100 for each in CLASSES)


@pytest.mark.parametrize(("error", "value"), EXAMPLES)
def test_a_message_has_the_value_and_a_hint_with_a_command(
    error: InstrideError, value: str
) -> None:
    assert value in str(error)
    assert not str(error).endswith(".")
    assert re.search(r"`[^`]+`|--\w+", error.hint)
    assert "".join(format_exception(error)).endswith(f"hint: {error.hint}\n")


def test_every_class_has_an_example_here() -> None:
    assert {type(error) for error, _ in EXAMPLES} == set(CLASSES) - {InstrideError}


@pytest.mark.parametrize("each", CLASSES, ids=lambda each: each.__name__)
def test_a_class_says_all_that_it_says_in_texts_that_can_be_translated(
    each: type[InstrideError],
) -> None:
    for error in (error for error, _ in EXAMPLES if type(error) is each):
        assert str(error) == fill(each.texts[error.message_name], error.facts)
        assert error.hint == fill(each.texts[error.hint_name], error.facts)


def test_a_reason_is_told_within_the_message() -> None:
    error = UnreadableLogError("a.log", Reason("damaged"))
    assert str(error) == f"cannot read `a.log`: {REASONS['damaged']}"


@pytest.mark.parametrize("number", [errno.ENOENT, errno.EACCES, errno.ENOSPC])
def test_a_common_failure_of_the_system_is_known_by_its_name(number: int) -> None:
    reason = Reason.of(OSError(number, os.strerror(number)))
    assert reason == Reason(f"os.{errno.errorcode[number]}")
    assert fill("{why}", {"why": reason}) == os.strerror(number)


@pytest.mark.parametrize("error", [OSError(errno.EXDEV, "Invalid link"), OSError("Invalid link")])
def test_a_rare_failure_of_the_system_is_told_as_it_tells_it(error: OSError) -> None:
    assert fill("{why}", {"why": Reason.of(error)}) == "Invalid link"


def test_a_command_that_shows_a_path_works_whatever_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my runs").mkdir()
    Path("my runs/a.pt").touch()
    shown = {
        "my runs": "ls -ld 'my runs'",
        "my runs/a.pt": "ls -l 'my runs/a.pt'",
        "my runs/b.pt": "ls -l 'my runs'",
        "my runs/no/such/b.pt": "ls -l 'my runs'",
        "b.pt": "ls -l .",
        "": "ls -l .",
        "/no-such-folder/b.pt": "ls -l /",
    }
    assert {path: looking_at(path) for path in shown} == shown
    for command in shown.values():
        subprocess.run(command, shell=True, check=True, capture_output=True)


def test_a_folder_that_we_stand_in_and_may_not_enter_is_shown_from_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for whoever calls `sudo -u nobody` at home; it looked for what is above `.` for ever."""
    (tmp_path / "closed").mkdir()
    monkeypatch.chdir(tmp_path / "closed")
    monkeypatch.setattr(os, "lstat", _from_outside(os.lstat))
    assert looking_at("runs/a.pt") == f"ls -ld {tmp_path / 'closed'}"


def test_a_folder_that_we_stand_in_and_that_is_gone_has_nothing_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    monkeypatch.chdir(tmp_path / "closed")
    (tmp_path / "closed").rmdir()
    monkeypatch.setattr(os, "lstat", _from_outside(os.lstat))
    assert looking_at("runs/a.pt") == "ls -ld /"


def _from_outside(lstat: Callable[[str], os.stat_result]) -> Callable[[str], os.stat_result]:
    """What the system says to whoever may not enter where they stand; to root it never does."""

    def refuse(path: str) -> os.stat_result:
        if not path.startswith("/"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return lstat(path)

    return refuse


def test_one_step_is_not_called_steps() -> None:
    assert "has 1 step," in str(NoTimesError("a.log", 1, "it has no time"))
    assert "has 2 steps," in str(NoTimesError("a.log", 2, "they have no time"))


@pytest.mark.parametrize(
    ("num_files", "message"),
    [
        (0, "there is no file in `logs`"),
        (1, "the only file in `logs` is not a training log"),
        (7, "no training log among the 7 files in `logs`"),
    ],
)
def test_files_without_a_log_are_counted_as_people_count(num_files: int, message: str) -> None:
    assert str(NoLogsError("logs", num_files)) == message


@pytest.mark.parametrize(
    ("name", "meant"),
    [("--jsn", "--json"), ("NanoGPT", "nano-gpt"), ("--wrong", None), ("", None)],
)
def test_a_name_is_near_another_if_most_letters_are(name: str, meant: str | None) -> None:
    assert nearest(name, ["--json", "--lang", "--version", "nano-gpt"]) == meant


def test_the_nearest_name_is_suggested_where_there_is_one() -> None:
    assert "did you mean `--dialect nanogpt`?" in UnknownDialectError("nanogtp", "nanogpt").hint
    assert "did you mean" not in UnknownDialectError("x", None).hint
