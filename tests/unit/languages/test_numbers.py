"""Numbers and units as each language writes them; `_` stands for a no-break space, `'` for a
narrow one.
"""

from __future__ import annotations

import pytest

from instride.explain.languages import LANGUAGES

CODES = ("en", "de", "fr", "ja")


def plain(text: str) -> str:
    return text.replace("\u00a0", "_").replace("\u202f", "'")


@pytest.mark.parametrize(
    ("value", "digits", "texts"),
    [
        (1234.5, 1, ("1,234.5", "1.234,5", "1'234,5", "1,234.5")),
        (1_234_567, 0, ("1,234,567", "1.234.567", "1'234'567", "1,234,567")),
        (999, 0, ("999", "999", "999", "999")),
    ],
)
def test_numbers_have_their_marks(value: float, digits: int, texts: tuple[str, ...]) -> None:
    assert tuple(plain(LANGUAGES[code].number(value, digits)) for code in CODES) == texts


@pytest.mark.parametrize(
    ("seconds", "texts"),
    [
        (0.0021, ("2.1 ms", "2,1_ms", "2,1_ms", "2.1 ms")),
        (0.25, ("250 ms", "250_ms", "250_ms", "250 ms")),
        (5.384, ("5.38 s", "5,38_s", "5,38_s", "5.38秒")),
        (284.7, ("284.7 s", "284,7_s", "284,7_s", "284.7秒")),
        (599.0, ("599.0 s", "599,0_s", "599,0_s", "599.0秒")),
        (600.0, ("10 min 0 s", "10_min_0_s", "10_min_0_s", "10分0秒")),
        (2694.0, ("44 min 54 s", "44_min_54_s", "44_min_54_s", "44分54秒")),
        (50_820.0, ("14 h 7 min", "14_h_7_min", "14_h_7_min", "14時間7分")),
        (200_000.0, ("2 d 7 h", "2_Tage_7_h", "2_j_7_h", "2日7時間")),
        (1e8, ("1,157 d 9 h", "1.157_Tage_9_h", "1'157_j_9_h", "1,157日9時間")),
    ],
)
def test_durations_have_their_units(seconds: float, texts: tuple[str, ...]) -> None:
    assert tuple(plain(LANGUAGES[code].seconds(seconds)) for code in CODES) == texts


@pytest.mark.parametrize(
    ("share", "texts"),
    [
        (0.0912, ("9.1 %", "9,1_%", "9,1'%", "9.1%")),
        (0.0005, ("0.05 %", "0,05_%", "0,05'%", "0.05%")),
        (0.943, ("94 %", "94_%", "94'%", "94%")),
    ],
)
def test_shares_have_their_sign(share: float, texts: tuple[str, ...]) -> None:
    assert tuple(plain(LANGUAGES[code].percent(share)) for code in CODES) == texts


@pytest.mark.parametrize(
    ("typical_s", "texts"),
    [
        (2.5, ("2.50 s", "2,50_s", "2,50_s", "2.50秒")),
        (
            0.587,
            ("on average 2.50 s", "durchschnittlich 2,50_s", "en moyenne 2,50_s", "平均2.50秒"),
        ),
    ],
)
def test_what_each_took_times_their_number_is_what_they_took(
    typical_s: float, texts: tuple[str, ...]
) -> None:
    facts = {"count": 8, "typical_s": typical_s}
    assert tuple(plain(LANGUAGES[code].each(facts, 20.0)) for code in CODES) == texts
