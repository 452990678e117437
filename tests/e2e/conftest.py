"""Fixtures of the end-to-end tests: a host with one private repository."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from controller.demo.model import Scenario, Script, ScriptedModel
from tests.e2e.host import FILES, REPO, Host
from tests.openapi.judged import judged

type MakeHost = Callable[..., Host]


@pytest.fixture
def make_host(tmp_path: Path) -> Iterator[MakeHost]:
    """Make a host whose model follows these scenarios."""
    with ExitStack() as stack:

        def make(*scenarios: Scenario) -> Host:
            github = stack.enter_context(judged(tmp_path / "github"))
            model = stack.enter_context(ScriptedModel(Script(scenarios=scenarios)))
            world = github.world
            world.add_user("octo", token="octo-token")
            world.add_user("toban-bot", token="toban-token-canary")
            world.add_repo(REPO, files=FILES, private=True, collaborators={"toban-bot": "write"})
            return Host(tmp_path, github, model)

        yield make
