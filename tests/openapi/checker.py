"""Judges every exchange with the stand-in by GitHub's OpenAPI description.

Handed to the stand-in as its witness: ``Standin(root, checker=checker)``. Looks at query, body,
status and answer; never changes what is sent. What it finds is kept until the end of the session,
where `verdict` compares it with the waivers. Independent of the stand-in: it knows its exchanges
by shape only.
"""

import gzip
import json
import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl

from openapi_schema_validator import OAS30Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

SUBSET = Path(__file__).parent.parent / "data" / "github-openapi.json.gz"
_GREEDY = {"path": ".*", **dict.fromkeys(("ref", "basehead", "branch", "name"), ".+")}
_URN = "urn:github"
_SHOWN = 160

type Json = dict[str, Any]


class Exchange(Protocol):
    """A finished request with its answer; bodies are raw bytes."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def query(self) -> str: ...
    @property
    def request(self) -> bytes: ...
    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def response(self) -> bytes: ...


@dataclass(frozen=True, order=True)
class Problem:
    """A deviation from the description. `operation` is METHOD and path template."""

    operation: str
    message: str

    def __str__(self) -> str:
        return f"{self.operation}: {self.message}"


@dataclass(frozen=True, kw_only=True)
class Waiver:
    """A deviation that is right, with the reason. The patterns must match wholly."""

    operation: str
    message: str
    reason: str

    def covers(self, problem: Problem) -> bool:
        """Whether the deviation is this one."""
        return bool(
            re.fullmatch(self.operation, problem.operation)
            and re.fullmatch(self.message, problem.message)
        )


class Description:
    """GitHub's description: routes, and validators for what they say about bodies."""

    def __init__(self, path: Path = SUBSET) -> None:
        self.spec: Json = json.loads(gzip.decompress(path.read_bytes()))
        resource = DRAFT202012.create_resource(self.spec)
        self._registry = Registry().with_resource(_URN, resource)
        self._validators: dict[str, OAS30Validator] = {}
        self._routes = sorted(
            (template.count("{"), -len(template), _pattern(template), template)
            for template in self.spec["paths"]
        )

    def operation(self, method: str, path: str) -> tuple[str, Json] | None:
        """The path template and operation for a request, the most specific one."""
        for _, _, pattern, template in self._routes:
            operation = self.spec["paths"][template].get(method.lower())
            if operation is not None and re.fullmatch(pattern, path):
                return template, operation
        return None

    def resolved(self, node: Json, pointer: str) -> tuple[Json, str]:
        """A node with its pointer after following its reference, if it is one."""
        while "$ref" in node:
            pointer = node["$ref"]
            node = self.spec
            for key in pointer[2:].split("/"):
                node = node[key.replace("~1", "/").replace("~0", "~")]
        return node, pointer

    def errors(self, pointer: str, body: object) -> Iterator[str]:
        """What is wrong with `body` by the schema at `pointer`; list positions are blurred."""
        if pointer not in self._validators:
            self._validators[pointer] = OAS30Validator(
                {"$ref": f"{_URN}{pointer}"}, registry=self._registry
            )
        for error in self._validators[pointer].iter_errors(body):
            place = re.sub(r"\[\d+\]", "[]", error.json_path)
            message = re.sub(r"\s+", " ", error.message)
            yield f"{place} {message[-_SHOWN:]}"


@cache
def description() -> Description:
    """The description, read once."""
    return Description()


class Checker:
    """Collects problems and which operations were seen. Safe to use from several threads."""

    def __init__(self) -> None:
        self.description = description()
        self.problems: Counter[Problem] = Counter()
        self.seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def see(self, exchange: Exchange) -> None:
        """Judge one exchange."""
        with self._lock:
            found = self.description.operation(exchange.method, exchange.path)
            if found is None:
                name = f"{exchange.method} {exchange.path}"
                if exchange.status not in {401, 404}:
                    self.problems[Problem(name, "no such operation in the description")] += 1
                return
            template, operation = found
            name = f"{exchange.method.upper()} {template}"
            self.seen[name] += 1
            pointer = f"#/paths/{_escaped(template)}/{exchange.method.lower()}"
            messages = [
                *self._query(template, operation, exchange),
                *self._request(operation, pointer, exchange),
                *self._response(operation, pointer, exchange),
            ]
            self.problems.update(Problem(name, message) for message in messages)

    def _query(self, template: str, operation: Json, exchange: Exchange) -> Iterator[str]:
        shared = self.description.spec["paths"][template].get("parameters", [])
        parameters = [
            self.description.resolved(it, "")[0]
            for it in (*operation.get("parameters", []), *shared)
        ]
        names = {it["name"] for it in parameters if it["in"] == "query"}
        for key, _ in parse_qsl(exchange.query, keep_blank_values=True):
            if key not in names:
                yield f"request: unknown query parameter {key}"

    def _request(self, operation: Json, pointer: str, exchange: Exchange) -> Iterator[str]:
        if not exchange.request or not 200 <= exchange.status < 300:
            return
        body = json.loads(exchange.request)
        if "requestBody" not in operation:
            yield "request: a body where none is described"
            return
        schema = f"{pointer}/requestBody/content/application~1json/schema"
        for message in self.description.errors(schema, body):
            yield f"request: {message}"

    def _response(self, operation: Json, pointer: str, exchange: Exchange) -> Iterator[str]:
        status = str(exchange.status)
        if status not in operation["responses"]:
            yield f"response: status {status} is not described"
            return
        where = f"{pointer}/responses/{status}"
        answer, where = self.description.resolved(operation["responses"][status], where)
        media = next((it for it in answer.get("content", {}) if "json" in it), None)
        if media is None:
            if exchange.response and exchange.method != "HEAD":
                yield f"response {status}: a body where none is described"
            return
        body = json.loads(exchange.response)
        for message in self.description.errors(f"{where}/content/{_escaped(media)}/schema", body):
            yield f"response {status}: {message}"


def verdict(checker: Checker, waivers: Iterable[Waiver], *, whole: bool) -> list[str]:
    """What must fail: problems that no waiver covers.

    When `whole`, that is when all operations were exercised, also waivers that covered nothing.
    """
    listed = tuple(waivers)
    lines = [
        f"{problem} ({count} times)"
        for problem, count in sorted(checker.problems.items())
        if not any(waiver.covers(problem) for waiver in listed)
    ]
    if whole:
        lines += [
            f"waiver never used: {waiver.operation}: {waiver.message}"
            for waiver in listed
            if not any(waiver.covers(problem) for problem in checker.problems)
        ]
    return lines


def _pattern(template: str) -> str:
    """A path template as a regular expression; branches, paths and labels may hold slashes."""
    parts = re.split(r"\{([^}]+)\}", template)
    return "".join(
        re.escape(part) if index % 2 == 0 else (_GREEDY.get(part, "[^/]+"))
        for index, part in enumerate(parts)
    )


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
