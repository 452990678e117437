"""Every command line that git may ever be started with, word by word.

`runner` asks `check` before each start, so whatever does not stand here cannot run: there is no
row that forces, resets, cleans, stashes, merges, checks out, collects garbage or deletes a branch.
"""

import re

from controller.errors import RepositoryError

SHA = r"[0-9a-f]{40}"
_URL = r"(?:https?|file)://[^\s\0]+"
_ISSUE = r"issue-[1-9][0-9]*"
_AGENT = rf"refs/heads/agent/{_ISSUE}"
_OURS = rf"refs/toban/{_ISSUE}"
_BRANCH = r"(?![-.+])[^\x00-\x20\x7f~^:?*\[\\]+"

_FETCH = (
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
    "--refmap=",
    _URL,
)
# The plus lets our private note of a remote branch follow it when somebody rewrote it.
_BASE_SPEC = rf"\+refs/heads/{_BRANCH}:{_OURS}/base"
_HEAD_SPEC = rf"\+{_AGENT}:{_OURS}/head"
_PATCH = ("diff-tree", "-r", "-p", "-M", "--full-index", "--no-color", "--no-ext-diff")

ALLOWED: tuple[tuple[str, ...], ...] = (
    ("cat-file", "--batch", "--buffer"),
    ("cat-file", "--batch-check", "--buffer"),
    ("ls-tree", "-r", "-z", "--full-tree", SHA),
    ("ls-tree", "-z", "--full-tree", SHA, "--", r"(?s:[^\0]+)"),
    ("fast-import", "--quiet", "--done", "--date-format=raw"),
    ("diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", "--numstat", SHA, SHA),
    (*_PATCH, "--no-textconv", "--irreversible-delete", "--unified=0", "--text", SHA, SHA),
    (*_PATCH, "--no-textconv", SHA, SHA),
    ("merge-base", "--is-ancestor", SHA, SHA),
    ("check-attr", "-z", "--stdin", "--cached", "whitespace", "diff", "filter"),
    ("update-ref", _AGENT, SHA, SHA),
    ("update-ref", rf"{_OURS}/head", SHA),
    ("update-ref", rf"{_OURS}/kept/{SHA}", SHA),
    ("update-ref", "-d", rf"{_OURS}/(?:head|import)"),
    ("ls-remote", "--quiet", _URL, _AGENT),
    ("ls-remote", "--quiet", _URL, "HEAD", rf"refs/heads/{_BRANCH}", _AGENT),
    (*_FETCH, _BASE_SPEC),
    (*_FETCH, _HEAD_SPEC),
    (*_FETCH, _BASE_SPEC, _HEAD_SPEC),
    (
        "push",
        "--porcelain",
        "--no-verify",
        "--no-signed",
        "--no-follow-tags",
        "--recurse-submodules=no",
        _URL,
        rf"{SHA}:{_AGENT}",
    ),
)
"""One row per command line; each word is a regular expression for exactly one argument."""

_ROWS = tuple(tuple(re.compile(word) for word in row) for row in ALLOWED)


class ForbiddenGitError(RepositoryError):
    """A command line of git that stands on no row of `ALLOWED`. Nothing was started."""


def check(argv: tuple[str, ...]) -> None:
    """Raise ForbiddenGitError unless `argv` (subcommand first) matches a row of `ALLOWED`."""
    for row in _ROWS:
        if len(row) == len(argv) and all(
            word.fullmatch(given) for word, given in zip(row, argv, strict=True)
        ):
            return
    raise ForbiddenGitError(f"git {' '.join(argv)!r} is not on the list of allowed command lines")
