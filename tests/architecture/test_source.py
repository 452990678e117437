"""The shape of the source: length, banned habits, and nothing of the machine it was written on."""

import ast
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST_MODULE = 400
EXPLAINED_MODULE = 300
LONGEST_FUNCTION = 60
LONG_FUNCTIONS = 0.01
"""Share of functions that may be longer."""


def _sources(*folders: str) -> tuple[Path, ...]:
    return tuple(sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py")))


def _names(*folders: str) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in _sources(*folders)]


def _tree(name: str) -> ast.Module:
    return ast.parse((ROOT / name).read_text("utf-8"), filename=name)


def _imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Absolute names of everything imported, wherever it stands."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((alias.name, node.lineno) for alias in names)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                yield from ((f"{module}.{alias.name}", node.lineno) for alias in names)
            case _:
                continue


def _calls(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node.lineno


def test_modules_stay_short() -> None:
    lengths = {
        name: len((ROOT / name).read_text("utf-8").splitlines()) for name in _names("controller")
    }
    adrs = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "docs/adr").glob("*.md")))
    too_long = [f"{name}: {lines}" for name, lines in lengths.items() if lines > LONGEST_MODULE]
    unexplained = [
        f"{name}: {lines}"
        for name, lines in lengths.items()
        if EXPLAINED_MODULE < lines <= LONGEST_MODULE and name not in adrs
    ]
    assert too_long == [], f"more than {LONGEST_MODULE} lines: split them"
    assert unexplained == [], f"more than {EXPLAINED_MODULE} lines: docs/adr must say why, by path"


def test_functions_stay_short() -> None:
    functions = [
        (f"{name}:{node.lineno} {node.name}", (node.end_lineno or node.lineno) - node.lineno + 1)
        for name in _names("controller")
        for node in ast.walk(_tree(name))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    long = [f"{place}: {lines}" for place, lines in functions if lines > LONGEST_FUNCTION]
    assert len(long) <= LONG_FUNCTIONS * len(functions), long


@pytest.mark.parametrize("name", _names("controller", "tests"))
def test_a_module_says_where_it_is(name: str) -> None:
    tree = _tree(name)
    assert not tree.body or ast.get_docstring(tree), "every module begins with its docstring"


@pytest.mark.parametrize("name", _names("tests"))
def test_tests_neither_mock_nor_sleep(name: str) -> None:
    tree = _tree(name)
    mocks = [
        f"line {line}: {imported}"
        for imported, line in _imports(tree)
        if re.match(r"(unittest\.mock|mock|pytest_mock|responses|requests_mock)(\.|$)", imported)
    ]
    sleeps = [
        f"line {line}: {called}"
        for called, line in _calls(tree)
        if re.search(r"(^|\.)(sleep|usleep)$", called)
    ]
    patches = [
        f"line {line}: {called}"
        for called, line in _calls(tree)
        if re.search(r"(^|\.)monkeypatch\.setattr$|(^|\.)mocker\.", called)
    ]
    assert mocks == []
    assert sleeps == [], "wait for the event itself, not for a time"
    assert patches == [], "hand a fake in through the port"


WAITS = "controller/adapters/clock.py"
"""The adapter of the clock's port: whoever waits does it through the port, where tests see it."""


@pytest.mark.parametrize("name", sorted({*_names("controller")} - {WAITS}))
def test_only_the_clock_waits(name: str) -> None:
    """A retry is the next tick: nothing else in the product sleeps."""
    sleeps = [
        f"line {line}: {called}"
        for called, line in _calls(_tree(name))
        if called in {"time.sleep", "sleep"}
    ]
    assert sleeps == []


@pytest.mark.parametrize("name", _names("controller"))
def test_text_files_name_their_encoding(name: str) -> None:
    """A host without a UTF-8 locale must read and write Japanese all the same."""
    modes = []
    for node in ast.walk(_tree(name)):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        given = {keyword.arg for keyword in node.keywords}
        if called.endswith((".read_text", ".write_text")) and "encoding" not in given:
            place = 0 if called.endswith(".read_text") else 1
            if len(node.args) <= place:
                modes.append(f"line {node.lineno}: {called}")
    assert modes == []


def test_the_gate_needs_nothing_but_python() -> None:
    """It is installed outside the checkout, where neither toban nor its libraries are."""
    foreign = [
        f"{name}:{line} {imported}"
        for name in _names("controller/gate")
        for imported, line in _imports(_tree(name))
        if imported.partition(".")[0] not in sys.stdlib_module_names
        and not imported.startswith("controller.gate")
    ]
    assert foreign == []


def _tracked() -> list[str]:
    done = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    names = os.fsdecode(done.stdout).split("\0")
    return [name for name in names if name and (ROOT / name).is_file()]


# Written in pieces so that this file does not contain what it looks for.
THIS_MACHINE = re.compile(r"(?:^|[^A-Za-z0-9_.-])/(?:wor" + r"k|far" + r"m|root/\.pyenv)(?:/|$)")


def test_no_name_of_the_machine_it_was_written_on() -> None:
    found = []
    for name in _tracked():
        content = (ROOT / name).read_bytes()
        if b"\0" in content or name == "uv.lock":
            continue
        for number, line in enumerate(content.decode(errors="replace").splitlines(), start=1):
            if THIS_MACHINE.search(line):
                found.append(f"{name}:{number}: {line.strip()[:100]}")
    assert found == []


def test_every_exception_to_a_rule_gives_its_reason() -> None:
    """`noqa` and `type: ignore` name their rule, and a comment says why."""
    bare = []
    for path in _sources("controller", "tests"):
        with path.open("rb") as file:
            comments = [
                (token.start[0], token.string)
                for token in tokenize.tokenize(file.readline)
                if token.type == tokenize.COMMENT
            ]
        for number, comment in comments:
            match = re.search(
                r"# (?:noqa: [A-Z]+[0-9]+(?:, ?[A-Z]+[0-9]+)*|type: ignore\[[\w, -]+\])(.*)",
                comment,
            )
            if match and not re.match(r"\s*(-|#|–)\s*\S", match[1]):
                bare.append(f"{path.relative_to(ROOT)}:{number}: {comment}")
    assert bare == []


def test_no_unfinished_work() -> None:
    words = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X")) + r")\b")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in _sources("controller", "tests")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if words.search(line) or "NotImplemented" + "Error" in line
    ]
    assert found == []
