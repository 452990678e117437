"""Argument lists and environments: how Codex is started for a worker, a reviewer, a command.

Used by `controller.adapters.codex.runner`. Builds values only; starts nothing. The environment is
built from empty: no credential of ours is ever in it.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from controller.adapters.codex.confine import (
    Installation,
    profile,
    toml_string,
    toml_table,
    untrusted,
)
from controller.domain.values import Value
from controller.errors import AgentError, ConfigError
from controller.ports.agents import AgentOrder, Confinement

LOCKED = (
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    'web_search="disabled"',
    'history.persistence="none"',
    "project_doc_max_bytes=0",
    "skills={include_instructions=false,bundled={enabled=false}}",
    "allow_login_shell=false",
)
DISABLED = ("hooks", "plugins", "remote_plugin", "apps", "shell_snapshot", "multi_agent", "goals")
RESERVED = frozenset(
    {
        "allow_login_shell",
        "approval_policy",
        "approvals_reviewer",
        "default_permissions",
        "features",
        "hooks",
        "mcp_servers",
        "notify",
        "permissions",
        "projects",
        "sandbox_mode",
        "sandbox_workspace_write",
        "shell_environment_policy",
    }
)
"""Keys of `[agent] codex_config` that would open the confinement."""
THREAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
PROXIES = tuple(
    spelled
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
    for spelled in (name, name.lower())
)
TRUST = ("SSL_CERT_FILE", "SSL_CERT_DIR", "CODEX_CA_CERTIFICATE")


class Places(Value):
    """Files and folders of one run below its run directory; only `scratch` is the tools'."""

    run: Path
    scratch: Path

    @property
    def private(self) -> Path:
        """HOME and TMPDIR of Codex itself: never writable or readable for what it runs."""
        return self.run / "private"

    @property
    def codex_home(self) -> Path:
        """An empty CODEX_HOME for `codex sandbox`: no user configuration, no trust, no login."""
        return self.run / "codex"


class Launch(Value):
    """Everything that starting one process takes."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    folder: Path


def checked_config(values: tuple[str, ...]) -> tuple[str, ...]:
    """`[agent] codex_config` as it may be passed on. Raises ConfigError naming the value."""
    for number, value in enumerate(values, start=1):
        where = f"[agent] codex_config, value {number} ({value!a})"
        key, equals, _ = value.partition("=")
        if not equals:
            raise ConfigError(f"{where}: expected KEY=VALUE")
        try:
            first = next(iter(tomllib.loads(f"{key.strip()}=0")))
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{where}: {key!a} is no TOML key") from error
        if first in RESERVED:
            raise ConfigError(f"{where}: {first} belongs to the confinement and cannot be set")
    return values


def provider_variables(values: tuple[str, ...]) -> tuple[str, ...]:
    """Names of environment variables that configured model providers read their keys from."""
    found: list[str] = []
    for value in values:
        try:
            found.extend(_env_keys(tomllib.loads(value)))
        except tomllib.TOMLDecodeError:  # a bare word is a plain string for Codex
            key, _, text = value.partition("=")
            if key.strip().rsplit(".", 1)[-1] == "env_key":
                found.append(text.strip())
    return tuple(dict.fromkeys(found))


def _env_keys(value: object) -> Iterator[str]:
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        if key == "env_key" and isinstance(inner, str):
            yield inner
        elif key == "env_http_headers" and isinstance(inner, dict):
            yield from (name for name in inner.values() if isinstance(name, str))
        else:
            yield from _env_keys(inner)


def _configured(values: tuple[str, ...]) -> list[str]:
    return [part for value in values for part in ("-c", value)]


class Launcher:
    """Builds launches for one installation of Codex."""

    def __init__(
        self,
        *,
        binary: Path,
        codex_home: Path,
        extra_config: tuple[str, ...],
        environment: Mapping[str, str],
        tool_path: str,
    ) -> None:
        """`environment` is toban's own: only proxies, CA files, TZ and provider keys are taken."""
        self._binary = binary
        self._home = codex_home
        self._extra = checked_config(extra_config)
        self._host = environment
        self._tool_path = tool_path

    def agent(self, order: AgentOrder, places: Places) -> Launch:
        """Start of `codex exec` for a worker or a reviewer; the prompt goes to stdin."""
        confinement = order.confinement
        installed = Installation(binary=self._binary, home=self._home, helper=True, run=places.run)
        tools = self._tool_environment(places)
        policy = toml_table((name, toml_string(value)) for name, value in tools.items())
        # Codex lets the last value win: the confinement stands behind what the user configured.
        values = (
            *self._extra,
            *LOCKED,
            *profile(confinement, installed),
            untrusted(confinement),
            f'shell_environment_policy={{inherit="none",set={policy}}}',
            f"model_reasoning_effort={toml_string(order.effort)}",
        )
        argv = [str(self._binary), "exec", "-C", str(confinement.workspace), "--json"]
        argv += ["--ignore-user-config", "--ignore-rules", "--strict-config"]
        argv += ["--skip-git-repo-check", *_configured(values)]
        argv += [part for feature in DISABLED for part in ("--disable", feature)]
        argv += ["-m", order.model, "-o", str(places.run / "last.txt")]
        if order.role == "reviewer":
            argv.append("--ephemeral")
        if order.schema_ is not None:
            argv += ["--output-schema", str(places.run / "schema.json")]
        thread = order.thread or ""  # anything but a UUID would be taken for a name, or a flag
        argv += ["resume", thread, "-"] if THREAD.fullmatch(thread) else ["-"]
        return Launch(
            argv=tuple(argv),
            environment=self._agent_environment(places),
            folder=confinement.workspace,
        )

    def command(self, confinement: Confinement, places: Places, command: str) -> Launch:
        """Start of `codex sandbox` for one command line, run by `sh -c` with a tool's environment.

        Codex's private TMPDIR must not reach the command: it keeps its own list of mounts there.
        """
        installed = Installation(binary=self._binary, home=self._home, helper=False, run=places.run)
        tools = self._tool_environment(places)
        if confinement.network:
            tools |= {n: v for n, v in self._taken(PROXIES).items() if "@" not in v}
            tools |= self._taken(TRUST)
        values = (*profile(confinement, installed), untrusted(confinement))
        inner = ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in tools.items())]
        return Launch(
            argv=(
                *(str(self._binary), "sandbox", *_configured(values), "--"),
                *(*inner, "sh", "-c", command),
            ),
            environment={**self._own(places), "CODEX_HOME": str(places.codex_home)},
            folder=confinement.workspace,
        )

    def _tool_environment(self, places: Places) -> dict[str, str]:
        scratch = str(places.scratch)
        return {
            "PATH": self._tool_path,
            "HOME": scratch,
            "TMPDIR": scratch,
            "LANG": "C.UTF-8",
        }

    def _own(self, places: Places) -> dict[str, str]:
        private = str(places.private)
        own = {"PATH": self._tool_path, "HOME": private, "TMPDIR": private, "LANG": "C.UTF-8"}
        return own | self._taken(("TZ",))

    def _agent_environment(self, places: Places) -> dict[str, str]:
        home = self._home.resolve()
        if places.private.resolve() in (home, *home.parents):
            raise AgentError(
                f"{str(home)!a} (codex_home) lies inside a run directory: choose another folder"
            )
        taken = self._taken((*PROXIES, *TRUST, *provider_variables(self._extra)))
        return {**self._own(places), **taken, "CODEX_HOME": str(self._home)}

    def _taken(self, names: tuple[str, ...]) -> dict[str, str]:
        return {name: self._host[name] for name in names if name in self._host}
