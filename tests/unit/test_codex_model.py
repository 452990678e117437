"""The scripted model: which scenario, which run, which turn; over HTTP as Codex asks it."""

import http.client
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from controller.demo.model import (
    Cut,
    Hang,
    Match,
    Message,
    Patch,
    Refused,
    Scenario,
    Script,
    ScriptedModel,
    Shell,
)


def user(text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content}


def ask(
    of: ScriptedModel | str, *items: dict[str, Any], thread: str = "t", **body: object
) -> tuple[int, list[dict[str, Any]]]:
    """POST one request; the status and the decoded events (or the one JSON body)."""
    url = of if isinstance(of, str) else of.url
    connection = http.client.HTTPConnection(url.removeprefix("http://").removesuffix("/v1"))
    payload = {"model": "gpt-5.5", "input": list(items), "reasoning": {"effort": "low"}, **body}
    try:
        connection.request("POST", "/v1/responses", json.dumps(payload), {"thread-id": thread})
        answer = connection.getresponse()
        text = answer.read().decode()
    finally:
        connection.close()
    if answer.status != 200:
        return answer.status, [json.loads(text)]
    return 200, [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line]


def said(events: list[dict[str, Any]]) -> str:
    item = events[1]["item"]
    return str(item["content"][0]["text"] if item["type"] == "message" else item)


def test_the_first_matching_scenario_answers() -> None:
    scenarios = (
        Scenario(
            name="review", match=Match(role="reviewer"), turns=(Message(message={"ok": "はい"}),)
        ),
        Scenario(
            name="regex", match=Match(regex=r"#\d+", model="m2"), turns=(Message(message="two"),)
        ),
        Scenario(name="text", match=Match(contains="日本"), turns=(Message(message="three"),)),
    )
    with ScriptedModel(scenarios) as model:
        text_format = {"format": {"type": "json_schema", "schema": {}}}
        assert said(ask(model, user("x"), text=text_format)[1]) == '{"ok": "はい"}'
        assert said(ask(model, user("see #7"), model="m2")[1]) == "two"
        assert said(ask(model, user("old #7"), user("日本"))[1]) == "three"
        status, body = ask(model, user("nothing"))
        assert (status, body[0]["error"]["message"]) == (
            400,
            "no scenario of the script matches this prompt",
        )
        assert [request.role for request in model.requests] == ["reviewer", *["worker"] * 3]
        assert model.requests[0].format == text_format["format"]


def test_turns_follow_the_history_and_runs_are_counted() -> None:
    scenario = Scenario(
        name="s",
        runs=(
            (Shell(command="ls"), Patch(patch="*** x"), Message(message="first")),
            (Message(message="later"),),
        ),
    )
    with ScriptedModel([scenario]) as model:
        history = [user("p")]
        for kind in ("function_call", "custom_tool_call"):
            _, events = ask(model, *history)
            item = events[1]["item"]
            assert item["type"] == kind
            output = {"type": f"{kind}_output", "call_id": item["call_id"], "output": "out"}
            history += [item, output]
        assert said(ask(model, *history)[1]) == "first"
        assert model.requests[-1].outputs == ("out", "out")
        assert model.runs("s") == 1
        assert said(ask(model, *history, user("again"))[1]) == "later"
        assert said(ask(model, user("p"), thread="another")[1]) == "later"
        assert model.runs("s") == 3


def test_an_error_with_times_is_used_up() -> None:
    turns = (Refused(status=429, times=2), Cut(cut=True, times=1), Message(message="well"))
    with ScriptedModel([Scenario(name="s", turns=turns)]) as model:
        assert [ask(model, user("p"))[0] for _ in range(2)] == [429, 429]
        assert [event["type"] for event in ask(model, user("p"))[1]] == ["response.created"]
        assert said(ask(model, user("p"))[1]) == "well"
        assert model.runs("s") == 1


def test_stopping_ends_a_hanging_answer() -> None:
    model = ScriptedModel([Scenario(name="s", turns=(Hang(hang=600),))]).start()
    connection = http.client.HTTPConnection(model.url[7:-3])
    connection.request("POST", "/v1/responses", json.dumps({"input": [user("p")]}))
    answer = connection.getresponse()
    assert answer.readline().startswith(b"data: ")
    model.stop()
    assert answer.read().strip() == b""
    connection.close()


def test_models_are_listed_and_other_addresses_are_not_found() -> None:
    with ScriptedModel([Scenario(name="s", turns=(Message(message="m"),))]) as model:
        connection = http.client.HTTPConnection(model.url[7:-3])
        for path, status in (("/v1/models?x=1", 200), ("/v1/x", 404)):
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == status
        connection.close()


@pytest.mark.parametrize(
    "scenario",
    [
        {"name": "none"},
        {"name": "both", "turns": [{"message": "x"}], "runs": [[{"message": "x"}]]},
        {"name": "unknown turn", "turns": [{"shout": "x"}]},
        {"name": "unknown key", "turns": [{"message": "x", "lound": 1}]},
    ],
)
def test_a_wrong_script_is_refused(scenario: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Script.model_validate({"scenarios": [scenario]})


def test_it_is_a_program_of_its_own(tmp_path: Path) -> None:
    script, port, log = tmp_path / "s.json", tmp_path / "port", tmp_path / "log.jsonl"
    scenario = {"name": "s", "match": {"contains": "p"}, "turns": [{"message": "はい"}]}
    script.write_text(json.dumps({"scenarios": [scenario]}), encoding="utf-8")
    argv = [sys.executable, "-m", "controller.demo.model", "--script", str(script)]
    argv += ["--port-file", str(port), "--log", str(log)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, encoding="utf-8") as program:
        try:
            assert program.stdout is not None
            url = program.stdout.readline().strip()
            assert said(ask(url, user("p"))[1]) == "はい"
        finally:
            program.send_signal(signal.SIGTERM)
        assert program.wait(60) == 0
    assert url == f"http://127.0.0.1:{port.read_text('ascii')}/v1"
    line = json.loads(log.read_text("utf-8"))
    assert (line["scenario"], line["prompt"], line["effort"]) == ("s", "p", "low")


def test_the_program_refuses_a_wrong_script(tmp_path: Path) -> None:
    script = tmp_path / "s.json"
    script.write_text("{}", encoding="utf-8")
    argv = [sys.executable, "-m", "controller.demo.model", "--script", str(script)]
    done = subprocess.run(argv, check=False, capture_output=True, encoding="utf-8")
    assert done.returncode == 64
    assert "scenarios" in done.stderr
