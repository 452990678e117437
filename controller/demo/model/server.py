"""The scripted model's HTTP server on 127.0.0.1: `POST /v1/responses`, `GET /v1/models`.

Started by the demo and by tests, in their process or as a program of its own. Remembers only how
often each scenario ran and which errors it already gave; everything else stands in the request.
"""

import json
import threading
from collections import Counter
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from controller.demo.model.request import ModelRequest, read_request
from controller.demo.model.script import Hang, Refused, Scenario, Script, Turn
from controller.demo.model.wire import stream

SPENT = Refused(status=400, error={"message": "the script has no further turn for this run"})
UNKNOWN = Refused(status=400, error={"message": "no scenario of the script matches this prompt"})
MAX_BODY = 256 * 1024 * 1024


class _Progress:
    """How far each run is; guarded by the caller's lock."""

    def __init__(self) -> None:
        self.runs: Counter[str] = Counter()
        self._run_of: dict[tuple[str, tuple[str, int]], int] = {}
        self._given: Counter[tuple[str, int, int]] = Counter()

    def next_turn(self, scenario: Scenario, request: ModelRequest) -> tuple[int, int, Turn]:
        """Run number, turn number and turn for a request; errors with `times` are used up."""
        key = (scenario.name, request.run_key)
        if key not in self._run_of:
            self._run_of[key] = self.runs[scenario.name]
            self.runs[scenario.name] += 1
        run = self._run_of[key]
        turns = scenario.of_run(run)
        for number in range(request.turn, len(turns)):
            turn = turns[number]
            given = (scenario.name, run, number)
            if turn.times is not None and self._given[given] >= turn.times:
                continue
            self._given[given] += 1
            return run, number, turn
        return run, len(turns), SPENT


class ScriptedModel:
    """A model that says what its script says. Use it as a context manager, or start and stop it."""

    def __init__(
        self, scenarios: Script | Iterable[Scenario], *, log: Path | None = None, port: int = 0
    ) -> None:
        """Bind to 127.0.0.1 (port 0 = any free one); `log` gets one JSON line per request."""
        given = scenarios.scenarios if isinstance(scenarios, Script) else scenarios
        self.script = Script(scenarios=tuple(given))
        self.requests: list[ModelRequest] = []
        self._log = log
        self._lock = threading.Lock()
        self._progress = _Progress()
        self._stopping = threading.Event()
        self._asked = threading.Event()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.model = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """Base address for a provider, with `/v1`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def codex_config(self) -> tuple[str, ...]:
        """The `-c` values that make Codex use this model without retries of its own."""
        provider = (
            f'{{name="scripted",base_url="{self.url}",wire_api="responses",'
            "request_max_retries=0,stream_max_retries=0}"
        )
        return ('model_provider="scripted"', f"model_providers.scripted={provider}")

    def runs(self, scenario: str) -> int:
        """How many runs of a scenario were begun."""
        with self._lock:
            return self._progress.runs[scenario]

    def wait_request(self, *, timeout: float = 30) -> ModelRequest:
        """The newest request, as soon as one has come. Raises TimeoutError after `timeout` s."""
        if not self._asked.wait(timeout):
            msg = f"no request in {timeout} s"
            raise TimeoutError(msg)
        with self._lock:
            return self.requests[-1]

    def start(self) -> Self:
        """Begin to answer; returns itself."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop answering, end hanging answers, free the port."""
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def request_stop(self) -> None:
        """Let `wait_for_stop` return; safe in a signal handler."""
        self._stopping.set()

    def wait_for_stop(self, seconds: float | None = None) -> bool:
        """Wait until the server is told to stop; False when the time ran out first."""
        return self._stopping.wait(seconds)

    def answer(self, request: ModelRequest) -> tuple[Turn, str]:
        """Choose the turn for a request, log both, and name the call id of this turn."""
        scenario = self.script.choose(request.prompt, request.role, request.model)
        with self._lock:
            run, number, turn = (
                self._progress.next_turn(scenario, request) if scenario else (0, 0, UNKNOWN)
            )
            self.requests.append(request)
            self._asked.set()
            line = {
                "n": len(self.requests),
                "scenario": scenario.name if scenario else None,
                "run": run,
                "answered_turn": number,
                **request.model_dump(mode="json"),
            }
            if self._log is not None:
                with self._log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
        return turn, f"turn-{number}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    model: ScriptedModel

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away (a killed Codex) is nothing to report."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "scripted-model"
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - name of the base
        """Stay quiet: the log file has what matters."""

    def do_GET(self) -> None:
        """Answer `GET /v1/models`, which some releases of Codex ask for first."""
        known = self.path.split("?")[0] == "/v1/models"
        self._json(200 if known else 404, {"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        """Answer `POST /v1/responses` with the next turn of the script."""
        length = int(self.headers.get("content-length") or 0)
        if self.path.split("?")[0] != "/v1/responses" or length > MAX_BODY:
            self._json(404, {"error": {"message": "only POST /v1/responses is served"}})
            return
        body = json.loads(self.rfile.read(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        turn, call = self.server.model.answer(read_request(body, headers))
        if turn.delay and self.server.model.wait_for_stop(turn.delay):
            return
        self._send(turn, call)

    def _send(self, turn: Turn, call: str) -> None:
        payload = stream(turn, answer=f"response-{call}", call=call)
        if isinstance(turn, Refused):
            self._bytes(turn.status, "application/json", payload)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self.wfile.write(payload)
        self.wfile.flush()
        if isinstance(turn, Hang):
            self.server.model.wait_for_stop(turn.hang)

    def _json(self, status: int, value: dict[str, Any]) -> None:
        self._bytes(status, "application/json", json.dumps(value).encode())

    def _bytes(self, status: int, kind: str, payload: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
