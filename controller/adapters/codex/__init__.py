"""The agent runner on OpenAI's Codex CLI, confined by a permission profile.

Named by `controller.bootstrap` only. It never talks to the forge and never decides a transition.
"""

from controller.adapters.codex.launch import checked_config
from controller.adapters.codex.runner import CodexRunner

__all__ = ["CodexRunner", "checked_config"]
