"""What the host admits: a start of Codex needs memory, disk, and room in the limits of the day.

Pure; called by the workloads' planners for every action that starts an agent. An unknown
measurement means wait, never a default number.
"""

from datetime import datetime

from controller.domain.host import Host
from controller.domain.ids import IssueId
from controller.domain.plan import Hold
from controller.domain.policy import Policy
from controller.domain.reasons import MEANINGS, Reason
from controller.domain.values import Seen, Unseen


def admit_agent(item: IssueId, host: Host, policy: Policy, *, now: datetime) -> Hold | None:
    """None when Codex may be started now, else why not and until when."""
    if host.agents_pause_until is not None and host.agents_pause_until > now:
        return _hold(item, Reason.USAGE_LIMIT, until=host.agents_pause_until)
    if policy.max_runs_per_day and host.runs_last_day >= policy.max_runs_per_day:
        return _hold(item, Reason.RUNS_SPENT, until=host.day_ends_at)
    if policy.max_tokens_per_day and host.tokens_last_day >= policy.max_tokens_per_day:
        return _hold(item, Reason.TOKENS_SPENT, until=host.day_ends_at)
    return _enough(
        item, Reason.MEMORY_LOW, host.free_memory_percent, policy.min_free_memory_percent
    ) or _enough(item, Reason.DISK_LOW, host.free_disk_gb, policy.min_free_disk_gb)


def _hold(
    item: IssueId, reason: Reason, message: str = "", *, until: datetime | None = None
) -> Hold:
    return Hold(item=item, reason=reason, message=message or MEANINGS[reason].text, until=until)


def _enough(item: IssueId, reason: Reason, measured: Seen[float], least: float) -> Hold | None:
    if isinstance(measured, Unseen):
        return _hold(item, Reason.HOST_UNSEEN, f"{measured.source}: {measured.reason}")
    if measured < least:
        return _hold(item, reason, f"{MEANINGS[reason].text}: {measured:.1f} < {least:g}")
    return None
