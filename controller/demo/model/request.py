"""Reading one Responses request: prompt, role, model, and how far its run has come.

Used by `controller.demo.model.server` alone. The history is resent with every request, so all of
this is read from the request itself. Pure; never raises on odd shapes.
"""

import re
from typing import Any

from controller.demo.model.script import ModelRole
from controller.domain.values import Value

CALL = re.compile(r"turn-(\d+)(?:-again-\d+)?")
"""Call ids that the server makes carry the number of their turn."""


class ModelRequest(Value):
    """One request as the log file and the tests see it."""

    thread: str
    prompt: str
    """Text of the last user message."""
    role: ModelRole
    model: str
    effort: str | None
    format: dict[str, Any] | None
    """`text.format` of the request: the schema of a reviewer's answer."""
    tools: tuple[str, ...]
    users: int
    """User messages in the history: a resumed thread has more of them."""
    turn: int
    """Turns of this run that are already in the history."""
    outputs: tuple[str, ...]
    """What the tools of this run answered, in order."""
    authorization: str | None

    @property
    def run_key(self) -> tuple[str, int]:
        """What tells one run from another on this server."""
        return self.thread, self.users


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(
        part["text"]
        for part in content
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    )


def _tool_names(body: dict[str, Any], items: list[dict[str, Any]]) -> tuple[str, ...]:
    offered = list(body.get("tools") or [])
    for item in items:
        if item.get("type") == "additional_tools":
            for space in item.get("tools") or []:
                offered.extend(space.get("tools") or [space])
    return tuple(str(tool.get("name") or tool.get("type")) for tool in offered)


def read_request(body: dict[str, Any], headers: dict[str, str]) -> ModelRequest:
    """Read a decoded request body and its lower-cased headers."""
    items = [item for item in body.get("input") or [] if isinstance(item, dict)]
    users = [at for at, item in enumerate(items) if item.get("role") == "user"]
    since = items[users[-1] + 1 :] if users else []
    calls = [CALL.fullmatch(str(item.get("call_id"))) for item in since]
    turn = max((int(call[1]) + 1 for call in calls if call), default=0)
    text_format = (body.get("text") or {}).get("format")
    return ModelRequest(
        thread=headers.get("thread-id") or headers.get("session-id") or "",
        prompt=_text(items[users[-1]].get("content")) if users else "",
        role="reviewer" if text_format else "worker",
        model=str(body.get("model")),
        effort=(body.get("reasoning") or {}).get("effort"),
        format=text_format,
        tools=_tool_names(body, items),
        users=len(users),
        turn=turn,
        outputs=tuple(
            _text(item.get("output"))
            for item in since
            if str(item.get("type")).endswith("_call_output")
        ),
        authorization=headers.get("authorization"),
    )
