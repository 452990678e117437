"""The documentation says what the code says: tables, names, links, commands, examples."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args

import pytest
import typer

from controller.cli import exits
from controller.cli.app import app
from controller.config import load_config
from controller.config.sections import REWORKS
from controller.demo.story import stories
from controller.domain.outcome import Result
from controller.domain.reasons import Reason
from controller.runtime.apply_agent import DIFF_LIMIT
from controller.runtime.rest import LASTING
from controller.runtime.tick import FOR_ALL
from controller.workloads.issues.labels import LABELS
from controller.workloads.issues.prompts import MAX_INLINE_DIFF
from controller.workloads.issues.visible import MAX_TEXT
from tests import docs
from tests.docs_config import MISSING

ROOT = docs.ROOT
READMES = ("README.md", "README.ja.md")
PAGES = tuple(
    str(path.relative_to(ROOT))
    for path in sorted([*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")])
)
NOT_YET = {"serve", "gate", "queue"}
"""Commands that a page may name only to say that they do not exist yet."""


def read(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def plain(page: str) -> str:
    """The page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```$", "", read(page), flags=re.DOTALL | re.MULTILINE)


def blocks(page: str, language: str = "[a-z]*") -> list[str]:
    pattern = rf"^( *)```(?:{language})\n(.*?)^ *```$"
    return [
        re.sub(rf"(?m)^{found[1]}", "", found[2])
        for found in re.finditer(pattern, read(page), re.DOTALL | re.MULTILINE)
    ]


def rows(page: str) -> Iterator[list[str]]:
    for line in plain(page).splitlines():
        if line.lstrip().startswith("|"):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]


@pytest.mark.parametrize("file", sorted({block.file for block in docs.BLOCKS}))
def test_tables_say_what_the_code_says(file: str) -> None:
    assert read(f"docs/{file}") == docs.fresh(file), "run: python -m tests.docs"


def test_every_key_is_described() -> None:
    assert MISSING not in read("docs/configuration.md")


def test_every_result_is_explained() -> None:
    explained = {row[0].strip("`") for row in rows("docs/planning.md")}
    assert set(get_args(Result.__value__)) <= explained


def test_every_exit_code_is_listed() -> None:
    known = {
        value for name, value in vars(exits).items() if name.isupper() and isinstance(value, int)
    }
    _, _, section = plain("docs/planning.md").partition("## Exit codes")
    assert {str(code) for code in known} <= set(re.findall(r"\b[0-9]+\b", section))


def test_every_field_of_the_json_is_explained() -> None:
    explained = " ".join(row[0] for row in rows("docs/planning.md"))
    (document,) = (json.loads(block) for block in blocks("docs/planning.md", "json"))
    fields = {
        *document,
        *(key for name in ("actions", "holds") for key in document[name][0]),
    }
    assert {field for field in fields if not re.search(rf"\b{field}\b", explained)} == set()


def _rooms() -> list[str]:
    """Every module and package of ours that a newcomer meets first."""
    top = [*(ROOT / "controller").iterdir()]
    inner = [
        child
        for room in ("adapters", "workloads", "demo")
        for child in (ROOT / "controller" / room).iterdir()
        if room == "adapters" or child.is_dir()
    ]
    return sorted(
        path.name
        for path in (*top, *inner)
        if not path.name.startswith((".", "__pycache__", "__init__")) and path.name != "py.typed"
    )


def test_every_room_is_named() -> None:
    words = set(re.findall(r"[\w.]+", read("docs/architecture.md")))
    assert [room for room in _rooms() if room not in words] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_is_named_exists(page: str) -> None:
    named = re.findall(r"`((?:controller|tests|docs)/[\w./*-]*)`", plain(page))
    assert [name for name in named if not list(ROOT.glob(name.rstrip("/")))] == []


def _anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", plain(page)):
        if re.match(r"https?:", target):
            continue
        name, _, anchor = target.partition("#")
        place = (ROOT / page).parent / name if name else ROOT / page
        if not place.exists() or (anchor and anchor not in _anchors(place)):
            broken.append(target)
    assert broken == []


def _commands() -> set[str]:
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    return set(group.commands)


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_is_named_exists(page: str) -> None:
    named = set(re.findall(r"(?:`|/bin/)toban ([a-z][a-z-]+)", read(page)))
    assert named - _commands() - NOT_YET == set()


