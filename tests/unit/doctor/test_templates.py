"""Templates are filled in as each language writes numbers, sizes and nouns."""

from __future__ import annotations

import pytest

from instride.doctor.languages import LANGUAGES
from instride.doctor.languages.template import names_of
from instride.doctor.model import Bytes, Count, Fact, Factor, Seconds, Share, Speed

NARROW, SPACE = "\u202f", "\u00a0"


def filled(code: str, template: str, **facts: Fact) -> str:
    return LANGUAGES[code].writer.fill(template, facts)


@pytest.mark.parametrize(
    ("code", "fact", "text"),
    [
        ("en", Bytes(1_500_000_000), "1.5 GB"),
        ("de", Bytes(1_500_000_000), f"1,5{SPACE}GB"),
        ("fr", Bytes(1_500_000_000), f"1,5{SPACE}Go"),
        ("ja", Bytes(1_500_000_000), "1.5 GB"),
        ("en", Speed(64e6), "64 MB/s"),
        ("fr", Speed(64e6), f"64{SPACE}Mo/s"),
        ("en", Seconds(2.5), "2.50 s"),
        ("de", Seconds(2.5), f"2,50{SPACE}s"),
        ("fr", Share(0.125), f"12{NARROW}%"),
        ("ja", Factor(3.2), "3.2\u500d"),
        ("de", Count(12_000), "12.000"),
        ("en", "out/{x}", "out/{x}"),
    ],
)
def test_a_fact_is_written_as_the_language_writes_it(code: str, fact: Fact, text: str) -> None:
    assert filled(code, "{it}", it=fact) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (999_600, "1.0 MB"),
        (9_960_000, "10 MB"),
        (123_456_789_000_000, "123 TB"),
    ],
)
def test_sizes_have_the_unit_that_a_person_would_choose(value: int, text: str) -> None:
    assert filled("en", "{size}", size=Bytes(value)) == text


@pytest.mark.parametrize(
    ("code", "template", "value", "text"),
    [
        ("en", "{n:worker|workers}", 1, "1 worker"),
        ("en", "{n:worker|workers}", 0, "0 workers"),
        ("fr", "{n:processus inactif|processus inactifs}", 0, f"0{SPACE}processus inactif"),
        ("fr", "{n:fichier|fichiers}", 2, f"2{SPACE}fichiers"),
        ("de", "{n:Datei|Dateien}", 2, f"2{SPACE}Dateien"),
        ("ja", "{n:\u500b}", 2, "2\u500b"),
    ],
)
def test_a_noun_follows_its_number(code: str, template: str, value: int, text: str) -> None:
    assert filled(code, template, n=Count(value)) == text


def test_the_names_of_a_template_are_those_of_its_facts() -> None:
    assert names_of("{path} holds {n:file|files}") == {"path", "n"}
    assert names_of("nothing") == frozenset()


def test_a_missing_fact_is_an_error_and_no_gap_in_a_sentence() -> None:
    with pytest.raises(KeyError, match="speed"):
        filled("en", "{path} writes at {speed}", path="out")
