"""Rebuild ``tests/data/github-openapi.json.gz`` from the npm package ``@octokit/openapi``.

Run by hand when the pinned version changes: ``python -m tests.openapi.build_subset``. Needs npm and
its registry; nothing else in the project does. Never run by the tests, which read the result.

Four normalisations make the description usable with a JSON Schema validator; the first three were
forced by real recorded answers of GitHub, and each only widens what is accepted:

* N1: ``nullable: true`` beside an ``enum`` without null means null is allowed.
* N2: the alternatives of ``oneOf`` overlap, so it is read as ``anyOf``.
* N3: ``nullable: true`` beside ``anyOf`` and without ``type`` allows null as well.
* N4: a discriminator whose mapping has "array" (folders of the contents API) cannot be followed,
  since a list has no property; the alternatives alone decide.
"""

import gzip
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.openapi.paths import PATHS

type Json = dict[str, Json] | list[Json] | str | int | float | bool | None

PACKAGE = "@octokit/openapi"
VERSION = "23.0.2"
DATA = Path(__file__).parent.parent / "data"
SUBSET = DATA / "github-openapi.json.gz"
NOTICE = DATA / "github-openapi.NOTICE"

_NEVER = frozenset({"x-octokit", "x-github", "externalDocs"})
_EXAMPLES = frozenset({"example", "examples"})
_PROSE = frozenset({"description", "summary", "tags"})


def download(folder: Path) -> tuple[dict[str, Any], str]:
    """The description and the licence text of the pinned package, fetched into `folder`."""
    packed = subprocess.run(
        ["npm", "pack", "--silent", f"{PACKAGE}@{VERSION}"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    with tarfile.open(folder / packed.stdout.strip().splitlines()[-1]) as archive:
        return (
            json.loads(_member(archive, "package/generated/api.github.com.json")),
            _member(archive, "package/LICENSE").decode(),
        )


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    stream = archive.extractfile(name)
    if stream is None:
        message = f"{name}: not a regular file in {PACKAGE}@{VERSION}"
        raise ValueError(message)
    return stream.read()


def build(spec: dict[str, Any]) -> dict[str, Any]:
    """The subset: the wanted paths and every component they reach, stripped and normalised."""
    missing = [path for path in PATHS if path not in spec["paths"]]
    if missing:
        message = f"{PACKAGE}@{VERSION} does not describe: {', '.join(missing)}"
        raise ValueError(message)
    paths = {path: stripped(spec["paths"][path]) for path in PATHS}
    components: dict[str, dict[str, Any]] = {}
    todo = set(references(paths))
    done: set[str] = set()
    while todo:
        reference = todo.pop()
        done.add(reference)
        _, _, kind, name = reference.split("/", 3)
        node = stripped(spec["components"][kind][name])
        components.setdefault(kind, {})[name] = node
        todo |= set(references(node)) - done
    subset = {
        "openapi": spec["openapi"],
        "info": {"title": spec["info"]["title"], "version": spec["info"]["version"]},
        "paths": paths,
        "components": components,
    }
    normalise(subset)
    return subset


def references(node: Json) -> Iterator[str]:
    """Every ``$ref`` below `node`."""
    match node:
        case dict():
            for key, value in node.items():
                if key == "$ref" and isinstance(value, str):
                    yield value
                else:
                    yield from references(value)
        case list():
            for value in node:
                yield from references(value)
        case _:
            return


def stripped(node: Any) -> Any:
    """`node` without prose and examples; a schema *property* of such a name stays."""
    match node:
        case dict():
            return {key: stripped(value) for key, value in node.items() if not _prose(key, value)}
        case list():
            return [stripped(value) for value in node]
        case _:
            return node


def _prose(key: str, value: Json) -> bool:
    if key in _NEVER:
        return True
    if key in _EXAMPLES:
        return not (isinstance(value, dict) and "type" in value)
    return key in _PROSE and not isinstance(value, dict)


def normalise(node: Any) -> None:
    """Apply N1 to N4 in place."""
    if isinstance(node, list):
        for value in node:
            normalise(value)
    if not isinstance(node, dict):
        return
    if isinstance(node.get("oneOf"), list) and "anyOf" not in node:
        node["anyOf"] = node.pop("oneOf")
    if node.get("nullable") is True:
        if isinstance(node.get("enum"), list) and None not in node["enum"]:
            node["enum"].append(None)
        if isinstance(node.get("anyOf"), list) and "type" not in node:
            node["anyOf"].append({"enum": [None], "nullable": True})
    if "array" in node.get("discriminator", {}).get("mapping", {}):
        del node["discriminator"]
    for value in node.values():
        normalise(value)


def main() -> None:
    """Download, build and write the subset and its licence notice."""
    with tempfile.TemporaryDirectory() as folder:
        spec, licence = download(Path(folder))
    text = json.dumps(build(spec), separators=(",", ":"), sort_keys=True)
    SUBSET.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))
    NOTICE.write_text(
        f"{SUBSET.name} is a subset of {PACKAGE} {VERSION} (npm), GitHub's OpenAPI description,\n"
        "normalised by tests/openapi/build_subset.py. It is used under this licence:\n\n" + licence
    )


if __name__ == "__main__":
    main()
