"""Codex's event stream, read in any pieces and however broken; tokens of one run alone."""

import itertools
import json
from pathlib import Path, PurePosixPath

from hypothesis import given
from hypothesis import strategies as st

from controller.adapters.codex.events import Transcript
from controller.adapters.codex.usage import subtract, used_before
from controller.domain.runs import Tokens

WAITING = "Reconnecting... waiting for network (Connection failed: error sending request)"
STREAM = (
    {"type": "thread.started", "thread_id": "t-1"},
    {"type": "turn.started"},
    {"type": "error", "message": WAITING},
    {
        "type": "item.started",
        "item": {"type": "command_execution", "command": '/bin/bash -c "ls 日本"'},
    },
    {
        "type": "item.completed",
        "item": {"type": "command_execution", "command": '/bin/bash -c "ls 日本"', "exit_code": 2},
    },
    {
        "type": "item.completed",
        "item": {
            "type": "file_change",
            "status": "completed",
            "changes": [{"path": "/w/a b.txt", "kind": "add"}, {"path": "/x", "kind": "delete"}],
        },
    },
    {"type": "item.completed", "item": {"type": "agent_message", "text": "半分"}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "終わり\x1b"}},
    {
        "type": "turn.completed",
        "usage": {
            "input_tokens": 300,
            "cached_input_tokens": 120,
            "output_tokens": 60,
            "reasoning_output_tokens": 15,
        },
    },
)
BYTES = b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in STREAM)


def transcript() -> Transcript:
    return Transcript(workspace=PurePosixPath("/w"))


@given(st.lists(st.integers(0, len(BYTES)), max_size=20))
def test_any_pieces_give_the_same(cuts: list[int]) -> None:
    told = transcript()
    edges = [0, *sorted(cuts), len(BYTES)]
    lines = [
        line for begin, end in itertools.pairwise(edges) for line in told.feed(BYTES[begin:end])
    ]
    assert (told.thread, told.completed, told.failure) == ("t-1", True, None)
    assert told.last_message == "終わり\x1b"
    assert told.usage == Tokens(input=300, cached_input=120, output=60, reasoning=15)
    assert lines == [
        "thread t-1",
        f"error: {WAITING}",
        '$ "ls 日本"',
        'exit 2: "ls 日本"',
        "files: add a b.txt, delete /x (completed)",
        "says: 半分",
        "says: 終わり\\u001B",
        "answered: 300 tokens in, 60 out",
    ]


def test_waiting_ends_with_the_next_sign_of_life() -> None:
    told = transcript()
    told.feed(json.dumps(STREAM[2]).encode() + b"\n")
    assert told.waiting
    told.feed(json.dumps(STREAM[3]).encode() + b"\n")
    assert not told.waiting


def test_a_failed_turn_is_kept() -> None:
    told = transcript()
    told.feed(b'{"type":"turn.failed","error":{"message":"no"}}\n')
    assert (told.failure, told.completed) == ("no", False)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
ODD = st.fixed_dictionaries(
    {"type": st.sampled_from([str(event["type"]) for event in STREAM] + ["turn.failed", "x"])},
    optional={
        "item": JSON
        | st.fixed_dictionaries(
            {"type": st.sampled_from(["command_execution", "file_change", "agent_message"])},
            optional={"changes": JSON, "command": JSON, "text": JSON},
        ),
        "usage": JSON | st.dictionaries(st.sampled_from(["input_tokens"]), JSON),
        "message": JSON,
        "error": JSON,
        "thread_id": JSON,
    },
)


@given(st.lists(ODD.map(json.dumps).map(str.encode) | st.binary(), max_size=5))
def test_no_event_breaks_it(lines: list[bytes]) -> None:
    told = transcript()
    for line in told.feed(b"\n".join(lines) + b"\n"):
        line.encode()
        assert len(line) <= 200


def test_a_deeply_nested_line_is_passed_over() -> None:
    assert transcript().feed(b"[" * 200_000 + b"\n") == []


def stream_of(folder: Path, thread: str, *sums: int) -> None:
    folder.mkdir(parents=True)
    events: list[dict[str, object]] = [{"type": "thread.started", "thread_id": thread}]
    events += [{"type": "turn.completed", "usage": {"input_tokens": total}} for total in sums]
    (folder / "events.jsonl").write_text(
        "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events) + '{"torn',
        encoding="utf-8",
    )


def test_tokens_of_earlier_runs_of_the_thread_are_known(tmp_path: Path) -> None:
    stream_of(tmp_path / "1", "mine", 100)
    stream_of(tmp_path / "2", "other", 900)
    stream_of(tmp_path / "3", "mine", 250)
    stream_of(tmp_path / "4", "mine")
    stream_of(tmp_path / "5", "mine", 400)
    assert used_before(tmp_path / "5", "mine") == Tokens(input=250)
    assert used_before(tmp_path / "6", "new") == Tokens()


def test_a_difference_is_never_negative() -> None:
    assert subtract(Tokens(input=5, output=9), Tokens(input=7, output=2)) == Tokens(output=7)
