"""What a change may not contain: protected paths, secrets, whitespace errors, content of Git LFS.

Judges the imported commit, never the tree. Called by `importing`; returns problems and changes
nothing.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from controller.adapters.git.attributes import NONE, Attributes, read_attributes
from controller.adapters.git.found import MAX_PROBLEMS, Content, Problem
from controller.adapters.git.ignore import Patterns
from controller.adapters.git.index import LINK
from controller.adapters.git.names import shown
from controller.adapters.git.objects import Tree, read_blobs
from controller.adapters.git.patch import Difference, Line, added_lines
from controller.adapters.git.runner import GitRunner
from controller.adapters.git.secrets import HostSecrets, token_lines
from controller.adapters.git.whitespace import (
    NO_RULES,
    OldFile,
    check_lines,
    is_binary,
    needs_old,
    old_file,
    rules_of,
)
from controller.domain.reasons import Reason
from controller.domain.repository import ImportLimits

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_MAX_LINES = 5
"""Lines named per file and error."""


class Commit(NamedTuple):
    """The imported commit and what it came from."""

    sha: str
    parent: str
    before: Tree
    """Files of the parent."""
    base: Tree
    """Files of the base commit, whose attributes decide."""
    changed: Mapping[bytes, Content]
    difference: Difference


def host_secret(commit: Commit, limits: ImportLimits) -> Problem | None:
    """A value of this host's secrets anywhere in the change, names included."""
    secrets = HostSecrets(limits.secrets)
    for path, content in commit.changed.items():
        if secrets.are_in(content.data) or secrets.are_in(path):
            where = "a file's name" if secrets.are_in(path) else shown(path)
            return Problem(
                Reason.HOST_SECRET_IN_CHANGE, f"{where} holds a secret of this host; not delivered"
            )
    return None


def problems(runner: GitRunner, bare: Path, commit: Commit, limits: ImportLimits) -> list[Problem]:
    """Everything that the worker must mend, `MAX_PROBLEMS` at most."""
    found = [
        Problem(Reason.PROTECTED_PATH, f"{shown(path)}: policy.protected_paths keeps it unchanged")
        for path in matching(limits.protected_paths, commit.difference.paths)
    ]
    attributes = read_attributes(runner, bare, base=commit.base, paths=commit.changed)
    found += _lfs_problems(commit, attributes)
    found += _line_problems(runner, bare, commit, attributes)
    return found[:MAX_PROBLEMS]


def matching(patterns: Iterable[str], paths: Iterable[bytes]) -> list[bytes]:
    """Those of `paths` that a policy list covers: gitignore's rules, without regard to case."""
    rules = Patterns(patterns, ignore_case=True)
    return [path for path in sorted(paths) if rules.covers(path.decode("utf-8", "surrogateescape"))]


def _lfs_problems(commit: Commit, attributes: Mapping[bytes, Attributes]) -> Iterable[Problem]:
    for path, content in commit.changed.items():
        if attributes.get(path, NONE).filter != "lfs" or content.data.startswith(_LFS_POINTER):
            continue
        yield Problem(
            Reason.SPECIAL_FILE,
            f"{shown(path)}: is kept by Git LFS; toban delivers pointers only, not its content",
        )


def _line_problems(
    runner: GitRunner, bare: Path, commit: Commit, attributes: Mapping[bytes, Attributes]
) -> Iterable[Problem]:
    asking: list[tuple[bytes, list[Line]]] = []
    for path, lines in added_lines(runner, bare, commit.parent, commit.sha):
        content = commit.changed[path]
        if numbers := token_lines(lines):
            yield _at(Reason.SECRET_IN_CHANGE, path, numbers, "looks like a secret (not shown)")
        if content.mode != LINK and not is_binary(content.data):
            asking.append((path, lines))
    olds = _old_files(runner, bare, commit, asking)
    for path, lines in asking:
        known = attributes.get(path, NONE)
        rules = NO_RULES if known.diff == "unset" else rules_of(known.whitespace)
        data = commit.changed[path].data
        errors = check_lines(path, lines, data, rules=rules, old=olds.get(path, OldFile()))
        for text in dict.fromkeys(error for _, error in errors):
            numbers = [number for number, error in errors if error == text]
            yield _at(Reason.WHITESPACE_ERROR, path, numbers, text)


def _old_files(
    runner: GitRunner, bare: Path, commit: Commit, asking: list[tuple[bytes, list[Line]]]
) -> dict[bytes, OldFile]:
    sources = {touched.path: touched.source or touched.path for touched in commit.difference.files}
    wanted = [
        (path, commit.before[sources[path]].sha)
        for path, lines in asking
        if sources[path] in commit.before and needs_old(lines, commit.changed[path].data)
    ]
    blobs = read_blobs(runner, bare, (sha for _, sha in wanted))
    return {path: old_file(blob.whole()) for (path, _), blob in zip(wanted, blobs, strict=True)}


def _at(reason: Reason, path: bytes, numbers: list[int], text: str) -> Problem:
    some = ",".join(str(number) for number in numbers[:_MAX_LINES])
    more = f" and {len(numbers) - _MAX_LINES} more" if len(numbers) > _MAX_LINES else ""
    return Problem(reason, f"{shown(path)}:{some}{more}: {text}")
