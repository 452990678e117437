"""`toban` that dies as in a power cut at its n-th durable write: `python -m tests.e2e.dying N ...`.

A durable write is a file renamed into its place, or a write that the forge has answered. Exit by
SIGKILL; a run with fewer writes ends as always. Reads and caches do not count.
"""

import os
import signal
import sys
from typing import Any

import requests

from controller.__main__ import main


class Countdown:
    """Writes that are left."""

    def __init__(self, left: int) -> None:
        self.left = left

    def write(self) -> None:
        """One durable write is done."""
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def watch(countdown: Countdown) -> None:
    """Count renames before the next one begins, and answered writes of the forge."""
    send = requests.Session.send

    def counted(self: requests.Session, request: Any, **options: Any) -> requests.Response:
        response = send(self, request, **options)
        if request.method != "GET":
            countdown.write()
        return response

    requests.Session.send = counted  # type: ignore[method-assign] # a wire tap, nothing of ours

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "os.rename" and "github-cache" not in str(arguments[1]):
            countdown.write()

    sys.addaudithook(audit)


if __name__ == "__main__":
    watch(Countdown(int(sys.argv.pop(1))))
    main()
