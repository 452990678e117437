"""Where secrets lie, whether their files are shut, and reading them at the moment of use.

Called by bootstrap (token, keys), for the sandbox (`secret_paths`) and once by `load` (modes).
No function puts a secret into an error, a log line or a representation.
"""

from pathlib import Path

from controller.config.model import Config, Sections
from controller.config.text import shown
from controller.errors import ConfigError

CREDENTIAL = "github-token"
"""Name of the systemd credential."""
TOKEN_VARIABLE = "TOBAN_GITHUB_TOKEN"  # noqa: S105 - the name of a variable
LARGEST = 65_536
"""Bytes; an RSA key of 16,384 bits in PEM has less than 13,000."""
SHORTEST_KEY = 16
"""Characters of a signing key: below that it could be guessed."""
OF_CODEX = (
    ".env",
    "auth.json",
    "config.toml",
    "history.jsonl",
    "log",
    "sessions",
    "shell_snapshots",
)
"""Below `agent.codex_home`; the folder itself stays open: Codex keeps its sandbox program there."""
OF_HOME = (
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".docker/config.json",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".ssh",
)
"""What other programs keep in the home of the user who runs toban."""


def _named(sections: Sections) -> tuple[tuple[str, Path], ...]:
    github = sections.github
    named = (
        ("github.token_file", github.token_file if github else None),
        (
            "github.app.private_key_file",
            github.app.private_key_file if github and github.app else None,
        ),
        ("policy.signing_key_file", sections.policy.signing_key_file),
    )
    return tuple((key, path) for key, path in named if path is not None)


def secret_paths(config: Config) -> tuple[Path, ...]:
    """Every file or folder that nothing run for an AI may read, existing or not, sorted.

    Absolute; where one is reached through a link, both the link and its target.
    """
    paths = {path for _, path in _named(config)}
    paths.update(config.agent.codex_home / name for name in OF_CODEX)
    paths.update(config.home / name for name in OF_HOME)
    if config.credentials is not None:
        paths.add(config.credentials)
    paths.update({path.resolve() for path in paths})
    return tuple(sorted(paths))


def audit(sections: Sections, *, credentials: Path | None) -> tuple[list[str], list[str]]:
    """Judge the modes of all secret files: (errors, warnings), sentences naming key, file, command.

    A file that is not there, or not to be seen, is judged when it is read.
    """
    errors, warnings = [], []
    named = list(_named(sections))
    if credentials is not None:
        named.append(("$CREDENTIALS_DIRECTORY", credentials / CREDENTIAL))
    for key, path in named:
        try:
            mode = path.stat().st_mode
        except OSError:
            continue
        place, remedy = shown(str(path)), f"chmod 600 {shown(str(path))}"
        if mode & 0o002:
            errors.append(f"{key}: {place} can be written by everybody; use: {remedy}")
        elif mode & 0o077 and key != "$CREDENTIALS_DIRECTORY":
            warnings.append(f"{key}: {place} can be read by other users; use: {remedy}")
    return errors, warnings


def _content(path: Path, key: str) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{key}: {shown(str(path))} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{key}: {shown(str(path))} is no text") from None
    if len(content) > LARGEST:
        raise ConfigError(f"{key}: {shown(str(path))} is larger than {LARGEST} bytes")
    return text


def _token(text: str, source: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise ConfigError(f"{source} is empty: expected the token on one line")
    if len(lines) > 1:
        raise ConfigError(f"{source} has {len(lines)} lines: expected the token alone on one line")
    token = lines[0]
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(f"{source} holds no token: expected printable ASCII without blanks")
    return token


def read_token(config: Config) -> str:
    """The GitHub token: token_file, else the systemd credential, else the variable.

    A source that is named but unusable is a ConfigError, never a reason to try the next.
    """
    github = config.github
    if github is not None and github.app is not None:
        raise ConfigError("[github.app] is configured: its installation's token is used, no other")
    if github is not None and github.token_file is not None:
        key = "github.token_file"
        return _token(_content(github.token_file, key), f"{key}: {shown(str(github.token_file))}")
    if config.credentials is not None and (config.credentials / CREDENTIAL).exists():
        path = config.credentials / CREDENTIAL
        key = f"systemd credential {CREDENTIAL}"
        return _token(_content(path, key), f"{key}: {shown(str(path))}")
    if config.token_variable is not None:
        return _token(config.token_variable.get_secret_value(), f"${TOKEN_VARIABLE}")
    raise ConfigError(
        f"{shown(str(config.path))}: no GitHub token: set github.token_file, a systemd credential "
        f"named {CREDENTIAL}, or ${TOKEN_VARIABLE}"
    )


def read_app_key(config: Config) -> str:
    """The App's private key in PEM. Raises ConfigError."""
    app = config.github.app if config.github else None
    if app is None:
        raise ConfigError(f"{shown(str(config.path))}: [github.app] is missing")
    key = "github.app.private_key_file"
    text = _content(app.private_key_file, key)
    if "-----BEGIN" not in text or "PRIVATE KEY-----" not in text:
        raise ConfigError(
            f"{key}: {shown(str(app.private_key_file))}: expected a private key in PEM"
        )
    return text


def read_signing_keys(config: Config) -> tuple[bytes, ...]:
    """The signing keys, one a line: the first signs, all verify; empty where none is configured.

    Blank lines and lines that begin with # are skipped. Raises ConfigError.
    """
    path = config.policy.signing_key_file
    if path is None:
        return ()
    source = f"policy.signing_key_file: {shown(str(path))}"
    lines = [line.strip() for line in _content(path, "policy.signing_key_file").splitlines()]
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        raise ConfigError(f"{source} is empty: expected one key a line, the first signs")
    for number, line in enumerate(lines, start=1):
        if line and not line.startswith("#") and len(line) < SHORTEST_KEY:
            raise ConfigError(
                f"{source}: line {number}: expected at least {SHORTEST_KEY} characters"
            )
    if len(set(keys)) != len(keys):
        raise ConfigError(f"{source}: expected each key once")
    return tuple(key.encode() for key in keys)
