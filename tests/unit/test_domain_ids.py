"""Identities and the names derived from them; what is no identity is refused with a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from controller.domain.ids import IssueId, Repository


def test_names_follow_from_repository_and_number() -> None:
    item = IssueId.parse("Octo/App.js#58")
    assert item.branch == "agent/issue-58"
    assert item.folder == "Octo/App.js/issue-58"
    assert item.key == "octo/app.js#58"
    assert str(item) == "Octo/App.js#58"
    assert item.key == IssueId.parse("octo/app.JS#58").key


@pytest.mark.parametrize(
    "text",
    [
        "octo",
        "octo/",
        "/app",
        "octo/..",
        "octo/.",
        "octo/app.git",
        "-octo/app",
        "octo/a b",
        "octo/app\n",
        "o.c/app",
        "octo/app/more",
        "八/app",
        "octo/" + "a" * 101,
    ],
)
def test_no_repository(text: str) -> None:
    with pytest.raises(ValueError, match=r"repository|owner"):
        Repository.parse(text)


@pytest.mark.parametrize(
    "text", ["octo/app", "octo/app#", "octo/app#x", "octo/app#0", "octo/app#１"]
)
def test_no_item(text: str) -> None:
    with pytest.raises((ValueError, ValidationError)):
        IssueId.parse(text)


@given(st.text())
def test_a_name_never_leaves_its_folder(text: str) -> None:
    try:
        item = IssueId(repository=Repository.parse(text), number=1)
    except ValueError:
        return
    assert len(item.folder.split("/")) == 3
    assert not {".", ".."} & set(item.folder.split("/"))
