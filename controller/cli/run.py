"""One command from its words to its exit code: what becomes of every error is decided here.

Called by `controller.__main__`. An error for people is one message on stderr, never a traceback.
"""

import os
import sys
from collections.abc import Sequence

import typer

from controller.cli import exits
from controller.cli.app import app
from controller.domain.text import safe_text
from controller.errors import LockedError, TobanError

LONGEST_ERROR = 4000


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code. Every error becomes one message on stderr."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets its number, never a traceback.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # real streams
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone; what Python still wants to flush at its end goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return exits.FAILED
    return code


def _invoke(arguments: Sequence[str]) -> int:
    command = typer.main.get_command(app)
    try:
        answer = command.main(args=list(arguments), prog_name="toban", standalone_mode=False)
    except typer.TyperException as error:
        return _wrong_usage(error)
    except typer.Abort:
        return _say("stopped at a question; nothing was changed")
    except LockedError as error:
        return _say(str(error), code=exits.LOCKED)
    except TobanError as error:
        return _say(str(error))
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - the last border: said once, with its traceback logged
        from controller.cli.logs import log_crash

        log_crash(error)
        name = type(error).__name__
        return _say(f"internal error: {name}: {error} (the log line above has the traceback)")
    return answer if isinstance(answer, int) else exits.OK


def _wrong_usage(error: typer.TyperException) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "toban"
    said = error.format_message().replace("Value error, ", "")
    return _say(f"{said}\nTry: {path} --help", code=exits.USAGE)


def _say(text: str, *, code: int = exits.FAILED) -> int:
    print(f"toban: {safe_text(text, limit=LONGEST_ERROR, lines=True)}", file=sys.stderr)
    return code
