"""What Codex is started with: the profile, the refused settings, the environment."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.adapters.codex.confine import (
    Installation,
    denied_paths,
    profile,
    toml_string,
    toml_table,
)
from controller.adapters.codex.launch import (
    Launcher,
    Places,
    checked_config,
    provider_variables,
)
from controller.errors import AgentError, ConfigError
from controller.ports.agents import AgentOrder, Confinement


@given(
    st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.text("a\"'\\\n日\x7f\0"))
)
def test_any_text_survives_toml(entries: dict[str, str]) -> None:
    table = toml_table((key, toml_string(value)) for key, value in entries.items())
    assert tomllib.loads(f"x={table}") == {"x": entries}


def confinement(base: Path, **changes: object) -> Confinement:
    root = base / "ai"
    for folder in ("worktrees/o/a/issue-1", "worktrees/o/a/issue-2", "reviews/o/a/issue-1"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("reviews/o/a/issue-2", "repos/o/a.git", "repos/o/b.git", "repos/p/a.git"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    fields: dict[str, object] = {
        "root": root,
        "workspace": root / "worktrees/o/a/issue-1",
        "git_data": root / "repos/o/a.git",
        "scratch": root / "state/o/a/issue-1/1/scratch",
        "secrets": (),
        "writable": True,
    }
    (root / "state/o/a/issue-1/1").mkdir(parents=True, exist_ok=True)
    (base / "home" / "tmp").mkdir(parents=True, exist_ok=True)
    return Confinement.model_validate({**fields, **changes})


def installation(base: Path, **changes: object) -> Installation:
    fields: dict[str, object] = {
        "binary": base / "usr" / "bin" / "codex",
        "home": base / "home",
        "helper": False,
        "run": base / "ai/state/o/a/issue-1/1",
    }
    return Installation.model_validate({**fields, **changes})


def denied(base: Path, confined: Confinement, **changes: object) -> list[str]:
    paths = denied_paths(confined, installation(base, **changes))
    return [str(path.relative_to(base)) for path in paths]


def test_a_worker_sees_its_tree_and_its_repository_alone(tmp_path: Path) -> None:
    assert denied(tmp_path, confinement(tmp_path)) == [
        "ai/repos/o/b.git",
        "ai/repos/p",
        "ai/reviews",
        "ai/state",
        "ai/worktrees",
        "home",
    ]


def test_the_way_to_a_readable_tree_is_enumerated(tmp_path: Path) -> None:
    reviewer = confinement(tmp_path, workspace=tmp_path / "ai/reviews/o/a/issue-1", writable=False)
    assert "ai/reviews/o/a/issue-2" in denied(tmp_path, reviewer)
    assert "ai/worktrees" in denied(tmp_path, reviewer)


def test_of_the_home_only_the_helper_stays_visible(tmp_path: Path) -> None:
    confined = confinement(tmp_path)
    (tmp_path / "home" / "whatever").mkdir()
    paths = denied(tmp_path, confined, helper=True)
    assert {"home/auth.json", "home/sessions", "home/whatever"} <= set(paths)
    assert not {"home", "home/tmp"} & set(paths)


@pytest.mark.parametrize("place", ["ai/bin/codex", "home/bin/codex", "ai/codex"])
def test_a_binary_inside_a_hidden_folder_opens_nothing_beside_it(
    tmp_path: Path, place: str
) -> None:
    confined = confinement(tmp_path)
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).touch()
    (tmp_path / "home" / "auth.json").touch()
    paths = denied(tmp_path, confined, binary=tmp_path / place)
    assert place not in paths
    assert {"ai/state", "ai/worktrees", "ai/repos/p"} <= set(paths)
    assert "home" in paths or "home/auth.json" in paths


def test_a_denial_inside_a_denied_folder_is_left_out(tmp_path: Path) -> None:
    confined = confinement(tmp_path)
    inside = (tmp_path / "ai/state/key", tmp_path / "home/auth.json")
    outside = (tmp_path / "etc", tmp_path / "etc/token")
    within = (confined.scratch / "secret", confined.workspace / ".env")
    secrets = (*inside, *outside, *within)
    paths = denied(tmp_path, confined.model_copy(update={"secrets": secrets}))
    assert not {"ai/state/key", "home/auth.json", "etc/token"} & set(paths)
    assert {"etc", "ai/worktrees/o/a/issue-1/.env"} <= set(paths)


@pytest.mark.parametrize("name", ["a*b", "what?", "x[1]", "line\nend", "del\x7f"])
def test_what_codex_cannot_hide_is_refused(tmp_path: Path, name: str) -> None:
    confined = confinement(tmp_path, secrets=(tmp_path / name,))
    with pytest.raises(AgentError, match="cannot be hidden"):
        denied_paths(confined, installation(tmp_path))


@pytest.mark.parametrize("place", ["ai/repos/o/a.git", "ai/repos", "ai/worktrees/o/a/issue-1"])
def test_a_secret_that_must_be_visible_is_refused(tmp_path: Path, place: str) -> None:
    confined = confinement(tmp_path, secrets=(tmp_path / place,))
    with pytest.raises(AgentError, match="must be visible"):
        denied_paths(confined, installation(tmp_path))


def test_links_are_followed_to_what_they_hide(tmp_path: Path) -> None:
    confined = confinement(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "ai" / "elsewhere").symlink_to(tmp_path / "data")
    (tmp_path / "ai" / "up").symlink_to(tmp_path)
    (tmp_path / "ai" / "loop").symlink_to(tmp_path / "ai" / "loop")
    paths = denied(tmp_path, confined)
    assert "data" in paths
    assert "." not in paths


def test_too_many_siblings_are_refused_with_a_remedy(tmp_path: Path) -> None:
    reviewer = confinement(tmp_path, workspace=tmp_path / "ai/reviews/o/a/issue-1", writable=False)
    for number in range(2000):
        (tmp_path / "ai/reviews/o/a" / f"{number}-{'x' * 60}").mkdir()
    with pytest.raises(AgentError, match="remove finished"):
        profile(reviewer, installation(tmp_path))


@pytest.mark.parametrize(
    "value",
    [
        'sandbox_mode="danger-full-access"',
        "sandbox_workspace_write.network_access=true",
        ' "sandbox_mode" = "danger-full-access"',
        'default_permissions="x"',
        "permissions.toban.network.enabled=true",
        'shell_environment_policy.inherit="all"',
        'projects={"/x"={trust_level="trusted"}}',
        "features.hooks=true",
        "mcp_servers.x.command='x'",
        "no equals sign",
        "a b=1",
    ],
)
def test_settings_that_would_open_the_confinement_are_refused(value: str) -> None:
    with pytest.raises(ConfigError, match="codex_config, value 2"):
        checked_config(("model_verbosity=low", value))


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (("model_providers.x={name='x',env_key='A_KEY'}",), ("A_KEY",)),
        (
            ("model_providers.x.env_key='A_KEY'", "model_providers.y.env_key=B_KEY"),
            ("A_KEY", "B_KEY"),
        ),
        (("model_providers.x={env_http_headers={X='H_KEY'}}",), ("H_KEY",)),
        (("model_verbosity=low", "x=1"), ()),
    ],
)
def test_provider_keys_are_found(values: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert provider_variables(values) == names


def launcher(base: Path) -> Launcher:
    return Launcher(
        binary=base / "codex",
        codex_home=base / "home",
        extra_config=("model_providers.x={name='x',env_key='A_KEY'}",),
        environment={
            "A_KEY": "key",
            "GITHUB_TOKEN": "token",
            "TZ": "Asia/Tokyo",
            "https_proxy": "http://user:pw@proxy",
            "HTTP_PROXY": "http://proxy",
            "LD_PRELOAD": "x",
        },
        tool_path="/bin",
    )


def order(base: Path, **changes: object) -> AgentOrder:
    fields: dict[str, object] = {
        "run_directory": base / "ai/state/o/a/issue-1/1",
        "role": "worker",
        "confinement": confinement(base),
        "model": "m",
        "effort": "high",
        "timeout_s": 1,
        "silence_s": None,
        "prompt": "p",
    }
    return AgentOrder.model_validate({**fields, **changes})


def test_only_codex_itself_gets_the_providers_key(tmp_path: Path) -> None:
    given_order = order(tmp_path)
    places = Places(run=given_order.run_directory, scratch=given_order.confinement.scratch)
    started = launcher(tmp_path).agent(given_order, places)
    assert started.environment["A_KEY"] == "key"
    assert started.environment["TZ"] == "Asia/Tokyo"
    assert not {"GITHUB_TOKEN", "LD_PRELOAD"} & started.environment.keys()
    assert started.environment["HOME"] == str(places.private)
    assert "key" not in started.argv
    networked = given_order.confinement.model_copy(update={"network": True})
    command = launcher(tmp_path).command(networked, places, "true")
    assert "A_KEY" not in command.environment
    inner = command.argv[command.argv.index("--") :]
    assert "HTTP_PROXY=http://proxy" in inner
    assert not [part for part in inner if "pw@" in part or part.startswith("A_KEY")]


def test_the_policy_stands_behind_what_the_user_configured(tmp_path: Path) -> None:
    given_order = order(tmp_path)
    places = Places(run=given_order.run_directory, scratch=given_order.confinement.scratch)
    argv = launcher(tmp_path).agent(given_order, places).argv
    values = [argv[at + 1] for at, part in enumerate(argv) if part == "-c"]
    assert values[0].startswith("model_providers.x=")
    assert "-s" not in argv
    assert {"--ignore-user-config", "--ignore-rules", "--strict-config"} <= set(argv)
    assert argv[-1] == "-"


def test_only_a_real_thread_is_resumed(tmp_path: Path) -> None:
    thread = "01a22edb-91ae-7912-a02e-1a3018003713"
    places = Places(run=tmp_path, scratch=tmp_path / "s")
    known = launcher(tmp_path).agent(order(tmp_path, thread=thread), places).argv
    assert known[-3:] == ("resume", thread, "-")
    odd = launcher(tmp_path).agent(order(tmp_path, thread="--last"), places).argv
    assert "resume" not in odd
    assert "--last" not in odd


def test_a_login_inside_a_run_directory_is_refused(tmp_path: Path) -> None:
    given_order = order(tmp_path)
    places = Places(run=tmp_path / "r", scratch=given_order.confinement.scratch)
    inside = Launcher(
        binary=tmp_path / "codex",
        codex_home=places.private / "home",
        extra_config=(),
        environment={},
        tool_path="/bin",
    )
    with pytest.raises(AgentError, match="choose another folder"):
        inside.agent(given_order, places)
