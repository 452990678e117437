"""Writing the one file that a command was asked for, whole or not at all."""

from pathlib import Path

from controller.domain.text import safe_text
from controller.errors import TobanError
from controller.files import write_synced


def write_result(path: Path, text: str) -> None:
    """Replace `path` by `text`, readable by its owner only. Raises TobanError."""
    name = safe_text(str(path), limit=400)
    if path.is_dir() or not path.parent.is_dir():
        raise TobanError(f"{name}: cannot be written: expected a file in a folder that exists")
    try:
        write_synced(path, text)
    except OSError as error:
        raise TobanError(f"{name}: cannot be written: {error.strerror or error}") from error
