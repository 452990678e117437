"""The command line: names, options, help.

Used by `controller.cli.run`. Imports typer and nothing of ours that is heavy, so that `--help` is
quick; a command's module is imported inside its function.
"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from controller import __version__
from controller.cli import exits

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


@app.command()
def doctor(
    context: typer.Context,
    *,
    own: Annotated[
        bool, typer.Option("--self", help="Only what needs no network and no account.")
    ] = False,
    as_json: AsJson = False,
    config: ConfigPath = None,
) -> int:
    """Check configuration, token, git, Codex and its sandbox, host, labels; say how to fix each.

    Exit: 0 all well (warnings included), 1 a check failed.
    """
    from controller.cli.doctor import doctor as command

    return command(config or context.obj, own=own, as_json=as_json)


@app.command()
def labels(
    context: typer.Context,
    repositories: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[REPO]...", help="owner/repo; default: all configured.", show_default=False
        ),
    ] = None,
    *,
    as_json: AsJson = False,
    config: ConfigPath = None,
) -> int:
    """Create or repair the six labels. No other label is touched."""
    from controller.cli.labels import labels as command

    return command(config or context.obj, repositories or [], as_json=as_json)


@app.command()
def init(
    context: typer.Context,
    *,
    owner: Annotated[
        str | None,
        typer.Option(help="Watch every repository of this owner.", show_default=False),
    ] = None,
    repo: Annotated[
        list[str] | None,
        typer.Option("--repo", help="Watch owner/repo; may be given again.", show_default=False),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="The file that holds the GitHub token.", show_default=False),
    ] = None,
    root: Annotated[
        str | None, typer.Option(help="Where toban keeps its things.", show_default="~/ai")
    ] = None,
    api_url: Annotated[
        str | None, typer.Option(help="The API's address.", show_default="https://api.github.com")
    ] = None,
    git_url: Annotated[
        str | None, typer.Option(help="Where git clones from.", show_default="https://github.com")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a configuration that exists.")
    ] = False,
    non_interactive: Annotated[
        bool, typer.Option("--non-interactive", help="Ask nothing.")
    ] = False,
    config: ConfigPath = None,
) -> int:
    """Write a commented configuration, check it, and offer the labels.

    Asks on a terminal for what no option says. Exit: 0 written and well, 1 not.
    """
    from controller.cli.init import Wanted
    from controller.cli.init import init as command

    wanted = Wanted(
        owner=owner,
        repositories=tuple(repo or ()),
        token_file=token_file,
        root=root,
        api_url=api_url,
        git_url=git_url,
    )
    return command(config or context.obj, wanted, force=force, ask=not non_interactive)


@app.command()
def demo(
    *,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the stand-in running to look around.")
    ] = False,
) -> int:
    """Show the whole issue flow on this machine, with no account."""
    from controller.cli.demo import demo as command

    return command(keep=keep)
