"""A stand-in for tests whose every REST exchange is judged by GitHub's OpenAPI description.

``with judged(tmp_path) as github: ...`` is `Standin` with a checker; leaving the block fails for
each exchange that the description does not allow and no waiver explains.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controller.demo.standin import Standin
from tests.openapi.checker import Checker, verdict
from tests.openapi.waivers import WAIVERS


@contextmanager
def judged(root: Path) -> Iterator[Standin]:
    """A started stand-in; AssertionError at the end for what GitHub would not have said."""
    checker = Checker()
    with Standin(root, checker=checker) as github:
        yield github
    lines = verdict(checker, WAIVERS, whole=False)
    assert not lines, "not as GitHub describes it:\n" + "\n".join(lines)
