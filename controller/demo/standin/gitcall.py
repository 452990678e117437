"""Running git for the stand-in: one clean environment, one kind of error.

Called by `gitrepo` and `smart_http`. Never reads configuration of the user who runs the stand-in.
"""

import os
import subprocess
from collections.abc import Mapping


class GitError(Exception):
    """A git command failed; the message holds what it said."""


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a git process of ours: no configuration but the repository's."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        **(extra or {}),
    }


def git(
    *args: str,
    stdin: bytes = b"",
    ok: tuple[int, ...] = (0,),
    env: Mapping[str, str] | None = None,
) -> tuple[int, bytes]:
    """Run git and give exit code and output; GitError for a code not in `ok`."""
    done = subprocess.run(
        ["git", *args],  # noqa: S607 - the git on PATH is the one under test
        input=stdin,
        capture_output=True,
        check=False,
        env=environment(env),
    )
    if done.returncode not in ok:
        said = done.stderr.decode(errors="replace").strip()
        message = f"git {args[0]} ended with {done.returncode}: {said}"
        raise GitError(message)
    return done.returncode, done.stdout
