"""The forge's side of git: what branches stand there, fetching them, pushing one commit.

Used by the writer. What git or the forge says in an error is hostile text: it is recognised here,
made safe, and turned into values with a reason code.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from controller.adapters.git.layout import read_ref
from controller.adapters.git.names import branch_problem
from controller.adapters.git.runner import Answer, GitError, GitRunner
from controller.domain.ids import IssueId, Repository, Sha
from controller.domain.reasons import Reason
from controller.domain.repository import Refusal
from controller.domain.text import safe_text
from controller.domain.values import Unseen
from controller.errors import RepositoryError

# Sentences of git (LC_ALL=C) and of libcurl, in the order in which they decide.
_MEANINGS: tuple[tuple[re.Pattern[str], Reason, str], ...] = (
    (
        re.compile(r"returned error: 30[1278]|unable to update url base from redirection"),
        Reason.REPOSITORY_MOVED,
        "the repository answers from another address now",
    ),
    (
        re.compile(
            r"Authentication failed|could not read (?:Username|Password)|returned error: 401"
        ),
        Reason.TOKEN_REFUSED,
        "the token was refused",
    ),
    (re.compile(r"returned error: 403"), Reason.ACCESS_DENIED, "the token may not do this"),
    (
        re.compile(
            r"^fatal: repository '.*' not found|[Rr]epository not found"
            r"|returned error: 404|does not appear to be a git repository",
            re.MULTILINE,
        ),
        Reason.REPOSITORY_NOT_FOUND,
        "the repository is not there for this token",
    ),
)
_LINE = re.compile(rb"([0-9a-f]{40})\t([^\n]+)\n")
_DETAIL = 300
_WORDS = 500
"""Characters of the forge's own words in a refusal."""
_PUSH = ("push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags")
_FETCH = (
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
    "--refmap=",
)


def unseen(repository: Repository, verb: str, error: RepositoryError) -> Unseen:
    """What a failed network command means."""
    source = f"git {verb} {repository}"
    detail = error.detail if isinstance(error, GitError) else str(error)
    for pattern, reason, sentence in _MEANINGS:
        if pattern.search(detail):
            return Unseen(source=source, reason=f"{sentence} ({_short(detail)})", code=reason)
    return Unseen(source=source, reason=_short(detail) or str(error), code=Reason.GIT_UNSEEN)


def fetch(runner: GitRunner, bare: Path, item: IssueId, base: str) -> Unseen | None:
    """Bring `refs/toban/issue-N/{base,head}` to what the forge has."""
    source = f"git fetch {item.repository}"
    if wrong := branch_problem(base):
        reason = f"base branch {safe_text(base, limit=100)!r}: {wrong}"
        return Unseen(source=source, reason=reason, code=Reason.BASE_BRANCH_MISSING)
    try:
        there = _branches(runner, bare, item, base)
        if f"refs/heads/{base}" not in there:
            empty = "the repository is empty: push a first commit" if not there else ""
            reason = empty or f"there is no branch {safe_text(base, limit=100)}"
            return Unseen(source=source, reason=reason, code=Reason.BASE_BRANCH_MISSING)
        _fetch(runner, bare, item, base, there)
    except RepositoryError as error:
        return unseen(item.repository, "fetch", error)
    return None


def _branches(runner: GitRunner, bare: Path, item: IssueId, base: str) -> Mapping[str, Sha]:
    ours = f"refs/heads/{item.branch}"
    url = runner.url(item.repository)
    asked = ("HEAD", f"refs/heads/{base}", ours)
    out = runner.run(bare, "ls-remote", "--quiet", url, *asked).out
    # ls-remote matches the end of a name: only exactly what was asked counts.
    lines = {found[2].decode(errors="replace"): found[1].decode() for found in _LINE.finditer(out)}
    return {name: sha for name, sha in lines.items() if name in asked}


