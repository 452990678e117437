"""Where the parts of one item lie below `paths.root` (interface.md section 1).

Used by runtime; adapters of git and records derive the same places from the same identity.
"""

from pathlib import Path

from controller.domain.ids import IssueId, Repository


def bare(root: Path, repository: Repository) -> Path:
    """The trusted bare repository; a sandboxed process may read it."""
    return root / "repos" / repository.owner / f"{repository.name}.git"


def worktree(root: Path, item: IssueId) -> Path:
    """The item's worktree."""
    return root / "worktrees" / item.folder


def state(root: Path, item: IssueId) -> Path:
    """The item's records; may be lost."""
    return root / "state" / item.folder


def checkout(root: Path, item: IssueId, purpose: str) -> Path:
    """A scratch checkout for the reviewer or for `verify`; made anew each time."""
    return root / "checkouts" / item.folder / purpose
