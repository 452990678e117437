"""The worktree's index, written by our own hand (index format version 2, gitformat-index(5)).

Written when a worktree is made and when its branch moves, so that `git status` inside the sandbox
is right and fast although no git command ever ran in the tree. Nothing of ours reads it again.
"""

import hashlib
import math
import os
import struct
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from controller.adapters.git.layout import write_whole

SUBMODULE = 0o160000
LINK = 0o120000
EXECUTABLE = 0o100755
PLAIN = 0o100644

_STAT = struct.Struct(">10I")
_ENTRY = struct.Struct(">40s20sH")
_LONG_NAME = 0xFFF
_WORD = 0xFFFFFFFF
_NANO = 1_000_000_000
_NO_STAT = (0,) * 6
UNKNOWN = bytes(_STAT.size)
"""Stat data of an entry about which nothing is known: git compares its content."""


class Entry(NamedTuple):
    """A path of a commit: file mode as git has it, and object name."""

    mode: int
    sha: str


def stat_words(found: os.stat_result, mode: int) -> bytes:
    """What the index keeps of a file's stat data."""
    return _STAT.pack(
        found.st_ctime_ns // _NANO & _WORD,
        found.st_ctime_ns % _NANO,
        found.st_mtime_ns // _NANO & _WORD,
        found.st_mtime_ns % _NANO,
        found.st_dev & _WORD,
        found.st_ino & _WORD,
        mode,
        found.st_uid & _WORD,
        found.st_gid & _WORD,
        found.st_size & _WORD,
    )


def write_index(path: Path, entries: Iterable[tuple[bytes, Entry, bytes]]) -> None:
    """Replace the index at `path` by `entries` (path, entry, stat words), sorted by path.

    The file is dated to the next full second: git reads every file again whose time is not older
    than its index, and a worktree of 50,000 files is written within one second.
    """
    body = bytearray()
    count = 0
    for name, entry, words in entries:
        kept = words if words is not UNKNOWN else _STAT.pack(*_NO_STAT, entry.mode, 0, 0, 0)
        body += _ENTRY.pack(kept, bytes.fromhex(entry.sha), min(len(name), _LONG_NAME))
        body += name + bytes(8 - (_ENTRY.size + len(name)) % 8)
        count += 1
    data = b"DIRC" + struct.pack(">II", 2, count) + body
    digest = hashlib.sha1(data, usedforsecurity=False).digest()
    write_whole(path, data + digest, durable=False)  # it can be made again at any time
    after = math.floor(time.time()) + 1
    os.utime(path, (after, after))
