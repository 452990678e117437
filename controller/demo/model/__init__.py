"""A scripted stand-in for the model: the Responses API on loopback, saying what a script says.

The demo and the tests point the real Codex at it; nothing else imports it. It never reaches the
network and never runs anything itself: Codex runs the commands that a script tells it to.
"""

from controller.demo.model.script import (
    Cut,
    Failed,
    Hang,
    Incomplete,
    Match,
    Message,
    Patch,
    Refused,
    Scenario,
    Script,
    Shell,
    Turn,
    Usage,
)
from controller.demo.model.server import ScriptedModel

__all__ = [
    "Cut",
    "Failed",
    "Hang",
    "Incomplete",
    "Match",
    "Message",
    "Patch",
    "Refused",
    "Scenario",
    "Script",
    "ScriptedModel",
    "Shell",
    "Turn",
    "Usage",
]
