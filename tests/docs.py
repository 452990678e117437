"""Tables of the documentation that come from the code: `python -m tests.docs` writes them anew.

Each stands between two comments in a file of docs/. Called by tests/architecture/test_docs.py,
which fails when a file differs from what the code says. Changes nothing outside of docs/.
"""

import ast
import inspect
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType, UnionType
from typing import NamedTuple, TypeAliasType, get_args

from pydantic import BaseModel

from controller.domain.actions import ACTIONS, Claim
from controller.domain.conditions import ItemStatus, standing
from controller.domain.ids import IssueId
from controller.domain.plan import Hold, Plan
from controller.domain.reasons import MEANINGS, Reason
from controller.domain.values import Unseen
from controller.planning.rules import name_of, sentence_of
from controller.ports import agents, checkup, forge, host, records, repository
from controller.render.plan_json import plan_document
from controller.render.status import status_document
from controller.workloads.issues import markers
from controller.workloads.issues.prompts import PLACEHOLDERS
from controller.workloads.issues.rules import RULES
from tests.docs_config import configuration

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


class Block(NamedTuple):
    """One table: the file it stands in, its name there, and what makes it."""

    file: str
    name: str
    make: Callable[[str], str]
    """Gets what stands there now, of which hand-written cells may be kept."""


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table; the cells' own bars are escaped, their line ends become blanks."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(each) for each in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def code(text: str) -> str:
    """A word as code; nothing for nothing."""
    return f"`{text}`" if text else ""


def codes(words: Iterable[str]) -> str:
    """Words as code, separated by commas."""
    return ", ".join(code(word) for word in words)


def doc(thing: object) -> str:
    """The whole docstring as one line."""
    return " ".join((inspect.getdoc(thing) or "").split())


def first_sentence(text: str) -> str:
    """Up to the first full stop, colon kept."""
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0]


class Says(NamedTuple):
    """What a rule may say, as its source shows it."""

    kinds: frozenset[str]
    reasons: frozenset[str]
    helpers: frozenset[str]


_KINDS = {each.__name__ for each in ACTIONS}


def _said(function: ast.FunctionDef) -> Says:
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    found = {
        str(Reason[node.attr])
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Reason"
    }
    kinds = (names & _KINDS) | ({"Block"} if "block" in names else set())
    return Says(frozenset(kinds), frozenset(found), frozenset(names))


def says(rule: Callable[..., object]) -> Says:
    """Kinds and codes that a rule's own function and its helpers in the same module name.

    A code that comes out of a record (what an import refused) is not among them.
    """
    module = inspect.getmodule(rule)
    assert module is not None
    functions = {
        node.name: _said(node)
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.FunctionDef) and node.name not in ("hold", "block")
    }
    todo, seen = [rule.__name__], set[str]()
    kinds, found = set[str](), set[str]()
    while todo:
        name = todo.pop()
        if name in seen or name not in functions:
            continue
        seen.add(name)
        said = functions[name]
        kinds |= said.kinds
        found |= said.reasons
        todo += said.helpers & functions.keys()
    return Says(frozenset(kinds), frozenset(found), frozenset(seen))


def rules(_: str) -> str:
    """The rules of an issue in their order."""
    order = {str(reason): at for at, reason in enumerate(Reason)}
    actions = [each.__name__ for each in ACTIONS]

    def row(at: int, rule: Callable[..., object], sentence: str, name: str) -> tuple[str, ...]:
        said = says(rule)
        module = (rule.__module__).rpartition(".")[2]
        return (
            str(at),
            name,
            sentence,
            codes(sorted(said.kinds, key=actions.index)),
            codes(sorted(said.reasons, key=lambda each: order[each])),
            code(f"{module}.py"),
        )

    return table(
        ("#", "condition", "what holds when it is satisfied", "acts", "codes", "in"),
        [row(at, rule, sentence_of(rule), name_of(rule)) for at, rule in enumerate(RULES, 1)],
    )


def actions(_: str) -> str:
    """Every kind of action."""
    return table(
        ("kind", "what it does", "key", "risk"),
        [
            (
                code(each.__name__),
                doc(each),
                code(_key(each)),
                str(each.model_fields["risk"].default),
            )
            for each in ACTIONS
        ],
    )


def _key(kind: type[BaseModel]) -> str:
    """The shape of an action's key, read from the property that makes it."""
    made = inspect.getattr_static(kind, "key").fget
    match = re.search(r'return f"(.*)"', inspect.getsource(made))
    assert match is not None, kind
    shape = match[1].replace("{self.kind}", kind.__name__).replace("self.", "")
    return shape.replace("{item.key}", "owner/repo#58")


def _groups() -> Iterator[tuple[str, list[Reason]]]:
    """The reasons under the comments that divide them in the source."""
    title, group = "", list[Reason]()
    for line in inspect.getsource(Reason).splitlines():
        comment = re.fullmatch(r"    # (.+)", line)
        member = re.match(r"    ([A-Z_]+) = ", line)
        if comment:
            if group:
                yield title, group
            title, group = comment[1], []
        elif member:
            group.append(Reason[member[1]])
    yield title, group


