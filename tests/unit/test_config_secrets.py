"""Secrets: where they come from, what is refused, and that none shows up anywhere."""

from pathlib import Path

import pytest

from controller.config import read_app_key, read_signing_keys, read_token, secret_paths
from controller.errors import ConfigError
from tests.configfiles import SMALLEST, Place, made_up

TOKEN = "ghp_" + "0123456789" * 3
OTHER = "ghp_" + "9876543210" * 3
FROM_FILE = SMALLEST + 'token_file = "token"\n'
SIGNED = SMALLEST + "[policy]\nsigning_key_file = 'keys'\n"
APP = SMALLEST + 'assignee = "octo"\n[github.app]\napp_id = 7\nprivate_key_file = "app.pem"\n'
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return made_up(tmp_path)


def _credentials(place: Place, content: str) -> dict[str, str]:
    place.write(content, "credentials/github-token")
    return {"CREDENTIALS_DIRECTORY": str(place.folder / "credentials")}


@pytest.mark.parametrize(
    "content",
    [TOKEN, f"{TOKEN}\n", f"{TOKEN}\r\n", f"\ufeff{TOKEN}\n", f"\n  {TOKEN}  \n\n"],
    ids=["bare", "line", "CRLF", "byte order mark", "blanks around"],
)
def test_the_token_file(place: Place, content: str) -> None:
    place.write(content, "token")
    config = place.load(FROM_FILE)
    assert read_token(config) == TOKEN
    assert TOKEN not in repr(config)
    assert config.warnings == ()


def test_the_file_comes_before_the_credential_before_the_variable(place: Place) -> None:
    variable = {"TOBAN_GITHUB_TOKEN": OTHER}
    assert read_token(place.load(SMALLEST, **variable)) == OTHER
    both = {**variable, **_credentials(place, TOKEN)}
    assert read_token(place.load(SMALLEST, **both)) == TOKEN
    place.write("ghp_file\n", "token")
    assert read_token(place.load(FROM_FILE, **both)) == "ghp_file"


def test_a_credentials_folder_without_ours_is_passed_over(place: Place) -> None:
    config = place.load(SMALLEST, CREDENTIALS_DIRECTORY=str(place.home), TOBAN_GITHUB_TOKEN=TOKEN)
    assert read_token(config) == TOKEN


def test_a_broken_file_is_never_passed_over(place: Place) -> None:
    config = place.load(FROM_FILE, TOBAN_GITHUB_TOKEN=TOKEN)
    with pytest.raises(ConfigError, match=r"github\.token_file: .*token cannot be read: No such"):
        read_token(config)


@pytest.mark.parametrize(
    ("content", "expected"),
    {
        "empty": ("", "is empty: expected the token on one line"),
        "blank": (" \n\n", "is empty: expected the token on one line"),
        "two lines": (f"{TOKEN}\n{OTHER}\n", "has 2 lines: expected the token alone on one line"),
        "an assignment": (f"TOKEN = {TOKEN}", "holds no token: expected printable ASCII"),
        "full-width": ("ｇｈｐ＿１２３", "holds no token: expected printable ASCII"),
        "a control character": (f"{TOKEN}\x1b[31m", "holds no token: expected printable ASCII"),
        "much too long": ("x" * 70_000, "is larger than 65536 bytes"),
    }.values(),
)
def test_what_is_no_token_is_refused_unseen(place: Place, content: str, expected: str) -> None:
    place.write(content, "token")
    with pytest.raises(ConfigError, match="token") as caught:
        read_token(place.load(FROM_FILE))
    assert expected in str(caught.value)
    assert "github.token_file: " in str(caught.value)
    assert TOKEN not in str(caught.value)


def test_no_token_anywhere_names_the_three_places(place: Place) -> None:
    with pytest.raises(ConfigError, match=r"github\.token_file.*credential.*TOBAN_GITHUB_TOKEN"):
        read_token(place.load(SMALLEST))


def test_the_variable_s_value_is_never_shown(place: Place) -> None:
    config = place.load(SMALLEST, TOBAN_GITHUB_TOKEN=f"{TOKEN} {OTHER}")
    assert TOKEN not in repr(config)
    assert TOKEN not in str(config.model_dump())
    with pytest.raises(ConfigError, match=r"^\$TOBAN_GITHUB_TOKEN holds no token") as caught:
        read_token(config)
    assert TOKEN not in str(caught.value)


