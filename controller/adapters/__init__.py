"""One real thing each: forge, git, Codex, files, host. Named by `controller.bootstrap` alone."""
