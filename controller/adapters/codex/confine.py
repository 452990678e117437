"""The permission profile of one sandboxed process: what Codex's sandbox shows and hides.

Used by the launches of this package. The profile is the only policy (no `-s`, which would silently
drop every denial). Looks at directories to enumerate siblings; changes nothing.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from controller.domain.values import Value
from controller.errors import AgentError
from controller.ports.agents import Confinement

PROFILE = "toban"
GLOB = frozenset("*?[]")
"""Codex reads a path with one of these as a pattern, which then hides nothing."""
MAX_ARGUMENT = 120 * 1024
"""Linux takes 128 KiB in one argument (MAX_ARG_STRLEN)."""
RUNTIME = Path("/run")
BESIDE = ("codex-path", "codex-resources")
"""Folders of a packaged Codex from which the sandbox starts programs (bwrap, rg)."""
PRIVATE_NAMES = (
    "auth.json",
    "config.toml",
    "history.jsonl",
    "sessions",
    "archived_sessions",
    "shell_snapshots",
    "log",
    *(
        f"{name}.sqlite{ending}"
        for name in ("state_5", "logs_2", "thread_history_1", "goals_1", "queue_1", "memories_1")
        for ending in ("", "-wal", "-shm")
    ),
)
"""What Codex itself makes in its home while it runs: hidden even before it exists."""


class Installation(Value):
    """Where the Codex of one launch lies."""

    binary: Path
    home: Path
    """The CODEX_HOME with the login; hidden as far as the launch allows."""
    helper: bool
    """Whether this launch runs from `home`: then `home/tmp`, where the sandbox helper lies, stays
    readable and everything beside it is hidden."""
    run: Path
    """The run directory: hidden as well, wherever it lies."""


def toml_string(text: str | Path) -> str:
    """Quote for a `-c` value: JSON's escapes are a subset of TOML's basic string, DEL apart."""
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_table(entries: Iterable[tuple[str, str]]) -> str:
    """An inline table of keys to ready TOML values."""
    return "{" + ",".join(f"{toml_string(key)}={value}" for key, value in entries) + "}"


def _inside(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


class View(Value):
    """The places that one process needs, all links resolved."""

    read: tuple[Path, ...]
    """Readable; on the way to one of these every folder is enumerated."""
    write: tuple[Path, ...]
    """Writable; these come back below a denied folder."""


def _view(confinement: Confinement, installation: Installation) -> View:
    workspace, scratch = confinement.workspace.resolve(), confinement.scratch.resolve()
    binary = installation.binary.resolve()
    read = [binary, *(binary.parent.parent / name for name in BESIDE)]
    if installation.helper:
        read.append(installation.home.resolve() / "tmp")
    if not confinement.writable:
        read.append(workspace)
    if confinement.git_data is not None:
        read.append(confinement.git_data.resolve())
    return View(
        read=tuple(read), write=(scratch, workspace) if confinement.writable else (scratch,)
    )


def _cover(folder: Path, view: View) -> Iterator[Path]:
    """What must be denied so that of `folder` only the view remains.

    A readable path below a denied folder does not come back, a writable one does: therefore the
    way to a readable path is enumerated and all else is denied as a whole. A link's target counts
    as lying in the folder, unless it leads to a parent of the folder.
    """
    if folder in view.write or any(_inside(folder, place) for place in view.read):
        return
    if not any(folder in place.parents for place in view.read):
        yield folder
        return
    for child in sorted(folder.iterdir()) if folder.is_dir() else ():
        real = _target(child)
        if real == child or (real is not None and not _inside(folder, real)):
            yield from _cover(real, view)


def _target(path: Path) -> Path | None:
    """Where a path leads; None for a loop of links, which nobody can read."""
    try:
        return path.resolve()
    except RuntimeError:  # how pathlib reports a loop
        return None


def _needed(denied: set[Path], writable: tuple[Path, ...]) -> list[Path]:
    """Denials without those that an outer one covers: bubblewrap fails on a doubled one."""
    kept: dict[Path, None] = {}
    for path in sorted(denied):
        outer = next((folder for folder in path.parents if folder in kept), None)
        if outer is None or any(outer in w.parents and _inside(path, w) for w in writable):
            kept[path] = None
    return list(kept)


def denied_paths(confinement: Confinement, installation: Installation) -> list[Path]:
    """Every path that the process must not read: links resolved, outermost only.

    Raises AgentError for a path that Codex cannot be told to hide, or that must stay visible.
    """
    view = _view(confinement, installation)
    home = installation.home.resolve()
    denied: set[Path] = set()
    for folder in (confinement.root.resolve(), home, installation.run.resolve()):
        denied.update(_cover(folder, view))
    denied.update(path.resolve() for path in confinement.secrets)
    if confinement.network:
        denied.update(_sockets(view))
    if installation.helper:
        denied.update(home / name for name in PRIVATE_NAMES)
    for path in sorted(denied):
        _check(path, view)
    return _needed(denied, view.write)


def _sockets(view: View) -> Iterator[Path]:
    """What lies in /run: with network, a socket there (Docker's, D-Bus) would be a way out.

    Without network the sandbox refuses every socket. The resolver's file stays readable.
    """
    resolver = Path("/etc/resolv.conf").resolve()
    shown = view.model_copy(update={"read": (*view.read, resolver)})
    for child in sorted(RUNTIME.iterdir()) if RUNTIME.is_dir() else ():
        if not child.is_symlink():
            yield from _cover(child, shown)


def _check(path: Path, view: View) -> None:
    text = str(path)
    if not GLOB.isdisjoint(text) or not text.isprintable():
        raise AgentError(
            f"{text!a} cannot be hidden from the sandbox: rename or move it so that its path has "
            "none of * ? [ ] and no control character"
        )
    shown = next((place for place in view.read if _inside(place, path)), None)
    if shown is None and path in view.write:
        shown = path
    if shown is not None:
        raise AgentError(
            f"{text!a} is to be hidden from the sandbox, but {str(shown)!a} must be visible in it: "
            "move one of them"
        )


def profile(confinement: Confinement, installation: Installation) -> tuple[str, ...]:
    """The `-c` values that select and define the permission profile of this process."""
    own = (
        (".", '"write"' if confinement.writable else '"read"'),
        (".git", '"read"'),
        (".codex", '"read"'),
    )
    entries = [
        (":root", '"read"'),
        (":workspace_roots", toml_table(own)),
        (str(confinement.scratch.resolve()), '"write"'),
        *((str(path), '"deny"') for path in denied_paths(confinement, installation)),
    ]
    network = "true" if confinement.network else "false"
    table = f"{{filesystem={toml_table(entries)},network={{enabled={network}}}}}"
    if len(table.encode()) > MAX_ARGUMENT:
        raise AgentError(
            f"{len(entries)} paths beside {confinement.workspace} would have to be hidden one by "
            "one, more than fit into a command line: remove finished items' folders"
        )
    return (f"default_permissions={toml_string(PROFILE)}", f"permissions.{PROFILE}={table}")


def untrusted(confinement: Confinement) -> str:
    """The `-c` value by which nothing in the workspace configures Codex, whoever trusted it."""
    places = {confinement.workspace, confinement.workspace.resolve()}
    if confinement.git_data is not None:
        places |= {confinement.git_data, confinement.git_data.resolve()}
    level = toml_table([("trust_level", '"untrusted"')])
    return "projects=" + toml_table((str(place), level) for place in sorted(places))