def meanings(_: str) -> str:
    """Every reason code with its meaning and advice, in the groups of the source."""
    return "\n\n".join(
        f"### {title[:1].upper()}{title[1:]}\n\n"
        + table(
            ("code", "meaning", "what to do", "condition"),
            [
                (code(each), MEANINGS[each].text, MEANINGS[each].advice, standing(each))
                for each in group
            ],
        )
        for title, group in _groups()
    )


def plan_json(_: str) -> str:
    """A document of `plan --json`."""
    first, second = (IssueId.parse(f"octo/repo-a#{number}") for number in (58, 59))
    claim = Claim(
        item=first,
        reason=Reason.READY_LABEL,
        message="octo put `agent:ready` on",
        epoch=17,
        digest="9f2c41d0",
        head=None,
    )
    waits = Hold(item=second, reason=Reason.WAITS_FOR_TURN, message=f"{first} goes first")
    down = Unseen(source="GET /repos/octo/repo-b/issues", reason="answered 502")
    return _json(plan_document(Plan(actions=(claim,), holds=(waits,), unseen=(down,))))


def status_json(_: str) -> str:
    """A document of `status --json`."""
    item = ItemStatus(
        item=IssueId.parse("octo/repo-a#58"),
        title="",
        phase="human-review",
        reason=Reason.WAITS_FOR_HUMAN,
        message=MEANINGS[Reason.WAITS_FOR_HUMAN].text,
        until=None,
        since=datetime(2026, 11, 30, 12, 0, tzinfo=UTC),
        pull=61,
        reworks=1,
        budget=2,
        agent=None,
    )
    return _json(status_document([item]))


def _json(document: object) -> str:
    return f"```json\n{json.dumps(document, indent=2, ensure_ascii=False)}\n```"


PORTS: tuple[ModuleType, ...] = (forge, repository, agents, records, host, checkup)


def ports(_: str) -> str:
    """Every port with its methods."""
    rows = []
    for module in PORTS:
        for name, port in inspect.getmembers(module, inspect.isclass):
            if port.__module__ != module.__name__ or not getattr(port, "_is_protocol", False):
                continue
            methods = [each for each in vars(port) if not each.startswith("_")]
            place = f"ports/{module.__name__.rpartition('.')[2]}.py"
            rows.append((code(name), first_sentence(doc(port)), codes(methods), code(place)))
    return table(("port", "what it is for", "methods", "in"), rows)


def durable(_: str) -> str:
    """Every record that is kept as a comment on GitHub."""
    alias: object = markers.Record
    union = alias.__value__ if isinstance(alias, TypeAliasType) else alias
    assert isinstance(union, UnionType)
    rows = []
    for record in get_args(union):
        fields = [
            name for name in record.model_fields if name not in ("v", "kind", "issue", "epoch")
        ]
        rows.append((code(record.model_fields["kind"].default), doc(record), codes(fields)))
    return table(("record", "what it says", "fields beside `v`, `kind`, `issue`, `epoch`"), rows)


def layers(_: str) -> str:
    """The rooms from top to bottom, as the import contract has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    found = next(each for each in contracts if each["id"] == "layers")["layers"]
    lines = "\n".join(layer.replace("(", "").replace(")", "") for layer in found)
    return f"```\n{lines}\n```"


def placeholders(_: str) -> str:
    """Every name that a prompt template may use."""
    return table(
        ("placeholder", "stands for"),
        [(code(name), each.help) for name, each in PLACEHOLDERS.items()],
    )


BLOCKS: tuple[Block, ...] = (
    Block("planning.md", "rules", rules),
    Block("planning.md", "actions", actions),
    Block("planning.md", "reasons", meanings),
    Block("planning.md", "plan-json", plan_json),
    Block("interface.md", "status-json", status_json),
    Block("architecture.md", "layers", layers),
    Block("architecture.md", "ports", ports),
    Block("architecture.md", "records", durable),
    Block("configuration.md", "placeholders", placeholders),
    Block("configuration.md", "keys", configuration),
)


def fresh(file: str) -> str:
    """The text of a file of docs/ with its tables made anew. Raises ValueError for a lost mark."""
    text = (DOCS / file).read_text("utf-8")
    for block in BLOCKS:
        if block.file == file:
            text = _replaced(text, block)
    return text


def _replaced(text: str, block: Block) -> str:
    begin, end = f"<!-- begin {block.name} -->\n", f"<!-- end {block.name} -->"
    before, mark, rest = text.partition(begin)
    old, closing, after = rest.partition(end)
    if not mark or not closing:
        raise ValueError(f"docs/{block.file}: expected {begin.strip()} and {end}")
    return f"{before}{begin}\n{block.make(old).strip()}\n\n{end}{after}"


def main() -> None:
    """Write every table anew."""
    for file in sorted({block.file for block in BLOCKS}):
        place, text = DOCS / file, fresh(file)
        if place.read_text("utf-8") != text:
            place.write_text(text, encoding="utf-8")
            print(f"docs/{file}")


if __name__ == "__main__":
    main()
