"""Shapes of tokens in added lines, and this host's own values. All of them are made up."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.adapters.git.patch import Line
from controller.adapters.git.secrets import HostSecrets, token_lines

RANDOM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6"

TOKENS = {
    "GitHub, classic": f"ghp_{RANDOM[:36]}",
    "GitHub, app": f"ghs_{RANDOM[:36]}",
    "GitHub, fine": f"github_pat_{RANDOM[:22]}_{RANDOM}",
    "GitLab": f"glpat-{RANDOM[:20]}",
    "AWS": "AKIA" + "Z2X3C4V5B6N7M8Q9",
    "Slack": "xoxb-" + "123456789012-" + RANDOM[:24],
    "Slack hook": "https://hooks.slack.com/services/" + "T0A1B2C3D/B0A1B2C3D/" + RANDOM[:24],
    "OpenAI": f"sk-proj-{RANDOM}",
    "Anthropic": f"sk-ant-api03-{RANDOM}",
    "Stripe": f"sk_live_{RANDOM[:24]}",
    "Google": "AIza" + RANDOM[:35],
    "npm": f"npm_{RANDOM[:36]}",
    "Hugging Face": f"hf_{RANDOM[:34]}",
    "JWT": f"eyJ{RANDOM[:20]}.eyJ{RANDOM[:30]}.{RANDOM[:30]}",
    "private key": "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
    "PKCS 8": "-----BEGIN " + "PRIVATE KEY-----",
    "URL": f"https://user:{RANDOM[:16]}@db.internal/x",
    "assignment": f'api_key = "{RANDOM[:32]}"',
}

HARMLESS = {
    "prose": "The token is read from a file, never from the password prompt.",
    "AWS's own example": "AKIAIOSFODNN7EXAMPLE",
    "placeholder": f"ghp_{'x' * 36}",
    "a name": "ghp_token_of_the_user",
    "CSS": "sk-loading-indicator-container-large-primary",
    "environment": 'password = "${DATABASE_PASSWORD_FROM_VAULT}"',
    "a lookup": 'token = "get-the-token-from-keyring"',
    "URL without": "https://github.com/octo/app.git",
    "URL with example": "https://user:example-password@example.com/",
    "sha": "token: 0123456789abcdef0123456789abcdef01234567",
    "public key": "-----BEGIN PUBLIC KEY-----",
    "Japanese": "パスワード：後で設定する",
    "base64 image": f"data:image/png;base64,{RANDOM}{RANDOM}",
}


@pytest.mark.parametrize("kind", TOKENS)
def test_a_tokens_shape_is_found_wherever_it_stands(kind: str) -> None:
    token = TOKENS[kind]
    for text in (token, f'key: "{token}"', f"（{token}）", "x" * 70_000 + f" {token}"):
        assert token_lines([Line(1, b"clean"), Line(7, text.encode())]) == [7]


@pytest.mark.parametrize("kind", HARMLESS)
def test_what_only_looks_like_one_is_let_through(kind: str) -> None:
    assert token_lines([Line(1, HARMLESS[kind].encode())]) == []


@given(
    value=st.text("abcXYZ019-_", min_size=12, max_size=40),
    before=st.binary(max_size=10),
    after=st.binary(max_size=10),
)
def test_a_host_secret_is_found_in_every_dress(value: str, before: bytes, after: bytes) -> None:
    secrets = HostSecrets([value])
    raw = value.encode()
    assert secrets.are_in(before + raw + after)
    assert secrets.are_in(base64.b64encode(before + raw + after))
    assert secrets.are_in(base64.urlsafe_b64encode(before + raw + after))
    assert secrets.are_in(before + raw.hex().encode() + after)


def test_lines_of_a_key_file_are_found_alone() -> None:
    lines = [RANDOM + str(number) for number in range(3)]
    secrets = HostSecrets(["\n".join(["-----BEGIN X-----", *lines, "-----END X-----"])])
    assert secrets.are_in(f'key = "\\n{lines[1]}\\n"'.encode())
    assert not secrets.are_in(b"-----BEGIN X-----")


def test_short_and_empty_values_are_no_secrets() -> None:
    assert not HostSecrets(["", "abc", " \n"]).are_in(b"abc and more")