class TestApp:
    """A GitHub App instead of a token."""

    def test_its_key_is_read(self, place: Place) -> None:
        place.write(PEM, "app.pem")
        assert read_app_key(place.load(APP)) == PEM

    def test_it_takes_the_token_s_place(self, place: Place) -> None:
        with pytest.raises(ConfigError, match=r"\[github\.app\] is configured"):
            read_token(place.load(APP, TOBAN_GITHUB_TOKEN=TOKEN))

    def test_a_public_key_is_no_key(self, place: Place) -> None:
        place.write(PEM.replace("RSA PRIVATE", "PUBLIC"), "app.pem")
        with pytest.raises(ConfigError, match="expected a private key in PEM"):
            read_app_key(place.load(APP))

    def test_without_an_app_there_is_none(self, place: Place) -> None:
        with pytest.raises(ConfigError, match=r"\[github\.app\] is missing"):
            read_app_key(place.load(SMALLEST))


class TestSigningKeys:
    """Several keys, one a line: the first signs, all verify."""

    def test_none_is_none(self, place: Place) -> None:
        assert read_signing_keys(place.load(SMALLEST)) == ()

    def test_in_the_order_of_the_file(self, place: Place) -> None:
        new, old = "n" * 32, "鍵" * 16
        place.write(f"# 2026\r\n{new}\r\n\r\n{old}\r\n", "keys")
        assert read_signing_keys(place.load(SIGNED)) == (new.encode(), old.encode())

    @pytest.mark.parametrize(
        ("content", "expected"),
        {
            "empty": ("# none\n", "is empty: expected one key a line, the first signs"),
            "short": ("# x\nabc\n", "line 2: expected at least 16 characters"),
            "twice": ("k" * 20 + "\n" + "k" * 20, "expected each key once"),
        }.values(),
    )
    def test_what_is_no_key_is_refused(self, place: Place, content: str, expected: str) -> None:
        place.write(content, "keys")
        with pytest.raises(ConfigError, match=r"policy\.signing_key_file: ") as caught:
            read_signing_keys(place.load(SIGNED))
        assert expected in str(caught.value)


class TestModes:
    """Secrets that others can read are said; those that others can write are refused."""

    @pytest.mark.parametrize("mode", [0o640, 0o644, 0o604])
    def test_readable_by_others(self, place: Place, mode: int) -> None:
        place.write(TOKEN, "token").chmod(mode)
        (warning,) = place.load(FROM_FILE).warnings
        assert "github.token_file: " in warning
        assert f"can be read by other users; use: chmod 600 {place.folder}/token" in warning

    def test_writable_by_everybody(self, place: Place) -> None:
        place.write("k" * 20, "keys").chmod(0o606)
        message = place.refused(SIGNED)
        assert "policy.signing_key_file: " in message
        assert f"can be written by everybody; use: chmod 600 {place.folder}/keys" in message

    def test_systemd_decides_about_its_own(self, place: Place) -> None:
        environ = _credentials(place, TOKEN)
        (place.folder / "credentials/github-token").chmod(0o440)
        assert place.load(SMALLEST, **environ).warnings == ()


def test_everything_secret_is_named_for_the_sandbox(place: Place) -> None:
    """Files that do not exist yet too, and both ends of a link."""
    real = place.write(TOKEN, "本物")
    (place.folder / "token").symlink_to(real)
    config = place.load(
        FROM_FILE + "[policy]\nsigning_key_file = 'keys'\n[agent]\ncodex_home = 'codex'\n",
        **_credentials(place, TOKEN),
    )
    paths = secret_paths(config)
    assert set(paths) >= {
        place.folder / "token",
        real,
        place.folder / "keys",
        place.folder / "credentials",
        place.folder / "codex/auth.json",
        place.folder / "codex/sessions",
        place.folder / "codex/shell_snapshots",
        place.home / ".ssh",
        place.home / ".netrc",
        place.home / ".config/gh",
    }
    assert place.folder / "codex" not in paths
    assert all(path.is_absolute() for path in paths)
    assert list(paths) == sorted(set(paths))


def test_an_app_s_key_is_secret_too(place: Place) -> None:
    assert place.folder / "app.pem" in secret_paths(place.load(APP))
