"""The control plane as Python: build a world, act in it as other people, look at what became of it.

For tests, the demo and benchmarks; `control` offers the same methods as JSON under ``/_control``.
Permissions are not checked here: a test may let anybody do anything. Every method takes the lock.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from controller.demo.standin import issues, pulls
from controller.demo.standin.faults import Fault
from controller.demo.standin.places import Places
from controller.demo.standin.pulls import Method
from controller.demo.standin.state import Refusal, not_found
from controller.demo.standin.values import Comment, Issue, Pull, Push, Reason, Repo, Review, Seen


class World(Places):
    """Everything a test may do to the stand-in beside the API.

    `repo` arguments are ``owner/name``, `by` is the login that acts (default: the owner). Records
    that are returned are the live ones: look at them, change them only through methods.
    """

    # Issues

    def create_issue(
        self,
        repo: str,
        title: str,
        body: str | None = None,
        *,
        by: str | None = None,
        labels: Iterable[str] = (),
        assignees: Iterable[str] = (),
    ) -> Issue:
        """A new issue."""
        with self.state.lock:
            found = self.state.repo(repo)
            return issues.create(
                self.state,
                found,
                by=by or found.owner,
                title=title,
                body=body,
                labels=labels,
                assignees=assignees,
            )

    def issue(self, repo: str, number: int) -> Issue:
        """The record of an issue or pull request; Refusal 404 when there is none."""
        with self.state.lock:
            return self._find(repo, number)[1]

    def labels(self, repo: str, number: int) -> list[str]:
        """The labels that are on, sorted."""
        with self.state.lock:
            return sorted(label.name for label in self.issue(repo, number).labels)

    def comments(self, repo: str, number: int) -> list[Comment]:
        """The comments, oldest first."""
        with self.state.lock:
            return list(self.issue(repo, number).comments)

    def edit_issue(
        self,
        repo: str,
        number: int,
        *,
        by: str | None = None,
        title: str | None = None,
        body: str | None = None,
    ) -> None:
        """Change title or body. Only an edited body counts as an edit, a title as ``renamed``."""
        with self.state.lock:
            found, issue = self._find(repo, number)
            if title is not None:
                issues.retitle(self.state, issue, by or found.owner, title)
            if body is not None:
                issues.rewrite(self.state, issue, by or found.owner, body)

    def add_label(self, repo: str, number: int, label: str, *, by: str | None = None) -> None:
        """Put a label on; it is created when the repository lacks it."""
        with self.state.lock:
            found, issue = self._find(repo, number)
            issues.add_labels(self.state, found, issue, by or found.owner, [label])

    def remove_label(self, repo: str, number: int, label: str, *, by: str | None = None) -> None:
        """Take a label off; Refusal 404 when it is not on."""
        with self.state.lock:
            found, issue = self._find(repo, number)
            issues.remove_label(self.state, issue, by or found.owner, label)

    def close(
        self, repo: str, number: int, *, by: str | None = None, reason: Reason | None = None
    ) -> None:
        """Close an issue or pull request."""
        with self.state.lock:
            found, issue = self._find(repo, number)
            issues.close(self.state, issue, by or found.owner, reason=reason)

    def reopen(self, repo: str, number: int, *, by: str | None = None) -> None:
        """Open an issue or pull request again."""
        with self.state.lock:
            found, issue = self._find(repo, number)
            issues.reopen(self.state, issue, by or found.owner)

    def comment(self, repo: str, number: int, body: str, *, by: str | None = None) -> Comment:
        """A new comment on an issue or pull request."""
        with self.state.lock:
            found, issue = self._find(repo, number)
            return issues.comment(self.state, issue, by or found.owner, body)

    def edit_comment(self, repo: str, comment: int, body: str, *, by: str | None = None) -> None:
        """Change a comment, whoever wrote it."""
        with self.state.lock:
            found, issue, made = self._comment(repo, comment)
            issues.edit_comment(self.state, issue, made, by or found.owner, body)

    def delete_comment(self, repo: str, comment: int) -> None:
        """Delete a comment, whoever wrote it."""
        with self.state.lock:
            _, issue, made = self._comment(repo, comment)
            issues.delete_comment(self.state, issue, made)

    # Pull requests

    def open_pull(
        self,
        repo: str,
        *,
        head: str,
        title: str = "A change",
        base: str | None = None,
        body: str | None = None,
        by: str | None = None,
        draft: bool = False,
    ) -> Issue:
        """A new pull request from branch `head` into `base` (default: the default branch)."""
        with self.state.lock:
            found = self.state.repo(repo)
            return pulls.open_pull(
                self.state,
                found,
                by=by or found.owner,
                title=title,
                head=head,
                base=base or found.default_branch,
                body=body,
                draft=draft,
            )

    def pulls(self, repo: str) -> list[Issue]:
        """Every pull request, oldest first, with heads as the branches stand now."""
        with self.state.lock:
            found = self.state.repo(repo)
            pulls.refresh(self.state, found)
            return [issue for issue, _ in found.pulls()]

    def pull(self, repo: str, number: int) -> Pull:
        """The pull request's own part of the record, with the head as the branch stands now."""
        with self.state.lock:
            found, issue = self._find(repo, number)
            pulls.refresh(self.state, found)
            if issue.pull is None:
                raise not_found()
            return issue.pull

    def merge(
        self, repo: str, number: int, *, by: str | None = None, method: Method = "merge"
    ) -> str:
        """Merge as a human would, with a real commit; gives its id."""
        with self.state.lock:
            found, issue = self._find(repo, number)
            return pulls.merge(
                self.state, found, issue, by=by or found.owner, method=method, via="control"
            )

    def retarget(self, repo: str, number: int, base: str) -> None:
        """Give a pull request another base branch."""
        with self.state.lock:
            found, issue = self._find(repo, number)
            pulls.retarget(self.state, found, issue, found.owner, base)

    def review(
        self, repo: str, number: int, *, by: str, body: str = "", event: str = "COMMENT"
    ) -> Review:
        """Submit a review: APPROVE, REQUEST_CHANGES or COMMENT."""
        with self.state.lock:
            _, issue = self._find(repo, number)
            if issue.pull is None:
                raise not_found()
            return pulls.review(self.state, issue, issue.pull, by=by, body=body, event=event)

    # Time, faults, what was asked

    def now(self) -> datetime:
        """The stand-in's present moment."""
        return datetime.fromtimestamp(self.state.now(), UTC)

    def set_clock(self, when: datetime) -> None:
        """Make `when` the present moment; time goes on from there."""
        with self.state.lock:
            self.state.clock.set(when)

    def advance(self, seconds: float) -> None:
        """Move the present moment."""
        with self.state.lock:
            self.state.clock.advance(seconds)

    def add_fault(self, fault: Fault) -> None:
        """Spoil the next requests that match."""
        self.state.faults.add(fault)

    def clear_faults(self) -> None:
        """Forget all faults and let go of what hangs."""
        self.state.faults.clear()

    def faults_left(self) -> int:
        """How many answers are still to be spoilt: 0 when every fault has struck."""
        return self.state.faults.left()

    def set_graphql(self, *, on: bool) -> None:
        """Switch GraphQL on or off (404)."""
        with self.state.lock:
            self.state.graphql_on = on

    def set_rate_limit(self, limit: int) -> None:
        """Requests per hour and user before the primary limit answers."""
        with self.state.lock:
            self.state.rate_limit = limit

    def requests(self) -> list[Seen]:
        """Every API, page and git request since the start or the last clearing, oldest first."""
        with self.state.lock:
            return list(self.state.seen)

    def wait_request(self, method: str, path: str, *, timeout: float = 30) -> Seen:
        """The first logged request that matches (regular expressions, wholly), waited for.

        A request is logged when its answer stands, a hanging one when it hangs; TimeoutError after
        `timeout` seconds.
        """

        def hit() -> Seen | None:
            return next(
                (
                    seen
                    for seen in self.state.seen
                    if re.fullmatch(method, seen.method) and re.fullmatch(path, seen.path)
                ),
                None,
            )

        with self.state.lock:
            found = self.state.arrived.wait_for(hit, timeout)
        if not found:
            message = f"no request {method} {path} within {timeout} s"
            raise TimeoutError(message)
        return found

    def clear_requests(self) -> None:
        """Empty the request log."""
        with self.state.lock:
            self.state.seen.clear()

    def pushes(self, repo: str | None = None) -> list[Push]:
        """Every reference that moved, by git, API or control plane, oldest first."""
        with self.state.lock:
            wanted = None if repo is None else self.state.repo(repo).id
            return [push for push in self.state.pushes if wanted in {None, push.repo_id}]

    def _find(self, repo: str, number: int) -> tuple[Repo, Issue]:
        found = self.state.repo(repo)
        issue = found.issues.get(number)
        if issue is None:
            raise Refusal(404, f"{repo} has no number {number}")
        return found, issue

    def _comment(self, repo: str, comment: int) -> tuple[Repo, Issue, Comment]:
        found = self.state.repo(repo)
        hit = found.comment(comment)
        if hit is None:
            raise Refusal(404, f"{repo} has no comment {comment}")
        return found, *hit
