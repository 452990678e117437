"""Checks of the forge: reachable, our clock, the credential, every repository and its labels.

Called through `controller.runtime.doctor`. Reads only.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta

from controller.domain.checkup import Finding, fail, ok, warn
from controller.domain.ids import Repository
from controller.domain.reasons import Reason
from controller.domain.values import Unseen
from controller.ports.checkup import Access, Account, ForgeCheckup
from controller.ports.host import Clock
from controller.workloads.issues.labels import LABELS, canonical

SKEW_WARN, SKEW_FAIL = timedelta(seconds=30), timedelta(minutes=5)
"""An App's token request is refused beyond a minute or so; pauses are told in the forge's time."""
FEW_REQUESTS = 500
SAMPLE = 3
"""Repositories of an owner that are looked at: the most recently pushed ones."""
WIDE_SCOPES = frozenset({"delete_repo", "admin:org", "admin:enterprise", "site_admin"})
"""Scopes that toban never needs and that would do most harm."""
NOT_ASKED = "not looked at: the forge or the credential does not work"


def check_reach(forge: ForgeCheckup, clock: Clock, address: str) -> Iterator[Finding]:
    """The forge answers, and its clock and ours agree."""
    theirs = forge.reach()
    ours = clock.now()
    if isinstance(theirs, Unseen):
        yield fail("api", f"{address}: {theirs.reason}", "check github.api_url, network and proxy")
        return
    yield ok("api", f"{address} answers")
    if theirs is None:
        yield warn("clock", "the forge tells no time", "compare the clock by hand")
        return
    skew = abs(ours - theirs)
    message = f"{skew.total_seconds():.0f} s away from the forge's"
    advice = "set the clock: timedatectl set-ntp true"
    if skew > SKEW_FAIL:
        yield fail("clock", message, advice)
    elif skew > SKEW_WARN:
        yield warn("clock", message, advice)
    else:
        yield ok("clock", message)


def check_forge(
    forge: ForgeCheckup, *, owner: str | None, repositories: Sequence[Repository]
) -> Iterator[Finding]:
    """Credential first; without it nothing else can be asked."""
    account = forge.account()
    if isinstance(account, Unseen):
        refused = account.code == Reason.TOKEN_REFUSED
        advice = "put a valid token in place, alone on one line" if refused else "see api above"
        yield fail("credential", account.reason, advice)
        yield warn("repositories", NOT_ASKED, "mend that first")
        return
    yield from _credential(account)
    yield from _rate(account)
    for repository in repositories:
        yield from _repository(forge, repository)
    if owner is not None:
        yield from _owner(forge, owner, repositories)


def _credential(account: Account) -> Iterator[Finding]:
    until = f", expires {account.expires}" if account.expires else ""
    if account.scopes is None:
        yield ok("credential", f"{account.login}, with permissions of its own{until}")
        return
    message = f"{account.login}, scopes: {', '.join(account.scopes) or 'none'}{until}"
    wide = sorted(WIDE_SCOPES.intersection(account.scopes))
    if "repo" in account.scopes:
        if wide:
            advice = f"make a token without {', '.join(wide)}: toban needs repo alone"
            yield warn("credential", message, advice)
        else:
            yield ok("credential", message)
    elif "public_repo" in account.scopes:
        advice = "only public repositories can be worked on; give the token the scope repo"
        yield warn("credential", message, advice)
    else:
        yield fail("credential", message, "give the token the scope repo")


def _rate(account: Account) -> Iterator[Finding]:
    if account.remaining is None:
        return
    message = f"{account.remaining} of {account.limit} requests left this hour"
    if account.remaining < min(FEW_REQUESTS, (account.limit or 0) // 2):
        advice = "who else uses this account? toban pauses when nothing is left"
        yield warn("rate limit", message, advice)
    else:
        yield ok("rate limit", message)


def _repository(forge: ForgeCheckup, repository: Repository) -> Iterator[Finding]:
    access = forge.access(repository)
    if isinstance(access, Unseen):
        advice = "check its name in github.repositories, and what the token may see"
        yield fail(str(repository), access.reason, advice)
        return
    yield _usable(access)
    yield from _labels(forge, access, named=True)


def _usable(access: Access) -> Finding:
    name = str(access.repository)
    if access.archived:
        return fail(name, "is archived", "unarchive it, or take it out of github.repositories")
    if access.push is None:
        return ok(name, "is visible to the App")
    if not access.push:
        return fail(name, "may not be pushed to", "give the account the role write there")
    return ok(name, "may be pushed to")


def _labels(forge: ForgeCheckup, access: Access, *, named: bool) -> Iterator[Finding]:
    name = f"labels of {access.repository}"
    found = forge.labels(access.repository)
    if isinstance(found, Unseen):
        yield fail(name, found.reason, "see the message")
        return
    present = {canonical(label) for label in found}
    missing = [label.name for label in LABELS if label.name not in present]
    if not missing:
        yield ok(name, "all six are there")
        return
    tell = fail if named else warn
    yield tell(name, f"missing: {', '.join(missing)}", f"toban labels {access.repository}")


def _owner(forge: ForgeCheckup, owner: str, named: Sequence[Repository]) -> Iterator[Finding]:
    """A few repositories of the owner; those named one by one were looked at already."""
    owned = forge.owned(owner)
    if isinstance(owned, Unseen):
        yield fail(f"owner {owner}", owned.reason, "see the message")
        return
    usable = [each for each in owned if each.usable]
    message = f"{len(usable)} of {len(owned)} visible repositories can be worked on"
    if not usable:
        advice = "check github.owner, and what the token may see and push to"
        yield fail(f"owner {owner}", message, advice)
        return
    yield ok(f"owner {owner}", message)
    known = {repository.key for repository in named}
    for access in [each for each in usable if each.repository.key not in known][:SAMPLE]:
        yield from _labels(forge, access, named=False)
