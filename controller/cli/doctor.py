"""`toban doctor`: check everything that toban stands on, each by itself, and say how to mend it.

Called by `controller.cli.app`, and with `--self` by the self-update gate before it trusts a new
checkout. Writes only below `<root>/state/doctor`, and only for the sandbox to be tried there.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import controller
from controller import bootstrap
from controller.cli import exits
from controller.cli.run_once import WORKLOAD
from controller.cli.screen import Screen, show_json
from controller.cli.session import foreign_root
from controller.config import Config, load_config, secret_paths
from controller.config.policy import policy
from controller.config.sections import GitHub
from controller.domain.checkup import Finding, fail, ok, warn
from controller.domain.ids import Repository
from controller.errors import ConfigError
from controller.render.doctor import doctor_document, finding_lines, summary_lines
from controller.runtime import doctor_forge, doctor_host
from controller.runtime.doctor import Check, examine


def doctor(path: Path | None, *, own: bool, as_json: bool) -> int:
    """Run the command; `own` leaves out what needs a network or an account."""
    screen = None if as_json else Screen()
    findings = []
    for finding in examine(_checks(path, own=own)):
        findings.append(finding)
        if screen is not None:
            screen.show(finding_lines(finding))
    if screen is None:
        show_json(doctor_document(findings))
    else:
        screen.show(summary_lines(findings))
    return exits.FAILED if any(each.level == "fail" for each in findings) else exits.OK


def _checks(path: Path | None, *, own: bool) -> Iterator[Check]:
    """What needs no configuration first; without one there is nothing more to ask."""
    if own:
        yield Check("program", lambda: doctor_host.check_program(controller, without=DEMO))
    yield Check("git", doctor_host.check_git)
    try:
        config = load_config(path, os.environ)
    except ConfigError as error:
        sentence = str(error)
        yield Check("config", lambda: [fail("config", sentence, "correct it, or use `toban init`")])
        return
    yield Check("config", lambda: _config(config))
    yield from _host(config)
    if not own:
        yield from _shared(config)


DEMO = "controller.demo"


def _config(config: Config) -> Iterator[Finding]:
    for warning in config.warnings:
        yield warn("config", warning, "see the message")
    if not config.warnings:
        yield ok("config", str(config.path))


def _host(config: Config) -> Iterator[Check]:
    """The machine alone: neither network nor account."""
    agent, root = config.agent, config.paths.root
    own_provider = any(entry.startswith("model_provider") for entry in agent.codex_config)
    yield Check(
        "codex",
        lambda: doctor_host.check_codex(
            bootstrap.codex_binary(config), agent.codex_home, own_provider=own_provider
        ),
    )
    refusal = foreign_root(root)
    if refusal is not None:
        yield Check("root", lambda: [fail("root", refusal, "run toban as that user")])
        return
    yield Check("root", lambda: doctor_host.check_root(root))
    yield Check(
        "sandbox",
        lambda: doctor_host.check_sandbox(bootstrap.agents(config), root, secret_paths(config)),
    )


def _shared(config: Config) -> Iterator[Check]:
    """What can be short or missing although the program itself is well."""
    meter, limits = bootstrap.host_meter(config), policy(config)
    yield Check("memory and disk", lambda: doctor_host.check_spare(meter, limits))
    yield Check("lock", lambda: doctor_host.check_lock(bootstrap.lock_reader(config), WORKLOAD))
    if config.github is not None:
        yield from _forge(config, config.github)
    orders = config.orders
    if orders is not None and orders.sender == "codex":
        yield Check("chrome", lambda: doctor_host.check_chrome(orders.chrome.url))


def _forge(config: Config, github: GitHub) -> Iterator[Check]:
    forge = bootstrap.checkup(config)
    named = [Repository.parse(name) for name in github.repositories]
    yield Check("api", lambda: doctor_forge.check_reach(forge, bootstrap.clock(), github.api_url))
    yield Check(
        "credential",
        lambda: doctor_forge.check_forge(forge, owner=github.owner, repositories=named),
    )
