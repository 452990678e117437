"""The bytes of an answer: one turn of a script as server-sent events of the Responses API.

Used by `controller.demo.model.server` alone; pure.
"""

import json
from typing import Any, assert_never

from controller.demo.model.script import (
    Cut,
    Failed,
    Hang,
    Incomplete,
    Message,
    Patch,
    Refused,
    Shell,
    Turn,
    Usage,
)


def _event(kind: str, **fields: object) -> bytes:
    return f"data: {json.dumps({'type': kind, **fields})}\n\n".encode()


def _completed(answer: str, usage: Usage) -> bytes:
    return _event(
        "response.completed",
        response={
            "id": answer,
            "usage": {
                "input_tokens": usage.input,
                "input_tokens_details": {"cached_tokens": usage.cached},
                "output_tokens": usage.output,
                "output_tokens_details": {"reasoning_tokens": usage.reasoning},
                "total_tokens": usage.input + usage.output,
            },
        },
    )


def _item(call: str, turn: Shell | Patch | Message) -> dict[str, Any]:
    match turn:
        case Shell():
            arguments = {"cmd": turn.command, "yield_time_ms": turn.wait_ms}
            return {
                "type": "function_call",
                "call_id": call,
                "name": "exec_command",
                "arguments": json.dumps(arguments),
            }
        case Patch():
            return {
                "type": "custom_tool_call",
                "call_id": call,
                "name": "apply_patch",
                "input": turn.patch,
            }
        case Message():
            said = turn.message
            text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
            return {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": text}],
            }
        case _:
            assert_never(turn)


def stream(turn: Turn, *, answer: str, call: str) -> bytes:
    """Everything that this turn sends before it ends, hangs or is cut (SSE, UTF-8).

    `answer` is the response's id; `call` the id under which a tool's output comes back.
    """
    begun = _event("response.created", response={"id": answer})
    match turn:
        case Shell() | Patch() | Message():
            done = _event("response.output_item.done", item=_item(call, turn))
            return begun + done + _completed(answer, turn.usage)
        case Failed():
            error = {"code": turn.failed, "message": turn.text}
            return begun + _event("response.failed", response={"id": answer, "error": error})
        case Incomplete():
            details = {"reason": turn.incomplete}
            return begun + _event(
                "response.incomplete", response={"id": answer, "incomplete_details": details}
            )
        case Cut() | Hang():
            return begun
        case Refused():
            return json.dumps({"error": turn.error}).encode()
        case _:
            assert_never(turn)
