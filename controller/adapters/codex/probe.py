"""Trying for real what the sandbox must refuse, before anything is run in it.

Called through `controller.adapters.codex.runner`. Makes one canary file, one scratch folder and one
listening socket on loopback, and removes them. Reads no secret itself.
"""

import os
import shlex
import shutil
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from controller.domain.reasons import Reason
from controller.domain.text import safe_text
from controller.domain.values import Unseen
from controller.ports.agents import CommandOrder, CommandResult, Confinement

SOURCE = "codex sandbox"
TIMEOUT_S = 60.0
REASON_LIMIT = 400
LOGIN = ("auth.json", "sessions", "config.toml")
SCRIPT = r"""
say() { printf 'probe:%s=%s\n' "$1" "$2"; }
peek() { if [ -d "$1" ]; then ls -A "$1"; else head -c 1 "$1"; fi 2>/dev/null; }
try() { if (: >> "$2") 2>/dev/null; then say "$1" open; else say "$1" closed; fi; }
say begun yes
for place in "$@"; do
  if [ -n "$(peek "$place")" ]; then say readable "$place"; fi
done
for place in $FOLDERS; do try "$place" "$(eval printf %s "\"\$$place\"")/$NAME"; done
try workspace "./$NAME"; rm -f "./$NAME" 2>/dev/null
try scratch "$TMPDIR/$NAME"; rm -f "$TMPDIR/$NAME" 2>/dev/null
if [ -e .git ]; then try pointer .git; fi
if ! command -v bash >/dev/null; then say bash missing; fi
if bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0"' "$PORT" 2>/dev/null
then say network open; else say network closed; fi
say ended yes
"""


class Probe:
    """One probe of one confinement."""

    def __init__(self, confinement: Confinement, *, codex_home: Path) -> None:
        self._confinement = confinement
        self._home = codex_home

    @staticmethod
    def unseen(reason: str) -> Unseen:
        """The answer that stops all work."""
        return Unseen(
            source=SOURCE,
            reason=safe_text(reason, limit=REASON_LIMIT),
            code=Reason.SANDBOX_NOT_ENFORCED,
        )

    def verdict(self, command: Callable[[CommandOrder], CommandResult]) -> Unseen | None:
        """None when every attempt ended as it must. Raises OSError and AgentError."""
        confinement = self._confinement
        confinement.root.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".probe-", dir=confinement.root))
        outside = self._outside()
        try:
            canary = folder / "canary"
            canary.write_text("canary", encoding="ascii")
            with socket.create_server(("127.0.0.1", 0)) as server:
                order = CommandOrder(
                    run_directory=folder,
                    confinement=confinement,
                    command=self._script(canary, outside, server.getsockname()[1], folder.name),
                    timeout_s=TIMEOUT_S,
                )
                result = command(order)
        finally:
            for place in outside:
                (place / folder.name).unlink(missing_ok=True)
            shutil.rmtree(folder)
        return self._judge(result, outside)

    def _outside(self) -> tuple[Path, ...]:
        """Folders that we may write and the sandbox may not."""
        confinement = self._confinement
        wanted = (confinement.root.parent, confinement.git_data, self._home, Path("/tmp"))  # noqa: S108 - to be refused
        return tuple(place for place in wanted if place is not None and os.access(place, os.W_OK))

    def _script(self, canary: Path, outside: tuple[Path, ...], port: int, name: str) -> str:
        login = (self._home / entry for entry in LOGIN)
        hidden = [canary, *self._confinement.secrets, *login]
        folders = {f"OUTSIDE{at}": place for at, place in enumerate(outside)}
        values = {
            **{key: str(place) for key, place in folders.items()},
            "FOLDERS": " ".join(folders),
            "NAME": name,
            "PORT": str(port),
        }
        lines = [f"{key}={shlex.quote(value)}" for key, value in values.items()]
        lines.append("set -- " + " ".join(shlex.quote(str(place)) for place in hidden))
        return "\n".join(lines) + SCRIPT

    def _judge(self, result: CommandResult, outside: tuple[Path, ...]) -> Unseen | None:
        said = [
            line.removeprefix("probe:").partition("=")[::2]
            for line in result.output.splitlines()
            if line.startswith("probe:")
        ]
        answers = dict(said)
        if not {"begun", "ended"} <= answers.keys():
            return self.unseen(f"the sandbox does not work: {result.output.strip()[-300:]}")
        readable = [place for key, place in said if key == "readable"]
        writable = [
            str(place)
            for at, place in enumerate(outside)
            if answers.get(f"OUTSIDE{at}") != "closed"
        ]
        wrong = [
            f"{what} is {answers[what]}"
            for what, right in self._expected().items()
            if answers.get(what, right) != right
        ]
        if readable:
            wrong.append(f"{len(readable)} secret places can be read, first {readable[0]}")
        if writable:
            wrong.append(f"{len(writable)} places outside can be written, first {writable[0]}")
        if answers.get("bash") == "missing":
            wrong.append("without bash it cannot be tried whether the network is closed")
        return self.unseen("in the sandbox " + "; ".join(wrong)) if wrong else None

    def _expected(self) -> dict[str, str]:
        confinement = self._confinement
        return {
            "workspace": "open" if confinement.writable else "closed",
            "scratch": "open",
            "pointer": "closed",
            "network": "open" if confinement.network else "closed",
        }
