"""Foreign text cannot act in a terminal, a log line or a page."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.domain.text import safe_text

ANY = st.text(st.characters(exclude_categories=()), max_size=60)
"""Surrogates and unassigned characters too."""


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("順番表（じゅんばん）👍 é", "順番表（じゅんばん）👍 é"),
        ("か\u3099 NFD", "か\u3099 NFD"),
        ("\x1b[2J\x1b]52;c;x\x07", "\\u001B[2J\\u001B]52;c;x\\u0007"),
        ("a\rb\x08", "a b\\u0008"),
        ("one\r\ntwo\nthree\tfour", "one two three four"),
        ("\x7f\x9b31m", "\\u007F\\u009B31m"),
        ("abc\u202egnp.exe", "abc\\u202Egnp.exe"),
        ("\u200b\u2060\ufeff\u2066", "\\u200B\\u2060\\uFEFF\\u2066"),
        ("\U000e0041\U000e007f", "\\U000E0041\\U000E007F"),
        ("\ud83d lone", "\\uD83D lone"),
        ("\u2028\u2029", "\\u2028\\u2029"),
        ("broken \ufffd", "broken \ufffd"),
        ("", ""),
    ],
)
def test_one_line(text: str, safe: str) -> None:
    assert safe_text(text, limit=100) == safe


def test_lines_stay_lines_where_asked() -> None:
    assert safe_text("a\r\nb\rc\td\x1b\n", limit=100, lines=True) == "a\nb\nc\td\\u001B\n"


@pytest.mark.parametrize(
    ("limit", "safe"), [(0, ""), (1, "…"), (3, "ab…"), (4, "abcd"), (9, "abcd")]
)
def test_a_cut_is_visible(limit: int, safe: str) -> None:
    assert safe_text("abcd", limit=limit) == safe


@given(ANY, st.integers(0, 80), st.booleans())
def test_nothing_hostile_comes_through(text: str, limit: int, lines: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    safe = safe_text(text, limit=limit, lines=lines)
    assert len(safe) <= limit
    safe.encode("utf-8")
    allowed = "\n\t" if lines else ""
    hostile = [
        char
        for char in safe
        if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
        and char not in allowed
        and char not in "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2"
        and char not in "\U000110bd\U000110cd"
        and not 0x13430 <= ord(char) <= 0x1345F
        and not 0x1BCA0 <= ord(char) <= 0x1BCA3
        and not 0xE000 <= ord(char) <= 0xF8FF
    ]
    assert hostile == []


@given(ANY, st.booleans())
def test_it_is_stable(text: str, lines: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    once = safe_text(text, limit=10_000, lines=lines)
    assert safe_text(once, limit=10_000, lines=lines) == once
