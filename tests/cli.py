"""toban as a process beside a stand-in, for the tests of the command line.

No Codex is started here; what needs one is in tests/e2e.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from controller.demo.standin import Standin

REPO = "octo/app"
TOKEN = "tok_octo"
TOBAN = Path(sys.executable).parent / "toban"


class Done(NamedTuple):
    """How a process ended."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """The one document on stdout."""
        document: dict[str, Any] = json.loads(self.out)
        return document


class Desk:
    """A user's folder: configuration, token, home; nothing else exists before toban makes it."""

    def __init__(self, folder: Path, *, url: str = "http://127.0.0.1:9") -> None:
        self.folder, self.url = folder, url
        self.root = folder / "根"
        self.home = folder / "home"
        self.config = folder / "config.toml"
        self.token = folder / "token"
        self.home.mkdir()
        self.token.write_text(f"{TOKEN}\n", encoding="ascii")
        self.token.chmod(0o600)
        self.configure()

    def configure(self, github: str = f'repositories = ["{REPO}"]', more: str = "") -> None:
        """Write the configuration anew."""
        self.config.write_text(
            f"""\
[paths]
root = "{self.root}"
[github]
api_url = "{self.url}"
git_url = "{self.url}"
token_file = "token"
seconds_between_writes = 0
{github}
[host]
min_free_memory_percent = 0
min_free_disk_gb = 0
{more}
""",
            encoding="utf-8",
        )

    def environment(self, **more: str) -> dict[str, str]:
        """What the process gets."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("TOBAN_", "GIT_"))}
        return kept | {"HOME": str(self.home), "TOBAN_CONFIG": str(self.config)} | more

    def toban(self, *words: str, **environment: str) -> Done:
        """Run `toban` to its end."""
        done = subprocess.run(
            [str(TOBAN), *words],
            cwd=self.folder,
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=120,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in out + err
        return Done(done.returncode, out, err)

    def files(self) -> dict[str, bytes]:
        """Everything in the folder, folders included, that is no part of the forge."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else b""
            for path in self.folder.rglob("*")
            if not path.is_relative_to(self.folder / "forge")
        }


def furnished(forge: Standin) -> int:
    """Octo's repository with one labelled issue; its number."""
    forge.world.add_user("octo", token=TOKEN)
    forge.world.add_repo(REPO, private=True)
    number = forge.world.create_issue(REPO, "題名", "本文").number
    forge.world.add_label(REPO, number, "agent:ready", by="octo")
    return number
