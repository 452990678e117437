"""``python -m controller.demo.standin --root DIR [--port N] [--port-file F] [--seed FILE.json]``.

Runs the stand-in until SIGINT or SIGTERM. Prints its address as the one line on stdout; the port
file, written when requests are answered, holds the port number alone.
"""

import argparse
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

from controller.demo.standin import control
from controller.demo.standin.server import Standin
from controller.demo.standin.state import Refusal


def main(argv: list[str] | None = None) -> int:
    """Parse, serve, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m controller.demo.standin", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="folder for the bare repositories")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--port-file", type=Path, help="file that receives the port")
    parser.add_argument("--seed", type=Path, help='JSON list of {"call": METHOD, ...}')
    options = parser.parse_args(argv)
    ended = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        ended.set()

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    with Standin(options.root, port=options.port) as standin:
        if options.seed is not None:
            try:
                control.sow(standin.world, options.seed)
            except (Refusal, OSError, ValueError) as error:
                print(f"standin: {error}", file=sys.stderr)
                return 1
        if options.port_file is not None:
            _publish(options.port_file, standin.url.rpartition(":")[2])
        print(standin.url, flush=True)
        ended.wait()
    return 0


def _publish(path: Path, port: str) -> None:
    """Write the port so that a reader sees all of it or nothing."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(f"{port}\n", encoding="ascii")
    draft.replace(path)


if __name__ == "__main__":
    sys.exit(main())
