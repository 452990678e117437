"""Look at one issue: ask forge, git and disk, and hand over raw facts. Decides and writes nothing.

Called by `controller.runtime.observe`, and again before every action of a tick.
"""

import hashlib
from datetime import datetime, timedelta

from controller.domain.forge import (
    Comment,
    Comparison,
    Event,
    Issue,
    Permission,
    Person,
    PullRequest,
    RepositoryInfo,
)
from controller.domain.ids import IssueId, Sha
from controller.domain.reasons import Reason
from controller.domain.repository import LocalRepository
from controller.domain.values import Seen, Unseen
from controller.ports.records import Posted
from controller.runtime.tools import Readers
from controller.workloads.issues.facts import IssueFacts, PullFacts, current_pull
from controller.workloads.issues.labels import replay
from controller.workloads.issues.lineage import pushes
from controller.workloads.issues.markers import Stored, stored
from controller.workloads.issues.state import asks_for_clean, interpret

_LAG = timedelta(minutes=10)
"""How long a comment of ours that a list lacks means a stale list and not a deleted comment."""


def look(item: IssueId, me: Person, r: Readers) -> IssueFacts:
    """All facts of one issue. Sources that fail are Unseen and stop no other source."""
    now = r.clock.now()
    issue = r.items.issue(item)
    events = r.items.timeline(item)
    repository = r.pulls.repository(item.repository)
    comments = _comments(item, item.number, now, r)
    records = _records(comments, item, me, r)
    base_branch = _base_branch(item, repository, r)
    tip = r.pulls.branch_tip(item.repository, item.branch)
    pulls = r.pulls.pulls(item)
    local = r.repository.local(item)
    own_below, to_own = _own_below(item, tip, records, r)
    facts = IssueFacts(
        item=item,
        taken_at=now,
        me=me,
        issue=issue,
        repository=repository,
        events=events,
        edited_at=_edited_at(issue, events, comments, r),
        permission=_permission(item, events, r),
        records=records,
        base_branch=base_branch or "",
        base_tip=r.pulls.branch_tip(item.repository, base_branch) if base_branch else None,
        remote_tip=tip,
        own_below=own_below,
        to_own=to_own,
        to_base=_to_base(item, tip, base_branch, r),
        pulls=pulls,
        pull=_pull(item, pulls, me, now, r),
        local=local,
        head_on_forge=_head_on_forge(item, local, tip, pulls, r),
        head_on_base=_head_on_base(item, local, r),
        prepared=r.records.prepared(item),
        runs=r.records.runs(item),
    )
    return _with_clean(facts, r)


def _with_clean(facts: IssueFacts, r: Readers) -> IssueFacts:
    """Walk the worktree only when a rule will want to know."""
    state = interpret(facts, r.policy)
    if isinstance(state, Unseen) or not asks_for_clean(state):
        return facts
    return facts.model_copy(update={"worktree_clean": r.repository.worktree_is_clean(facts.item)})


def _comments(item: IssueId, number: int, now: datetime, r: Readers) -> Seen[tuple[Comment, ...]]:
    """Comments of the issue or pull request; a list without our newest own ones is stale.

    The forge's clock cannot show an edit within a comment's own second; what this machine remembers
    of the body can.
    """
    comments = r.items.comments(item.repository, number)
    if isinstance(comments, Unseen):
        return comments
    posted = {each.comment: each for each in r.records.posted(item, number=number)}
    listed = {comment.id for comment in comments}
    if all(each.comment in listed for each in posted.values() if each.at >= now - _LAG):
        return tuple(_as_edited(comment, posted.get(comment.id)) for comment in comments)
    reason = "a comment that toban posted a moment ago is not in the list yet"
    return Unseen(source=f"comments of #{number}", reason=reason, code="ForgeBehind")


def _as_edited(comment: Comment, posted: Posted | None) -> Comment:
    """The comment, with its edit made visible where its body is not the one that we posted."""
    if posted is None or posted.body == body_digest(comment.body) or not comment.unedited:
        return comment
    return comment.model_copy(update={"updated_at": comment.updated_at + timedelta(seconds=1)})


def body_digest(body: str) -> str:
    """SHA-256 of a comment's body, hexadecimal."""
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


