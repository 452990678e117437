"""Where paths lead: `~`, relative paths, and where the configuration file itself is looked for.

Used while the configuration is read; looks at the file system only to find the configuration file.
"""

import os
import pwd
from collections.abc import Mapping
from pathlib import Path

from controller.errors import ConfigError

VARIABLE = "TOBAN_CONFIG"
SYSTEM_WIDE = Path("/etc/toban/config.toml")


def home_of(environ: Mapping[str, str]) -> Path:
    """`$HOME` where it is an absolute path, else the home of the user who runs this."""
    home = environ.get("HOME", "")
    if home.startswith("/"):
        return Path(home)
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return Path("/")


def expand(path: Path | str, *, directory: Path | None, home: Path | None) -> Path:
    """Make `path` absolute: `~` and `~user`, then relative to `directory`; `..` is kept.

    Raises ValueError when the named user does not exist.
    """
    text = str(path)
    first, slash, rest = text.partition("/")
    if first == "~":
        text = f"{home or home_of(os.environ)}{slash}{rest}"
    elif first.startswith("~"):
        try:
            text = f"{pwd.getpwnam(first[1:]).pw_dir}{slash}{rest}"
        except KeyError as error:
            raise ValueError(f"expected a path, but there is no user {first[1:]!r} here") from error
    return (directory or Path.cwd()) / text


def candidates(given: Path | None, environ: Mapping[str, str]) -> tuple[tuple[str, Path], ...]:
    """Where the configuration may lie: (who named it, absolute path); the first that exists wins.

    A file named by `--config` or `$TOBAN_CONFIG` is the only candidate.
    """
    home, here = home_of(environ), Path.cwd()
    if given is not None:
        return (("--config", expand(given, directory=here, home=home)),)
    if environ.get(VARIABLE):
        return ((f"${VARIABLE}", expand(environ[VARIABLE], directory=here, home=home)),)
    personal = home / ".config" / "toban" / "config.toml"
    return (("the user's own", personal), ("the system's", SYSTEM_WIDE))


def find(given: Path | None, environ: Mapping[str, str]) -> Path:
    """The configuration file to read. Raises ConfigError that says which places were tried."""
    tried = candidates(given, environ)
    for who, path in tried:
        try:
            path.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise ConfigError(f"{path} ({who}): cannot be read: {error.strerror}") from error
        return path
    places = ", ".join(f"{path} ({who})" for who, path in tried)
    raise ConfigError(
        f"no configuration file: tried {places}. `toban init` writes one; --config names another."
    )
