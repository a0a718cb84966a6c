"""What goes wrong is told in the language that was asked for, also where nothing was understood."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from instride.cli.main import main
from instride.explain.languages import LANGUAGES
from instride.explain.languages.words import Words


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.log").touch()
    Path("prose.log").write_text("nothing\n" * 20)


def complaint(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert main(list(args)) != 0
    return capsys.readouterr().err


def labels(say: Words) -> tuple[str, str]:
    error, hint = (say.failures[name] for name in ("error", "hint"))
    return error.partition("{")[0], hint.partition("{")[0]


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize(
    "args",
    [
        ["explain", "empty.log"],
        ["explain", "prose.log"],
        ["explain", "prose.log", "--pattern", "("],
        ["explain", "no.log", "--dialect", "nanogtp"],
        ["explain", "no.log"],
        ["explain"],
        ["explain", "no.log", "--jsno"],
        ["explain", "no.log", "--json=yes"],
        ["explain", "no.log", "--follow", "--json"],
        ["explain", "no.log", "--mtbf", "soon"],
        ["explain", "no.log", "--dialect"],
        ["compare", "no.log"],
        ["compare", "a.log", "b.log", "c.log"],
        ["exlpain"],
    ],
    ids=" ".join,
)
def test_a_complaint_is_in_the_language(
    capsys: pytest.CaptureFixture[str], args: list[str], code: str
) -> None:
    option = ["--lang", code]
    said = complaint(capsys, *args[:1], *option, *args[1:])
    english = complaint(capsys, *args, "--lang=en") if code != "en" else ""
    error, hint = labels(LANGUAGES[code])
    message, advice = said.rstrip("\n").split("\n\n")
    assert message.startswith(error)
    assert advice.startswith(hint)
    theirs = [message.removeprefix(error), advice.removeprefix(hint)]
    assert not any(each and each in english for each in theirs)


def test_the_locale_decides_where_nothing_is_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert complaint(capsys, "explain", "empty.log") == (
        "Fehler: `empty.log` ist leer\n\nTipp: falls das Training noch läuft, hält Python die "
        "Ausgabe vielleicht zurück: mit `PYTHONUNBUFFERED=1` starten\n"
    )


@pytest.mark.parametrize("asked", ["--lang=xx", "--lang="])
def test_a_language_that_is_not_there_is_refused_in_that_of_the_locale(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.setenv("LC_ALL", "fr_FR.UTF-8")
    said = complaint(capsys, "explain", "empty.log", asked)
    assert said.startswith("erreur\u00a0: ")
    assert "en, de, fr, ja" in said


@pytest.mark.parametrize(
    ("encoding", "code", "begins"),
    [
        ("ascii", "ja", "error: `empty.log`"),
        ("latin-1", "ja", "error: `empty.log`"),
        ("latin-1", "fr", "erreur\u00a0: `empty.log`"),
        ("euc-jp", "ja", "エラー: `empty.log`"),
    ],
)
def test_a_terminal_without_the_letters_is_told_in_english(
    monkeypatch: pytest.MonkeyPatch, encoding: str, code: str, begins: str
) -> None:
    screen = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")
    monkeypatch.setattr("sys.stderr", screen)
    main(["explain", "empty.log", "--lang", code])
    screen.seek(0)
    assert screen.read().startswith(begins)


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_was_written_is_told_in_the_language(
    capsys: pytest.CaptureFixture[str], code: str
) -> None:
    steps = "".join(f"iter {n}: loss 2.5, time 500.00ms, mfu 30.00%\n" for n in range(50))
    Path("train.log").write_text(steps)
    assert main(["explain", "train.log", "--html", "page.html", "--lang", code]) == 0
    assert capsys.readouterr().err == LANGUAGES[code].filled("wrote", {"path": "page.html"}) + "\n"
