"""Tokens are taken out of what agents and commands say, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.domain.tokens import has_token, redact

REAL = "ghp_0aZ9bY8cX7dW6eV5fU4gT3hS2iR1jQ0kP9lO"


def test_a_token_goes_and_the_rest_stays() -> None:
    assert redact(f"鍵は {REAL} です") == "鍵は [secret removed] です"
    assert not has_token(redact(f"{REAL}\n{REAL}").encode())


def test_the_hosts_own_values_go_whatever_their_shape() -> None:
    assert redact("a plain-canary b", ("plain-canary\n", "")) == "a [secret removed] b"


@pytest.mark.parametrize("text", ["ghp_" + "x" * 36, "sk-learn-is-a-library-of-python", "普通の文"])
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact(text) == text


@given(st.text())
def test_any_text_survives(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_half_a_character_survives() -> None:
    assert redact("\ud800") == "\ud800"