def _fetch(
    runner: GitRunner, bare: Path, item: IssueId, base: str, there: Mapping[str, Sha]
) -> None:
    ours = f"refs/toban/issue-{item.number}"
    wanted = {f"refs/heads/{base}": f"{ours}/base", f"refs/heads/{item.branch}": f"{ours}/head"}
    specs = [
        f"+{theirs}:{mine}"
        for theirs, mine in wanted.items()
        if theirs in there and read_ref(bare, mine) != there[theirs]
    ]
    if specs:
        runner.run(bare, *_FETCH, runner.url(item.repository), *specs)
    if f"refs/heads/{item.branch}" not in there and read_ref(bare, f"{ours}/head") is not None:
        runner.run(bare, "update-ref", "-d", f"{ours}/head")


def remote_tip(runner: GitRunner, bare: Path, item: IssueId) -> Sha | None:
    """Where the item's branch stands on the forge now. Raises RepositoryError when unseen."""
    ref = f"refs/heads/{item.branch}"
    url = runner.url(item.repository)
    out = runner.run(bare, "ls-remote", "--quiet", url, ref).out
    return next((m[1].decode() for m in _LINE.finditer(out) if m[2] == ref.encode()), None)


def push(
    runner: GitRunner, bare: Path, item: IssueId, *, sha: Sha, expected: Sha | None
) -> Refusal | Unseen | None:
    """See RepositoryWriter.push."""
    try:
        tip = remote_tip(runner, bare, item)
    except RepositoryError as error:
        return unseen(item.repository, "ls-remote", error)
    if tip == sha:
        _note(runner, bare, item, sha)
        return None
    if tip != expected:
        return _diverged(item, tip, expected)
    spec = f"{sha}:refs/heads/{item.branch}"
    try:
        argv = (*_PUSH, "--recurse-submodules=no", runner.url(item.repository), spec)
        answer = runner.run(bare, *argv, expect=(0, 1, 128))
        failure: RepositoryError = GitError("git push failed", answer.err.decode(errors="replace"))
        refusal = _refused(item, answer, spec, expected)
        done = answer.code == 0
    except RepositoryError as error:
        failure, refusal, done = error, None, False
    # A lost answer, or a second try of the transport after one: the push may have happened.
    if done or _arrived(runner, bare, item, sha):
        _note(runner, bare, item, sha)
        return None
    return refusal or unseen(item.repository, "push", failure)


def _refused(item: IssueId, answer: Answer, spec: str, expected: Sha | None) -> Refusal | None:
    """What git's report says of our one ref, None when it says nothing."""
    report = answer.out.decode(errors="replace")
    rejected = re.search(rf"^!\t{re.escape(spec)}\t\[([^\]]*)\]([^\n]*)", report, re.MULTILINE)
    if rejected is None:
        return None
    if rejected[1] == "rejected":  # git's own refusal: the branch moved and is no ancestor
        return _diverged(item, None, expected)
    lines = answer.err.decode(errors="replace").splitlines()
    said = [line.removeprefix("remote:").strip() for line in lines]
    spoken = " ".join(line for line in said if line and not line.startswith(("error:", "To ")))
    message = safe_text(f"the forge rejected the push{rejected[2]} {spoken}", limit=_WORDS)
    return Refusal(kind="ambiguous", reason=Reason.PUSH_REJECTED, message=message)


def _arrived(runner: GitRunner, bare: Path, item: IssueId, sha: Sha) -> bool:
    try:
        return remote_tip(runner, bare, item) == sha
    except RepositoryError:
        return False


def _note(runner: GitRunner, bare: Path, item: IssueId, sha: Sha) -> None:
    """The remote branch is at `sha`: our note of it says so too."""
    ref = f"refs/toban/issue-{item.number}/head"
    if read_ref(bare, ref) != sha:
        runner.run(bare, "update-ref", ref, sha)


def _diverged(item: IssueId, tip: Sha | None, expected: Sha | None) -> Refusal:
    stands = f"stands at {tip}" if tip else "moved"
    return Refusal(
        kind="ambiguous",
        reason=Reason.BRANCH_DIVERGED,
        message=f"{item.branch} {stands} on the forge, expected {expected or 'no such branch'}",
    )


def _short(detail: str) -> str:
    lines = [line for line in detail.splitlines() if line.strip()]
    return safe_text(" ".join(lines), limit=_DETAIL)
