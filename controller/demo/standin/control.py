"""The control plane as JSON: ``POST /_control/METHOD`` calls that method of `World`.

The body is an object of the method's arguments by name; the answer is ``{"result": ...}`` or, with
status 400 or 404, ``{"error": ...}``. ``GET /_control`` lists the methods. No credentials: the
stand-in listens on loopback only. The seed file of the command line goes through the same door.
"""

import dataclasses
import inspect
import json
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, ValidationError, validate_call
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from controller.demo.standin.accounts import Role
from controller.demo.standin.gitcall import GitError
from controller.demo.standin.state import Refusal
from controller.demo.standin.world import World

_SETTINGS = ConfigDict(arbitrary_types_allowed=True)


def methods() -> list[str]:
    """The names that may be called."""
    return [
        name
        for name, _ in inspect.getmembers(World, inspect.isfunction)
        if not name.startswith("_")
    ]


def call(world: World, name: str, arguments: Mapping[str, object]) -> object:
    """Call a method of the world; Refusal 404 or 400 for an unknown name or wrong arguments."""
    if name not in methods():
        raise Refusal(404, f"no method {name}; GET /_control lists them")
    try:
        return plain(validate_call(config=_SETTINGS)(getattr(world, name))(**arguments))
    except ValidationError as error:
        raise Refusal(400, f"{name}: {error}") from None
    except (GitError, TimeoutError) as error:
        raise Refusal(400, f"{name}: {error}") from None


def sow(world: World, seed: Path) -> None:
    """Carry out a seed file: a list of ``{"call": METHOD, ...arguments}``."""
    steps = json.loads(seed.read_text(encoding="utf-8"))
    if not isinstance(steps, list):
        raise Refusal(400, f"{seed}: expected a list of steps")
    for number, step in enumerate(steps, 1):
        if not isinstance(step, dict) or not isinstance(step.get("call"), str):
            raise Refusal(400, f'{seed}: step {number}: expected {{"call": METHOD, ...}}')
        arguments = {key: value for key, value in step.items() if key != "call"}
        try:
            call(world, step["call"], arguments)
        except Refusal as refusal:
            raise Refusal(400, f"{seed}: step {number}: {refusal.message}") from None


def plain(value: object) -> Any:  # noqa: ANN401 - any JSON
    """A record as JSON values."""
    match value:
        case Role():
            return value.word
        case Enum():
            return value.value
        case datetime():
            return value.isoformat()
        case Path():
            return str(value)
        case _ if dataclasses.is_dataclass(value):
            names = (field.name for field in dataclasses.fields(value))
            return {name: plain(getattr(value, name)) for name in names}
        case Mapping():
            return {str(key): plain(it) for key, it in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(it) for it in value]
        case _:
            return value


def application(world: World) -> Starlette:
    """The ASGI application of the control plane."""

    async def listing(_request: Request) -> Response:
        return JSONResponse({"methods": methods()})

    async def act(request: Request) -> Response:
        body = await request.body()
        try:
            arguments = json.loads(body or b"{}")
            if not isinstance(arguments, dict):
                return JSONResponse({"error": "the body must be a JSON object"}, 400)
            result = await run_in_threadpool(call, world, request.path_params["name"], arguments)
        except Refusal as refusal:
            status = refusal.status if refusal.status == 404 else 400  # noqa: PLR2004 - HTTP
            return JSONResponse({"error": refusal.message, "errors": refusal.errors}, status)
        except ValueError as error:
            return JSONResponse({"error": str(error)}, 400)
        return JSONResponse({"result": result})

    return Starlette(
        routes=[
            Route("/_control", listing),
            Route("/_control/{name}", act, methods=["POST"]),
        ]
    )
