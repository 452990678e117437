"""`toban` and `python -m controller`: the same program. Everything else is in `controller.cli`."""

import sys


def main() -> int:
    """Run the command line; returns the exit code."""
    from controller.cli.run import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
