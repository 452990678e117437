"""Durations: what people may write, what is refused, and that writing is reading backwards."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.config.durations import format_duration, parse_duration

READ = {
    "0s": timedelta(0),
    "60s": timedelta(seconds=60),
    "15m": timedelta(minutes=15),
    "2h": timedelta(hours=2),
    "30d": timedelta(days=30),
    "1h30m": timedelta(hours=1, minutes=30),
    "1d2h3m4s": timedelta(days=1, hours=2, minutes=3, seconds=4),
    "90m": timedelta(minutes=90),
    "3650d": timedelta(days=3650),
}

REFUSED = [
    "",
    " ",
    "15",
    "m",
    "15 m",
    " 15m",
    "15m\n",
    "-5m",
    "+5m",
    "1.5h",
    "15min",
    "15M",
    "30m1h",
    "1h1h",
    "１５m",
    "15分",
    "٣m",
    "inf",
    "3651d",
    "99999999999s",
]


@pytest.mark.parametrize(("text", "duration"), READ.items(), ids=READ.keys())
def test_reads(text: str, duration: timedelta) -> None:
    assert parse_duration(text) == duration


@pytest.mark.parametrize("text", REFUSED)
def test_refuses_and_says_what_it_expects(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected "):
        parse_duration(text)


@given(st.integers(0, 3650 * 86_400))
def test_what_is_written_reads_the_same(seconds: int) -> None:
    duration = timedelta(seconds=seconds)
    assert parse_duration(format_duration(duration)) == duration
