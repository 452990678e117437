"""The import contracts bite: each is broken by a line planted in a copy of the product."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PLANTED = {
    "a value looks up": (
        "domain/planted.py",
        "import controller.ports",
        "Rooms look only downwards",
    ),
    "a rule starts a process": (
        "planning/planted.py",
        "from subprocess import run",
        "Values and decisions do no I/O and ask no clock",
    ),
    "a workload reads files": (
        "workloads/issues/planted.py",
        "import pathlib",
        "Values and decisions do no I/O and ask no clock",
    ),
    "a workload calls an adapter": (
        "workloads/issues/planted.py",
        "import controller.adapters.planted",
        "Rooms look only downwards",
    ),
    "one workload knows the other": (
        "workloads/orders/planted.py",
        "import controller.workloads.issues",
        "Workloads never import each other",
    ),
    "one adapter knows another": (
        "adapters/planted.py",
        "import controller.adapters.git",
        "Adapters never import each other",
    ),
    "the shell names an adapter": (
        "runtime/planted.py",
        "import controller.adapters.git",
        "Rooms look only downwards",
    ),
    "the product uses the demo": (
        "runtime/planted.py",
        "import controller.demo",
        "Only its command imports the demo",
    ),
    "the configuration knows a room": (
        "config/planted.py",
        "import controller.planning",
        "Rooms look only downwards",
    ),
    "the shell reads the configuration": (
        "runtime/planted.py",
        "import controller.config",
        "Only bootstrap and cli know the configuration",
    ),
    "a room without a place": ("cellar.py", "", "Rooms look only downwards"),
}


def _contracts(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-logo", "--no-cache"],
        cwd=folder,
        check=False,
        text=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


@pytest.mark.parametrize(("file", "line", "contract"), PLANTED.values(), ids=PLANTED.keys())
def test_a_forbidden_import_is_found(tmp_path: Path, file: str, line: str, contract: str) -> None:
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "controller", tmp_path / "controller", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for room in ("adapters/git", "demo", "planning", "runtime", "workloads/orders"):
        package = tmp_path / "controller" / room
        package.mkdir(parents=True, exist_ok=True)
        for level in (package, *package.parents):
            if level == tmp_path:
                break
            (level / "__init__.py").touch()
    (tmp_path / "controller/adapters/planted.py").touch()
    planted = tmp_path / "controller" / file
    planted.write_text(f'"""Planted."""\n\n{line}\n', encoding="utf-8")

    result = _contracts(tmp_path)

    assert result.returncode != 0, result.stdout
    assert f"{contract} BROKEN" in result.stdout or "cellar" in result.stdout, result.stdout


def test_the_product_keeps_its_contracts() -> None:
    result = _contracts(ROOT)
    assert result.returncode == 0, result.stdout
