"""A GitHub on loopback: REST API, a little GraphQL, git over HTTP and pages, from one process.

For tests, the demo and benchmarks; never for anything that other machines can reach. It is made to
get right what an unattended agent must survive, and to be checked by others than itself: git
computes heads, files, commits and mergeability, GitHub's OpenAPI description judges the exchanges
in the tests, GitHub's own GraphQL schema refuses wrong fields.

Use in Python::

    with Standin(tmp_path) as github:                 # 127.0.0.1, a free port
        world = github.world
        world.add_user("octo", token="t")             # one classic token each
        world.add_repo("octo/app", files={"README.md": "hello"}, private=True)
        number = world.create_issue("octo/app", "Title", "Text").number
        world.add_label("octo/app", number, "agent:ready", by="octo")
        world.add_fault(Fault(method="POST", path=r".*/comments", status=502, after_effect=True))
        ... point a client at github.url and git at f"{github.url}/octo/app.git" ...
        assert world.labels("octo/app", number) == ["agent:ready"]
        assert all(push.fast_forward for push in world.pushes())

`World` has all that a test does as other people (edit, comment, merge, push, rename ...), the
clock, the faults, the request log and the push log; permissions are not checked there. `Fault`
describes how to spoil requests. The same methods stand under ``POST /_control/METHOD`` as JSON. As
a process: ``python -m controller.demo.standin --root DIR [--port N] [--port-file F] [--seed F]``.

What it does not have: forks, teams and organisation membership, milestones, reactions, inline
review comments, branch protection, webhooks, search. It speaks API version 2022-11-28 alone.
"""

from controller.demo.standin.faults import Fault
from controller.demo.standin.server import Standin
from controller.demo.standin.world import World

__all__ = ["Fault", "Standin", "World"]
