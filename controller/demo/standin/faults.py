"""Faults on request: what the next matching requests are answered with instead of the truth.

Set by tests and the demo through `World.add_fault`; looked up by `front` for every request. A fault
with `after_effect` lets the request do its work first and then loses the answer.
"""

import re
import threading
from dataclasses import dataclass
from typing import Literal

type Kind = Literal["status", "secondary", "creation", "primary", "drop", "hang", "stale"]


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How to answer the next `times` requests that match, after letting `skip` of them pass.

    `method` and `path` are regular expressions that must match wholly; the path is the decoded one
    of the request without query, API and git alike. Kinds: ``status`` answers with `status`;
    ``secondary`` is the secondary rate limit (status 403 or 429), ``creation`` its form for content
    creation; ``primary`` is the used-up hourly limit; ``drop`` closes the connection without an
    answer; ``hang`` never answers until `World.clear_faults` or the client goes away; ``stale``
    repeats the last answer that the caller had to the same GET, as a replica that lags.
    `retry_after` (seconds) adds the header.
    """

    path: str
    method: str = ".*"
    kind: Kind = "status"
    status: int = 502
    times: int = 1
    skip: int = 0
    after_effect: bool = False
    retry_after: int | None = None
    message: str | None = None

    def matches(self, method: str, path: str) -> bool:
        """Whether the fault is meant for this request."""
        return bool(re.fullmatch(self.method, method) and re.fullmatch(self.path, path))


@dataclass
class _Waiting:
    """A fault with what is left of its counts."""

    fault: Fault
    skip: int
    times: int


class FaultBox:
    """The faults in waiting. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[_Waiting] = []
        self.cleared = 0

    def add(self, fault: Fault) -> None:
        """Put a fault in line; the first that matches is used."""
        with self._lock:
            self._waiting.append(_Waiting(fault, fault.skip, fault.times))

    def clear(self) -> None:
        """Forget all faults and end what hangs."""
        with self._lock:
            self._waiting.clear()
            self.cleared += 1

    def left(self) -> int:
        """How many answers are still to be spoilt."""
        with self._lock:
            return sum(waiting.times for waiting in self._waiting)

    def take(self, method: str, path: str) -> Fault | None:
        """The fault for this request, counted down, or None."""
        with self._lock:
            for waiting in self._waiting:
                if not waiting.fault.matches(method, path):
                    continue
                if waiting.skip:
                    waiting.skip -= 1
                    continue
                waiting.times -= 1
                self._waiting = [it for it in self._waiting if it.times > 0]
                return waiting.fault
            return None