def test_the_contract_lists_every_command() -> None:
    first = (row[0] for row in rows("docs/interface.md"))
    listed = {match[1] for cell in first if (match := re.match(r"`toban ([a-z-]+)", cell))}
    assert listed == _commands()


def test_every_label_is_explained() -> None:
    labels = [look.name for look in LABELS]
    for page in READMES:
        listed = [row[0].strip("`") for row in rows(page) if row[0].startswith("`")]
        assert listed == labels


def test_the_demo_is_told_as_it_is() -> None:
    told = [story.title for story in stories()]
    for page in READMES:
        assert [row[0] for row in rows(page) if row[0] in told] == told


@pytest.mark.parametrize("page", [*READMES, "docs/configuration.md"])
def test_examples_of_the_configuration_are_accepted(page: str, tmp_path: Path) -> None:
    (example,) = blocks(page, "toml")
    place = tmp_path / "config.toml"
    place.write_text(example, encoding="utf-8")
    config = load_config(place, {"HOME": str(tmp_path)})
    assert config.github is not None


def _outline(page: str) -> tuple[list[int], list[int], list[str]]:
    heads = [len(marks) for marks in re.findall(r"^(#+) ", plain(page), re.MULTILINE)]
    links = re.findall(r"\]\(([^)]+)\)", plain(page))
    return heads, [len(row) for row in rows(page)], [each for each in links if each not in READMES]


def _uncommented(page: str) -> list[str]:
    return [re.sub(r"(?m) *#.*$", "", block) for block in blocks(page)]


@pytest.mark.parametrize("look", [_outline, _uncommented], ids=["outline", "code"])
def test_both_languages_say_the_same(look: Callable[[str], object]) -> None:
    english, japanese = map(look, READMES)
    assert english == japanese


def _cited(pattern: str) -> dict[str, str]:
    """Numbers that comments and docstrings cite, and where."""
    found = {}
    for path in sorted((ROOT / "controller").rglob("*.py")):
        for numbers in re.findall(pattern, path.read_text("utf-8")):
            for number in re.findall("[0-9]+", numbers):
                found[number] = str(path.relative_to(ROOT))
    return found


def test_every_decision_that_is_cited_exists() -> None:
    known = set(re.findall(r"^([0-9]+)\. \*\*", read("docs/decisions.md"), re.MULTILINE))
    cited = _cited(r"decisions ([0-9]+(?:, [0-9]+)*)")
    assert {number: where for number, where in cited.items() if number not in known} == {}


def test_every_section_of_the_contract_that_is_cited_exists() -> None:
    known = set(re.findall(r"^## ([0-9]+)\. ", read("docs/interface.md"), re.MULTILINE))
    cited = _cited(r"interface\.md section ([0-9]+)")
    assert {number: where for number, where in cited.items() if number not in known} == {}


def test_records_of_decisions_have_one_shape() -> None:
    pages = [page for page in PAGES if page.startswith("docs/adr/")]
    numbers = [int(Path(page).name[:4]) for page in pages]
    assert numbers == list(range(1, len(pages) + 1))
    for page in pages:
        text = read(page)
        heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert heads == ["Example", "Alternatives", "Price"], page
        assert len(text.split()) <= 700, f"{page}: one page"


@pytest.mark.parametrize(
    ("page", "listed"),
    [("docs/planning.md", FOR_ALL), ("docs/adr/0006-rest-notes.md", LASTING)],
    ids=["ends a tick", "may rest"],
)
def test_a_closed_list_in_the_text_is_the_code_s(page: str, listed: frozenset[Reason]) -> None:
    sentences = re.split(r"(?<=\.)\s", plain(page))
    lists = [set(re.findall(r"`([A-Z]\w+)`", sentence)) for sentence in sentences]
    assert {str(reason) for reason in listed} in lists


def test_numbers_in_the_text_are_those_of_the_code() -> None:
    limits = " ".join(read("docs/limits.md").split())
    for number in (MAX_TEXT, MAX_INLINE_DIFF):
        assert f"{number:,} characters" in limits
    assert f"{DIFF_LIMIT // 1_000_000} MB" in limits
    for page in READMES:
        row = next(row for row in rows(page) if row[0] == "toban")
        assert row[5].startswith(str(len(REWORKS)))
