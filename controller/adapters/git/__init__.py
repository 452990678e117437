"""Git: a trusted bare repository per remote, worktrees made and read by our own hand.

`GitRepositories` gives bootstrap the reader and the writer of `controller.ports.repository`. The AI
owns the worktree and nothing else: whatever it leaves there is imported as bytes, never obeyed.
"""

from controller.adapters.git.repositories import GitReader, GitRepositories, GitWriter

__all__ = ["GitReader", "GitRepositories", "GitWriter"]
