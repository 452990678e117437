"""Rebuild the stand-in's GraphQL schema from the npm package ``@octokit/graphql-schema``.

Run by hand when the pinned version changes: ``python -m tests.openapi.build_schema``. Needs npm and
its registry. The subset keeps GitHub's own definitions of the fields below, word for word without
their descriptions, so that a misspelt field or a wrong argument fails as it would there.
"""

import subprocess
import tarfile
import tempfile
from pathlib import Path

from graphql import (
    DefinitionNode,
    DocumentNode,
    FieldDefinitionNode,
    InputValueDefinitionNode,
    InterfaceTypeDefinitionNode,
    NamedTypeNode,
    ObjectTypeDefinitionNode,
    ScalarTypeDefinitionNode,
    build_schema,
    parse,
    print_ast,
)

PACKAGE = "@octokit/graphql-schema"
VERSION = "15.26.1"
TARGET = Path(__file__).parents[2] / "controller" / "demo" / "standin" / "schema.graphql"
KEEP: dict[str, tuple[str, ...]] = {
    "Query": ("repository", "viewer"),
    "Actor": ("login",),
    "Bot": ("databaseId", "login"),
    "Issue": (
        "author",
        "body",
        "createdAt",
        "databaseId",
        "editor",
        "includesCreatedEdit",
        "lastEditedAt",
        "number",
        "title",
        "updatedAt",
        "userContentEdits",
    ),
    "PageInfo": ("endCursor", "hasNextPage", "hasPreviousPage", "startCursor"),
    "Repository": ("databaseId", "issue", "nameWithOwner"),
    "User": ("databaseId", "login"),
    "UserContentEdit": ("createdAt", "diff", "editedAt", "editor", "updatedAt"),
    "UserContentEditConnection": ("nodes", "pageInfo", "totalCount"),
}
SCALARS = frozenset({"DateTime"})


def download(folder: Path) -> tuple[str, str]:
    """The schema and the licence text of the pinned package, fetched into `folder`."""
    packed = subprocess.run(
        ["npm", "pack", "--silent", f"{PACKAGE}@{VERSION}"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    with tarfile.open(folder / packed.stdout.strip().splitlines()[-1]) as archive:
        archive.extractall(folder, filter="data")
    package = folder / "package"
    return (package / "schema.graphql").read_text(), (package / "LICENSE.md").read_text()


def subset(sdl: str) -> str:
    """The wanted types with the wanted fields, and the interfaces that are kept too."""
    kept = [it for node in parse(sdl).definitions if (it := _kept(node)) is not None]
    found = {node.name.value for node in kept}
    missing = (set(KEEP) | SCALARS) - found
    if missing:
        message = f"{PACKAGE}@{VERSION} does not define: {', '.join(sorted(missing))}"
        raise ValueError(message)
    kept.sort(key=lambda node: node.name.value)
    text = print_ast(DocumentNode(definitions=tuple(kept)))
    build_schema(text)
    return text + "\n"


type _Kept = ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode | ScalarTypeDefinitionNode


def _kept(node: DefinitionNode) -> _Kept | None:
    match node:
        case ScalarTypeDefinitionNode() if node.name.value in SCALARS:
            return ScalarTypeDefinitionNode(name=node.name)
        case ObjectTypeDefinitionNode() if node.name.value in KEEP:
            return ObjectTypeDefinitionNode(
                name=node.name, fields=_fields(node), interfaces=_interfaces(node)
            )
        case InterfaceTypeDefinitionNode() if node.name.value in KEEP:
            return InterfaceTypeDefinitionNode(name=node.name, fields=_fields(node))
        case _:
            return None


def _interfaces(node: ObjectTypeDefinitionNode) -> tuple[NamedTypeNode, ...]:
    return tuple(it for it in node.interfaces or () if it.name.value in KEEP)


def _fields(
    node: ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode,
) -> tuple[FieldDefinitionNode, ...]:
    wanted = KEEP[node.name.value]
    fields = tuple(it for it in node.fields or () if it.name.value in wanted)
    missing = set(wanted) - {it.name.value for it in fields}
    if missing:
        message = f"{node.name.value} has no field {', '.join(sorted(missing))}"
        raise ValueError(message)
    return tuple(_plain(it) for it in fields)


def _plain(node: FieldDefinitionNode) -> FieldDefinitionNode:
    """A field without description, directives or descriptions of its arguments."""
    arguments = tuple(
        InputValueDefinitionNode(name=it.name, type=it.type, default_value=it.default_value)
        for it in node.arguments or ()
    )
    return FieldDefinitionNode(name=node.name, type=node.type, arguments=arguments)


def main() -> None:
    """Download, cut down and write the schema with its licence notice."""
    with tempfile.TemporaryDirectory() as folder:
        sdl, licence = download(Path(folder))
    notice = (
        f"A subset of {PACKAGE} {VERSION} (npm), GitHub's GraphQL schema, made by\n"
        "tests/openapi/build_schema.py and used under this licence:\n\n" + licence
    )
    head = "\n".join(f"# {line}".rstrip() for line in notice.splitlines())
    TARGET.write_text(f"{head}\n\n{subset(sdl)}")


if __name__ == "__main__":
    main()