def _records(
    comments: Seen[tuple[Comment, ...]], item: IssueId, me: Person, r: Readers
) -> Seen[tuple[Stored, ...]]:
    if isinstance(comments, Unseen):
        return comments
    return stored(comments, item=item, me=me, keys=r.signing_keys)


def _base_branch(item: IssueId, repository: Seen[RepositoryInfo], r: Readers) -> str | None:
    wanted = r.policy.of(item.repository.key).base
    if wanted is not None:
        return wanted
    return None if isinstance(repository, Unseen) else repository.default_branch


def _edited_at(
    issue: Seen[Issue],
    events: Seen[tuple[Event, ...]],
    comments: Seen[tuple[Comment, ...]],
    r: Readers,
) -> Seen[datetime | None]:
    for source in (issue, events, comments):
        if isinstance(source, Unseen):
            return source
    assert not isinstance(issue, Unseen)  # noqa: S101 - narrowed above, for the type checker
    assert not isinstance(events, Unseen)  # noqa: S101 - narrowed above, for the type checker
    assert not isinstance(comments, Unseen)  # noqa: S101 - narrowed above, for the type checker
    return r.items.last_body_edit(issue, events, comments)


def _permission(item: IssueId, events: Seen[tuple[Event, ...]], r: Readers) -> Seen[Permission]:
    """The role of whoever opened the current epoch."""
    if isinstance(events, Unseen):
        return events
    epoch = replay(events).epoch
    if epoch is None or epoch.actor is None:
        return "none"
    return r.items.permission(item.repository, epoch.actor.login)


def _own_below(
    item: IssueId, tip: Seen[Sha | None], records: Seen[tuple[Stored, ...]], r: Readers
) -> tuple[Sha | None, Seen[Comparison] | None]:
    """Our newest commit that the forge knows, against a tip that is not ours.

    An announced commit that never was pushed is unknown to the forge, and passed over.
    """
    if isinstance(tip, Unseen) or isinstance(records, Unseen) or tip is None:
        return None, None
    own = [push.sha for push in pushes(records)]
    if tip in own:
        return None, None
    for sha in reversed(own):
        compared = r.pulls.compare(item.repository, sha, tip)
        if not isinstance(compared, Unseen) or compared.code != Reason.COMMIT_UNKNOWN:
            return sha, compared
    return None, None


def _to_base(
    item: IssueId, tip: Seen[Sha | None], base_branch: str | None, r: Readers
) -> Seen[Comparison] | None:
    if isinstance(tip, Unseen) or tip is None or base_branch is None:
        return None
    return r.pulls.compare(item.repository, base_branch, tip)


def _pull(
    item: IssueId, pulls: Seen[tuple[PullRequest, ...]], me: Person, now: datetime, r: Readers
) -> PullFacts | None:
    pull = None if isinstance(pulls, Unseen) else current_pull(pulls)
    if pull is None or not pull.is_open:
        return None
    comments = _comments(item, pull.number, now, r)
    return PullFacts(
        records=_records(comments, item, me, r),
        commits=r.pulls.commits(item.repository, pull.number),
        to_base=r.pulls.compare(item.repository, pull.base_branch, pull.head),
    )


def _head_on_forge(
    item: IssueId,
    local: Seen[LocalRepository],
    tip: Seen[Sha | None],
    pulls: Seen[tuple[PullRequest, ...]],
    r: Readers,
) -> bool | None:
    """Whether all that the worktree's branch holds is on the forge (decisions 14)."""
    if isinstance(local, Unseen) or isinstance(tip, Unseen) or isinstance(pulls, Unseen):
        return None
    head = local.worktree.head
    if head is None:
        return None
    if head == tip or any(pull.head == head for pull in pulls):
        return True
    return r.repository.is_ancestor(item.repository, head, tip) if tip is not None else False


def _head_on_base(item: IssueId, local: Seen[LocalRepository], r: Readers) -> bool | None:
    """Whether the worktree stands on a commit of the base branch."""
    if isinstance(local, Unseen) or local.worktree.head is None or local.base is None:
        return None
    return r.repository.is_ancestor(item.repository, local.worktree.head, local.base)
