"""ETags and bodies of earlier answers, so that an unchanged list costs one empty answer.

Asked by `http` before and after each GET. Not authoritative: whatever is damaged or missing is
asked for again. A token is never stored; it only enters the hash that names a file, because
GitHub's ETags are good for one token.
"""

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from controller.adapters.github.pause import write_private

KEEP_SECONDS = 14 * 86_400
"""An entry that was not confirmed for two weeks belongs to something that is over."""
_CONFIRM_SECONDS = 86_400


class Entry(NamedTuple):
    """One answer: its ETag, its body as text, and the target of the next page."""

    etag: str
    body: str
    next: str | None


class EtagCache:
    """Entries in memory, and in `folder` when one is given.

    With `write` false (plan) the folder is read and nothing in it is made, changed or removed.
    """

    def __init__(self, folder: Path | None = None, *, write: bool = True) -> None:
        self._folder = folder
        self._write = write
        self._memory: dict[str, Entry] = {}
        self._unusable: set[str] = set()
        self._swept = False

    def get(self, url: str, token: str) -> Entry | None:
        """The entry for `url` as this token saw it."""
        key = _key(url, token)
        if key in self._unusable:
            return None
        entry = self._memory.get(key) or self._load(key)
        if entry is not None:
            self._memory[key] = entry
        return entry

    def put(self, url: str, token: str, entry: Entry) -> None:
        """Remember an answer."""
        key = _key(url, token)
        self._memory[key] = entry
        self._unusable.discard(key)
        file = self._file(key)
        if file is None or not self._write:
            return
        # A full disk only makes the next answer a longer one.
        with suppress(OSError):
            write_private(file, json.dumps(entry._asdict()))
            self._sweep(file.parent)

    def confirm(self, url: str, token: str) -> None:
        """The forge said that the entry still holds: keep its file from being swept."""
        file = self._file(_key(url, token))
        if file is None or not self._write:
            return
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > _CONFIRM_SECONDS:
                os.utime(file)

    def forget(self, url: str, token: str) -> None:
        """Pass over an entry that turned out to be unusable, until `put` replaces it."""
        self._memory.pop(_key(url, token), None)
        self._unusable.add(_key(url, token))

    def _file(self, key: str) -> Path | None:
        return None if self._folder is None else self._folder / f"{key}.json"

    def _load(self, key: str) -> Entry | None:
        file = self._file(key)
        if file is None:
            return None
        try:
            stored = json.loads(file.read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        match stored:
            case {"etag": str(etag), "body": str(body), "next": str() | None as following}:
                return Entry(etag, body, following)
            case _:
                return None

    def _sweep(self, folder: Path) -> None:
        if self._swept:
            return
        self._swept = True
        horizon = time.time() - KEEP_SECONDS
        for file in folder.iterdir():
            if file.suffix in (".json", ".tmp") and file.stat().st_mtime < horizon:
                file.unlink(missing_ok=True)


def _key(url: str, token: str) -> str:
    fingerprint = hashlib.sha256(b"toban-etag\0" + token.encode()).hexdigest()
    return hashlib.sha256(f"1\0{url}\0{fingerprint}".encode()).hexdigest()
