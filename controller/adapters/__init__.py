"""One real thing each: the forge, git, Codex, files, host. Named by `controller.bootstrap` alone."""
