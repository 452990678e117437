"""Start Codex for one task and wait for its end. Intent on disk first, result after it.

Called by `controller.runtime.apply`. Judges nothing: how the run ended is recorded, and the rules
decide what follows.
"""

import json
from datetime import timedelta
from pathlib import Path

from controller.domain.actions import StartAgent
from controller.domain.outcome import Outcome
from controller.domain.reasons import Reason
from controller.domain.runs import Run
from controller.domain.values import Unseen
from controller.ports.agents import AgentOrder, AgentResult, Confinement
from controller.runtime import places
from controller.runtime.context import Context, applied, deferred, refused
from controller.runtime.prompt import Material, gather, write_prompt
from controller.workloads.issues.verdict import SCHEMA

USAGE_PAUSE = timedelta(minutes=30)
"""Pause after a usage limit whose answer names no reset."""
DIFF_LIMIT = 10_000_000
"""Bytes of a diff that is given to the reviewer; a cut one can never be approved."""


def start_agent(action: StartAgent, c: Context) -> Outcome:
    """Run one agent to its end and record how it ended."""
    review = action.task.phase == "review"
    diff = ""
    if review:
        diff, cut = c.w.repository.diff(
            c.item.repository, base=action.base, head=action.head, limit=DIFF_LIMIT
        )
        if cut:
            return refused(action, Reason.DIFF_TOO_LARGE, f"more than {DIFF_LIMIT} bytes")
    workspace = _review_checkout(action, c) if review else _worktree(c)
    scratch = places.state(c.w.settings.root, c.item) / "probe" / "scratch"
    broken = c.w.agents.probe(
        _confine(c, workspace=workspace, scratch=scratch, writable=not review)
    )
    if broken is not None:
        return deferred(action, broken)
    material = gather(action, c, diff=diff)
    if isinstance(material, Unseen):
        return deferred(action, material)
    run = c.w.records.begin(c.item, action.task, at=c.r.clock.now())
    directory = c.r.records.run_directory(c.item, run.seq)
    confinement = _confine(
        c, workspace=workspace, scratch=directory / "scratch", writable=not review
    )
    result = _run(action, c, confinement, directory, material)
    _record(run, result, c)
    if review:
        c.w.repository.remove_checkout(c.item.repository, workspace)
    return _outcome(action, result, c)


def _worktree(c: Context) -> Path:
    return places.worktree(c.w.settings.root, c.item)


def _review_checkout(action: StartAgent, c: Context) -> Path:
    """A checkout of exactly the reviewed head."""
    place = places.checkout(c.w.settings.root, c.item, "review")
    c.w.repository.remove_checkout(c.item.repository, place)
    c.w.repository.checkout(c.item.repository, sha=action.head, into=place)
    return place


def _confine(c: Context, *, workspace: Path, scratch: Path, writable: bool) -> Confinement:
    return Confinement(
        root=c.w.settings.root,
        workspace=workspace,
        git_data=places.bare(c.w.settings.root, c.item.repository),
        scratch=scratch,
        secrets=c.w.settings.secrets,
        writable=writable,
    )


def _run(
    action: StartAgent, c: Context, confinement: Confinement, directory: Path, material: Material
) -> AgentResult:
    """One start; a thread that this machine does not know is begun anew, in the same run."""
    review = action.task.phase == "review"
    order = AgentOrder(
        run_directory=directory,
        role="reviewer" if review else "worker",
        confinement=confinement,
        model=action.model.model,
        effort=action.model.effort,
        timeout_s=action.model.timeout_s,
        silence_s=action.model.silence_s,
        prompt=write_prompt(action, c, material, directory),
        thread=None if review else action.thread,
        schema_=json.dumps(SCHEMA) if review else None,
    )
    (directory / "prompt.txt").write_text(order.prompt, encoding="utf-8", errors="replace")

    def tell(line: str) -> None:
        c.tell(c.harmless(line))

    result = c.w.agents.run(order, tell)
    if order.thread is not None and result.end == "incomplete" and result.thread is None:
        return c.w.agents.run(order.model_copy(update={"thread": None}), tell)
    return result


def _record(run: Run, result: AgentResult, c: Context) -> None:
    ended = run.model_copy(
        update={
            "ended_at": c.r.clock.now(),
            "end": result.end,
            "message": c.harmless(result.message),
            "answer": c.harmless(result.last_message),
            "thread": result.thread,
            "tokens": result.tokens,
            "resume_at": result.resume_at,
        }
    )
    c.w.records.finish(c.item, ended)


def _outcome(action: StartAgent, result: AgentResult, c: Context) -> Outcome:
    """What the tick does next: an end that is no attempt lets the item wait."""

    def wait(reason: Reason) -> Outcome:
        return Outcome(
            action=action,
            result="Deferred",
            reason=reason,
            message=result.message,
            until=result.resume_at,
        )

    match result.end:
        case "complete" | "incomplete" | "timeout" | "silent":
            return applied(action, result.message)
        case "usage-limit":
            c.w.records.set_pause(result.resume_at or c.r.clock.now() + USAGE_PAUSE)
            return wait(Reason.USAGE_LIMIT)
        case "unreachable":
            return wait(Reason.MODEL_UNREACHABLE)
        case "stopped":
            return wait(Reason.STOPPED)
        case "not-started":
            return wait(Reason.AGENT_NOT_STARTED)
