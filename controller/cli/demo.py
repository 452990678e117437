"""`toban demo`: the one place from which the product reaches the demo.

Called by `controller.cli.app`.
"""

from controller.demo.main import run


def demo(*, keep: bool) -> int:
    """Run the command; returns the exit code."""
    return run(keep=keep)
