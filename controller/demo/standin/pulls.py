"""What can happen to a pull request, and what a moved branch means for pull requests and issues.

Called by the API routes, by smart HTTP after a push and by `World`, with the state's lock held.
Heads, conflicts and merges are asked of git; nothing here invents them.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from controller.demo.standin import issues
from controller.demo.standin.gitdiff import FileChange
from controller.demo.standin.gitrepo import Commit, Person
from controller.demo.standin.state import Refusal, State, custom, invalid, stamp
from controller.demo.standin.values import Issue, Pull, Push, Repo, Review

type Method = Literal["merge", "squash"]
type Move = tuple[str, str | None, str | None]
"""A reference with its old and new object id."""

_HEADS = "refs/heads/"
_CLOSING = re.compile(
    r"(?<!\w)(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?P<repo>[\w.-]+/[\w.-]+)?#(?P<number>\d+)",
    re.IGNORECASE,
)
_OWN = {
    "APPROVE": "Can not approve your own pull request",
    "REQUEST_CHANGES": "Review Can not request changes on your own pull request",
}
_STATES = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}


def open_pull(
    state: State,
    repo: Repo,
    *,
    by: str,
    title: str,
    head: str,
    base: str,
    body: str | None = None,
    draft: bool = False,
) -> Issue:
    """A new pull request between two branches of `repo`; Refusal 422 as GitHub words it."""
    git = state.git(repo)
    owner, _, branch = head.rpartition(":")
    head_sha = git.head(branch) if owner.lower() in {"", repo.owner.lower()} else None
    base_sha = git.head(base)
    if head_sha is None:
        raise invalid("PullRequest", "head", "invalid")
    if base_sha is None:
        raise invalid("PullRequest", "base", "invalid")
    if git.merge_base(base_sha, head_sha) is None:
        message = f"The {branch} branch has no history in common with {base}"
        raise custom("PullRequest", message)
    if git.is_ancestor(head_sha, base_sha):
        raise custom("PullRequest", f"No commits between {base} and {branch}")
    if any(pull.head == branch and pull.base == base for _, pull in open_pulls(repo)):
        message = f"A pull request already exists for {repo.owner}:{branch}."
        raise custom("PullRequest", message)
    issue = issues.create(state, repo, by=by, title=title, body=body)
    issue.pull = Pull(
        id=state.next_id(),
        head=branch,
        base=base,
        head_sha=head_sha,
        base_sha=base_sha,
        draft=draft,
    )
    git.update_ref(f"refs/pull/{issue.number}/head", head_sha)
    return issue


def open_pulls(repo: Repo) -> Iterator[tuple[Issue, Pull]]:
    """The open pull requests with their issues."""
    return ((issue, pull) for issue, pull in repo.pulls() if issue.state == "open")


def refresh(state: State, repo: Repo) -> None:
    """Take up what happened to the branches of open pull requests behind our back."""
    heads = state.git(repo).refs()
    moves: list[Move] = []
    for _, pull in open_pulls(repo):
        for branch, known in ((pull.head, pull.head_sha), (pull.base, pull.base_sha)):
            now = heads.get(_HEADS + branch)
            if now != known:
                moves.append((_HEADS + branch, known, now))
    if moves:
        settle(state, repo, repo.owner, dict.fromkeys(moves))


def pushed(
    state: State, repo: Repo, by: str, moves: Iterable[Move], via: Literal["git", "api", "control"]
) -> None:
    """Record references that were moved and let pull requests and issues follow."""
    git = state.git(repo)
    done = [move for move in moves if move[1] != move[2]]
    for ref, old, new in done:
        forward = old is None or (new is not None and git.is_ancestor(old, new))
        state.pushes.append(
            Push(
                repo=repo.full_name,
                repo_id=repo.id,
                ref=ref,
                old=old,
                new=new,
                user=by,
                fast_forward=forward,
                via=via,
            )
        )
        repo.pushed_at = state.now()
    settle(state, repo, by, done)


def settle(state: State, repo: Repo, by: str, moves: Iterable[Move]) -> None:
    """The consequences of moved branches."""
    for ref, old, new in moves:
        if not ref.startswith(_HEADS):
            continue
        branch = ref.removeprefix(_HEADS)
        for issue, pull in list(open_pulls(repo)):
            if pull.head == branch:
                _head_moved(state, repo, issue, pull, by, old, new)
            elif pull.base == branch:
                _base_moved(state, repo, issue, pull, by, new)
        if branch == repo.default_branch and old is not None and new is not None:
            _close_by_commits(state, repo, by, old, new)


def _head_moved(  # noqa: PLR0917 - a move has that many parts
    state: State,
    repo: Repo,
    issue: Issue,
    pull: Pull,
    by: str,
    old: str | None,
    new: str | None,
) -> None:
    git = state.git(repo)
    if new is None:
        issues.close(state, issue, by)
        issues.record(state, issue, "head_ref_deleted", by)
        return
    pull.head_sha = new
    issue.updated_at = state.now()
    git.update_ref(f"refs/pull/{issue.number}/head", new)
    if old is not None and not git.is_ancestor(old, new):
        issues.record(state, issue, "head_ref_force_pushed", by, commit_id=new)
    if git.is_ancestor(new, pull.base_sha):
        issues.close(state, issue, by)


def _base_moved(  # noqa: PLR0917 - a move has that many parts
    state: State, repo: Repo, issue: Issue, pull: Pull, by: str, new: str | None
) -> None:
    if new is None:
        issues.close(state, issue, by)
        return
    if state.git(repo).is_ancestor(pull.head_sha, new):
        _merged(state, repo, issue, pull, by, new)
    else:
        pull.base_sha = new


def _merged(  # noqa: PLR0917 - a merge has that many parts
    state: State, repo: Repo, issue: Issue, pull: Pull, by: str, commit: str
) -> None:
    """Mark as merged and close; closing keywords count on the default branch only."""
    pull.merged_at = state.now()
    pull.merged_by = state.user(by).login
    pull.merge_commit_sha = commit
    issues.record(state, issue, "merged", by, commit_id=commit)
    issues.close(state, issue, by, commit_id=commit)
    if pull.base == repo.default_branch:
        _close_named(state, repo, by, issue.body or "", commit)


def _close_by_commits(state: State, repo: Repo, by: str, old: str, new: str) -> None:
    git = state.git(repo)
    if git.is_ancestor(old, new):
        for commit in git.commits(f"{old}..{new}"):
            _close_named(state, repo, by, commit.message, commit.sha)


def _close_named(state: State, repo: Repo, by: str, text: str, commit: str) -> None:
    for match in _CLOSING.finditer(text):
        elsewhere = match["repo"]
        if elsewhere is not None and elsewhere.lower() != repo.full_name.lower():
            continue
        issue = repo.issues.get(int(match["number"]))
        if issue is not None and issue.pull is None and issue.state == "open":
            issues.close(state, issue, by, commit_id=commit)


def retarget(state: State, repo: Repo, issue: Issue, by: str, base: str) -> None:
    """Give an open pull request another base branch."""
    pull = issue.pull
    sha = state.git(repo).head(base)
    if pull is None or sha is None or issue.state == "closed" or base == pull.head:
        raise invalid("PullRequest", "base", "invalid")
    if base != pull.base:
        pull.base, pull.base_sha = base, sha
        issues.record(state, issue, "base_ref_changed", by)


def extent(state: State, repo: Repo, pull: Pull) -> tuple[list[Commit], list[FileChange]]:
    """The commits (oldest first) and files of a pull request: merge base to head."""
    git = state.git(repo)
    start = git.merge_base(pull.base_sha, pull.head_sha)
    if start is None:
        return git.commits(pull.head_sha)[::-1], []
    listed = git.commits("--topo-order", f"{pull.base_sha}..{pull.head_sha}")[::-1]
    return listed, git.changes(start, pull.head_sha)


def mergeable(state: State, repo: Repo, issue: Issue, pull: Pull) -> bool | None:
    """Whether it merges cleanly; None at the first question after either branch moved."""
    if issue.state == "closed":
        return None
    pair = (pull.base_sha, pull.head_sha)
    if pull.known != pair:
        pull.known = pair
        return None
    return state.git(repo).merged_tree(*pair) is not None


def merge(
    state: State,
    repo: Repo,
    issue: Issue,
    *,
    by: str,
    method: Method = "merge",
    sha: str | None = None,
    title: str | None = None,
    message: str | None = None,
    via: Literal["api", "control"] = "api",
) -> str:
    """Merge and give the new commit of the base branch; Refusal 405 or 409 when that can't be."""
    refresh(state, repo)
    pull = issue.pull
    if pull is None or issue.state == "closed" or pull.draft:
        raise Refusal(405, "Pull Request is not mergeable")
    if sha is not None and sha != pull.head_sha:
        raise Refusal(409, "Head branch was modified. Review and try the merge again.")
    git = state.git(repo)
    if git.merged_tree(pull.base_sha, pull.head_sha) is None:
        raise Refusal(405, "Pull Request is not mergeable")
    user = state.user(by)
    first = f"Merge pull request #{issue.number} from {repo.owner}/{pull.head}"
    if method == "squash":
        first = f"{issue.title} (#{issue.number})"
    commit = git.merge_commit(
        base=pull.base_sha,
        head=pull.head_sha,
        who=Person(name=user.name, email=user.email, date=stamp(state.now())),
        message=f"{title or first}\n\n{issue.title if message is None else message}\n",
        squash=method == "squash",
    )
    old = pull.base_sha
    git.update_ref(_HEADS + pull.base, commit, old)
    _merged(state, repo, issue, pull, by, commit)
    pushed(state, repo, by, [(_HEADS + pull.base, old, commit)], via)
    return commit


def review(
    state: State,
    issue: Issue,
    pull: Pull,
    *,
    by: str,
    body: str,
    event: str,
) -> Review:
    """A submitted review; authors may only comment on their own pull request."""
    if event not in _STATES:
        raise Refusal(422, "Unprocessable Entity", [f"Variable $event was invalid: {event}"])
    if by.lower() == issue.user.lower() and event in _OWN:
        raise Refusal(422, "Unprocessable Entity", [_OWN[event]])
    if not body.strip() and event != "APPROVE":
        raise Refusal(422, "Unprocessable Entity", ["Body cannot be blank"])
    issues.check_body("PullRequestReview", body)
    made = Review(
        id=state.next_id(),
        user=state.user(by).login,
        body=body,
        state=_STATES[event],
        commit_id=pull.head_sha,
        submitted_at=state.now(),
        order=state.next_id(),
    )
    pull.reviews.append(made)
    issue.updated_at = made.submitted_at
    return made
