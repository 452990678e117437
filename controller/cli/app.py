"""The command line: names, options, help, and what becomes of every error.

Called by `controller.__main__`. Imports typer and nothing of ours that is heavy, so that `--help`
is quick; a command's module is imported inside its function.
"""

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from controller import __version__
from controller.cli import exits
from controller.domain.text import safe_text
from controller.errors import LockedError, TobanError

LONGEST_ERROR = 4000
HELP = """toban (当番, "the one on duty"): labelled GitHub issues become reviewed pull requests that
wait for a human, and the order table of the one Chrome is worked off.

Every command takes --config PATH (else $TOBAN_CONFIG, else ~/.config/toban/config.toml, else
/etc/toban/config.toml). Usage errors exit 64."""


class Only(StrEnum):
    """A workload."""

    ISSUES = "issues"
    ORDERS = "orders"


ConfigPath = Annotated[
    Path | None,
    typer.Option("--config", metavar="PATH", help="The configuration file.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
OnlyOne = Annotated[
    Only | None, typer.Option("--only", help="This workload alone.", show_default=False)
]
Item = Annotated[
    str | None,
    typer.Option(
        "--item",
        metavar="REF",
        help="This item alone: owner/repo#58 or row:14a.",
        show_default=False,
    ),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Log to stderr what is done (key=value lines).")
]

app = typer.Typer(
    name="toban",
    help=HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"toban {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def toban(
    context: typer.Context,
    *,
    config: ConfigPath = None,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Stands before every command."""
    del version
    context.obj = config
    if context.invoked_subcommand is None:
        print(context.get_help(), file=sys.stderr)
        raise typer.Exit(exits.USAGE)


@app.command()
def plan(
    context: typer.Context,
    *,
    only: OnlyOne = None,
    item: Item = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="Keep what was seen and planned in a file (for a bug report).",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    config: ConfigPath = None,
) -> int:
    """Say what run-once would do, and why everything else waits. Writes nothing.

    Exit: 0 nothing to do, 2 there are actions, 1 an error, or something could not be seen.
    """
    from controller.cli.plan import plan as command

    return command(config or context.obj, only=only, item=item, save=save, as_json=as_json)


@app.command("run-once")
def run_once(
    context: typer.Context,
    *,
    only: OnlyOne = None,
    item: Item = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
    config: ConfigPath = None,
) -> int:
    """Drive one issue until it rests.

    Exit: 0 done or nothing to do, 1 an error, 75 another instance is at work. SIGTERM ends it
    cleanly with 0: the running agent is ended and its work kept; a second signal ends it at once.
    """
    from controller.cli.run_once import run_once as command

    return command(config or context.obj, only=only, item=item, as_json=as_json, verbose=verbose)


@app.command()
def status(
    context: typer.Context,
    *,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page too.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    config: ConfigPath = None,
) -> int:
    """Show one line per item: phase, condition, reason, age, pull request, reworks, agent."""
    from controller.cli.status import status as command

    return command(config or context.obj, html=html, as_json=as_json)


@app.command()
def explain(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(metavar="REF", help="owner/repo#58 or row:14a.")],
    *,
    as_json: AsJson = False,
    config: ConfigPath = None,
) -> int:
    """Show every rule for one item, in order: satisfied, acts, holds. Exit 1: unknown item."""
    from controller.cli.explain import explain as command

    return command(config or context.obj, ref, as_json=as_json)


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
    return _say(f"{error.format_message()}\nTry: {path} --help", code=exits.USAGE)


def _say(text: str, *, code: int = exits.FAILED) -> int:
    print(f"toban: {safe_text(text, limit=LONGEST_ERROR, lines=True)}", file=sys.stderr)
    return code
