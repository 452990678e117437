"""The configuration that `toban init` writes: what was answered, and the rest as comments.

Called by `controller.cli.init`. Pure; a test loads it with every comment switched on.
"""

import json
from pathlib import Path
from typing import NamedTuple


class Answers(NamedTuple):
    """What the file shall say."""

    owner: str
    """Empty when only `repositories` are watched."""
    repositories: tuple[str, ...]
    token_file: Path | None
    root: str
    api_url: str
    git_url: str


HEAD = """\
# The configuration of toban. `toban doctor` checks it; docs/configuration.md explains every key.
# Keys behind a # have the values shown. Secrets never stand in this file.
"""
REST = """
# Per repository:
#[repository."{example}"]
#base = "main"                      # default: the default branch
#prepare = ["uv sync"]              # once per worktree, with network, before the AI starts
#verify = ["make test"]             # on exactly the commit that would be delivered, no network

#[git]
#author_name = "toban"
#author_email = "toban@localhost"

#[agent]
#codex_home = "~/.codex"            # Codex's login; unreadable for what it runs
#codex_config = []                  # further `-c` values, e.g. another model provider
#[agent.implement]
#model = "gpt-5.6-luna"
#effort = "medium"
#timeout = "60m"
#silence = "15m"
#[agent.review]
#model = "gpt-5.6-luna"
#effort = "medium"
#timeout = "20m"
#[[agent.rework]]                   # one entry per round: their number is the budget
#model = "gpt-5.6-luna"
#[[agent.rework]]
#model = "gpt-5.6-terra"

#[policy]
#labelers = "write"                 # who may put agent:ready on: write | maintain | admin
#trusted_bots = []
#max_delivery_retries = 2
#max_worker_failures = 2
#max_changed_files = 500
#max_runs_per_day = 0               # 0 = no limit
#max_tokens_per_day = 0

#[host]
#min_free_memory_percent = 12       # below these nothing starts
#min_free_disk_gb = 6

#[schedule]
#issues_every = "15m"
#orders_every = "1m"
#keep_runs = "30d"
"""


def toml_string(text: str) -> str:
    """A TOML basic string: JSON's escapes are a subset of TOML's, DEL apart."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def written(answers: Answers) -> str:
    """The whole file."""
    lines = [HEAD, "[paths]", f"root = {toml_string(answers.root)}", "", "[github]"]
    lines.append(f"api_url = {toml_string(answers.api_url)}")
    lines.append(f"git_url = {toml_string(answers.git_url)}")
    if answers.token_file is not None:
        lines.append(f"token_file = {toml_string(str(answers.token_file))}")
    else:
        lines.append("# The token comes from the systemd credential github-token, else from")
        lines.append("# $TOBAN_GITHUB_TOKEN; or from a file that only you can read:")
        lines.append('#token_file = "github-token"')
    if answers.owner:
        lines.append(
            f"owner = {toml_string(answers.owner)}    # every repository that the token sees"
        )
    if answers.repositories:
        names = ", ".join(toml_string(name) for name in answers.repositories)
        lines.append(f"repositories = [{names}]")
    lines.append(
        '#assignee = "octo"                 # who gets human:review; default: the token\'s user'
    )
    lines.append("#seconds_between_writes = 1.0")
    example = answers.repositories[0] if answers.repositories else f"{answers.owner}/repo"
    return "\n".join(lines) + "\n" + REST.replace("{example}", example.replace('"', ""))
