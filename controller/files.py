"""Small files that survive a crash: temp in the same folder, fsync, rename, fsync of the folder.

Used by adapters that keep records. Does nothing but file work, and never follows a link that was
planted at the target's place.
"""

import os
import tempfile
from pathlib import Path


def write_synced(path: Path, text: str) -> None:
    """Replace `path` with `text` so that a crash leaves the old or the new content, never a part.

    Raises OSError (disk full, read-only) with the old content untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogatepass") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def append_synced(path: Path, line: str) -> None:
    """Append one line and sync it. A torn last line of an earlier crash is closed first."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.open("ab+") as stream:
        if stream.tell() > 0:
            stream.seek(-1, os.SEEK_END)
            torn = stream.read(1) != b"\n"
        else:
            torn = False
        stream.write((b"\n" if torn else b"") + line.encode() + b"\n")
        stream.flush()
        os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
