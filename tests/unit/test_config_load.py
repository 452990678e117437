"""The configuration as a whole: defaults, places, encodings, lookup, and modes of files."""

import os
import subprocess
import sys
from collections.abc import Mapping
from datetime import time, timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from controller.config import load_config
from controller.config.places import SYSTEM_WIDE, candidates
from controller.errors import ConfigError
from tests.configfiles import SMALLEST, Place, made_up

FULL = """
[paths]
root = "~/仕事/ai"

[github]
api_url = "https://github.example.com/api/v3/"
git_url = "http://127.0.0.1:8000"
token_file = "秘密/token"
owner = "octo"
repositories = ["octo/repo-a", "other/Repo.b"]
assignee = "octo"
seconds_between_writes = 0

[repository."octo/repo-a"]
base = "main"
prepare = ["uv sync"]
verify = ["make test"]

[git]
author_name = "当番"
author_email = "toban@localhost"

[agent]
codex = "bin/codex"
codex_home = "~/.codex"
user = "worker"
codex_config = ["model_provider=local"]

[agent.implement]
model = "gpt-5.6-luna"
effort = "high"
timeout = "1h30m"
silence = "5m"
prompt_file = "実装.md"

[agent.review]
effort = "low"

[[agent.rework]]
model = "gpt-5.6-terra"

[policy]
max_delivery_retries = 0
labelers = "admin"
trusted_bots = ["dependabot[bot]"]
protected_paths = [".github/**", "!.github/*.md"]
signing_key_file = "/etc/toban/signing.key"

[update]
checkout = "/opt/toban/checkout"
repository = "octo/toban"
min_age = "0s"

[host]
min_free_memory_percent = 12.5

[schedule]
keep_runs = "7d"
metrics_file = ""

[orders]
table = "~/仕事/CHROME_QUEUE.md"
sender = "command"
command = ["./送り役", "{name}"]
pause_between = "0s"

[[orders.windows]]
start = "23:30"
end = "0:30"
timezone = "Asia/Tokyo"
line = "X担当"
days = ["mon", "tue"]

[orders.agent]
model = "gpt-5.6-terra"

[orders.chrome]
url = "http://localhost:9333/"
allowed_urls = ["https://*", "http://127.0.0.1:*"]
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return made_up(tmp_path)


def test_one_section_is_enough(place: Place) -> None:
    config = place.load(SMALLEST)

    assert config.github is not None
    assert config.orders is None
    assert config.update is None
    assert config.github.api_url == "https://api.github.com"
    assert config.github.git_url == "https://github.com"
    assert config.github.seconds_between_writes == 1.0
    assert config.github.assignee is None
    assert config.paths.root == place.home / "ai"
    assert config.git.author_name == "toban"
    assert config.git.author_email == "toban@localhost"
    assert config.agent.codex is None
    assert config.agent.codex_home == place.home / ".codex"
    assert config.agent.implement.timeout == timedelta(minutes=60)
    assert config.agent.implement.silence == timedelta(minutes=15)
    assert config.agent.review.timeout == timedelta(minutes=20)
    assert [phase.model for phase in config.agent.rework] == ["gpt-5.6-luna", "gpt-5.6-terra"]
    assert {phase.effort for phase in config.agent.rework} == {"medium"}
    assert config.policy.max_delivery_retries == 2
    assert config.policy.max_worker_failures == 2
    assert config.policy.labelers == "write"
    assert ".github/**" in config.policy.protected_paths
    assert config.policy.max_file_bytes == 5_000_000
    assert config.policy.signing_key_file is None
    assert config.host.min_free_memory_percent == 12
    assert config.host.min_free_disk_gb == 6
    assert config.schedule.issues_every == timedelta(minutes=15)
    assert config.schedule.orders_every == timedelta(minutes=1)
    assert config.schedule.keep_runs == timedelta(days=30)
    assert config.warnings == ()


def test_orders_alone_are_enough(place: Place) -> None:
    config = place.load("[orders]\n")

    assert config.github is None
    assert config.orders is not None
    assert config.orders.table == place.home / "ai/queue/CHROME_QUEUE.md"
    assert config.orders.directory == place.home / "ai/queue"
    assert config.orders.sender == "codex"
    assert config.orders.resource == "chrome:main"
    assert config.orders.retry_every == timedelta(seconds=60)
    assert config.orders.timeout == timedelta(hours=2)
    assert config.orders.pause_between == timedelta(0)
    assert config.orders.windows == ()
    assert config.orders.agent.model == "gpt-5.6-luna"
    assert config.orders.chrome.url == "http://127.0.0.1:9222"
    assert config.orders.chrome.allowed_urls == ("https://*",)


VARIANTS: Mapping[str, bytes] = {
    "as it is": FULL.encode(),
    "CRLF": FULL.replace("\n", "\r\n").encode(),
    "byte order mark": b"\xef\xbb\xbf" + FULL.encode(),
    "both": b"\xef\xbb\xbf" + FULL.replace("\n", "\r\n").encode(),
    "no line break at the end": FULL.rstrip().encode(),
}


@pytest.mark.parametrize("content", VARIANTS.values(), ids=VARIANTS.keys())
def test_every_key(place: Place, content: bytes) -> None:
    template = place.write("実装して。\n", "実装.md")

    config = place.load(content)

    assert config.paths.root == place.home / "仕事/ai"
    github = config.github
    assert github is not None
    assert github.api_url == "https://github.example.com/api/v3"
    assert github.git_url == "http://127.0.0.1:8000"
    assert github.token_file == place.folder / "秘密/token"
    assert github.repositories == ("octo/repo-a", "other/Repo.b")
    assert github.seconds_between_writes == 0
    assert github.watches("OTHER/repo.B")
    assert github.watches("octo/anything")
    assert not github.watches("other/else")
    assert config.settings_of("Octo/Repo-A").verify == ("make test",)
    assert config.settings_of("octo/none").verify == ()
    assert config.git.author_name == "当番"
    assert config.agent.codex == place.folder / "bin/codex"
    assert config.agent.codex_config == ("model_provider=local",)
    assert config.agent.implement.timeout == timedelta(minutes=90)
    assert config.agent.implement.prompt_file == template
    assert config.agent.review.effort == "low"
    assert config.agent.review.timeout == timedelta(minutes=20)
    assert [phase.model for phase in config.agent.rework] == ["gpt-5.6-terra"]
    assert config.policy.protected_paths == (".github/**", "!.github/*.md")
    assert config.policy.trusted_bots == ("dependabot[bot]",)
    assert config.policy.signing_key_file == Path("/etc/toban/signing.key")
    assert config.update is not None
    assert config.update.min_age == timedelta(0)
    assert config.update.branch == "main"
    assert config.update.require == "human-merge"
    assert config.schedule.metrics_file is None
    orders = config.orders
    assert orders is not None
    assert orders.command == ("./送り役", "{name}")
    (window,) = orders.windows
    assert (window.start, window.end) == (time(23, 30), time(0, 30))
    assert window.line == "X担当"
    assert window.days == ("mon", "tue")
    assert orders.chrome.url == "http://localhost:9333"
    assert config.path == place.folder / "config.toml"


def test_an_empty_list_of_reworks_is_no_budget(place: Place) -> None:
    assert place.load(SMALLEST + "[agent]\nrework = []\n").agent.rework == ()


def test_a_written_time_of_day_may_be_toml_s_own(place: Place) -> None:
    window = "[[orders.windows]]\nstart = 12:20:00\nend = 13:00:00\ntimezone = 'Asia/Tokyo'\n"
    orders = place.load("[orders]\n" + window).orders
    assert orders is not None
    assert orders.windows[0].start == time(12, 20)
    assert len(orders.windows[0].days) == 7


def test_the_value_cannot_be_changed(place: Place) -> None:
    config = place.load(SMALLEST)
    with pytest.raises(ValidationError):
        config.policy.labelers = "admin"  # type: ignore[misc] # the refusal is the point


class TestLookup:
    """--config, $TOBAN_CONFIG, the user's own, the system's."""

    def test_the_option_wins(self, place: Place) -> None:
        environ = {**place.environ, "TOBAN_CONFIG": str(place.write("[orders]\n", "b.toml"))}
        path = place.write(SMALLEST, "a.toml")
        assert load_config(path, environ).path == path

    def test_then_the_variable(self, place: Place) -> None:
        path = place.write(SMALLEST, "b.toml")
        assert load_config(None, {**place.environ, "TOBAN_CONFIG": str(path)}).path == path

    def test_an_empty_variable_is_none(self, place: Place) -> None:
        path = place.home / ".config/toban/config.toml"
        path.parent.mkdir(parents=True)
        path.write_text(SMALLEST, encoding="utf-8")
        assert load_config(None, {**place.environ, "TOBAN_CONFIG": ""}).path == path

    def test_what_is_named_is_never_replaced(self, place: Place) -> None:
        with pytest.raises(ConfigError, match=r"tried .*nowhere\.toml \(--config\)\."):
            load_config(place.folder / "nowhere.toml", place.environ)
        environ = {**place.environ, "TOBAN_CONFIG": str(place.folder / "gone.toml")}
        with pytest.raises(ConfigError, match=r"tried .*gone\.toml \(\$TOBAN_CONFIG\)\."):
            load_config(None, environ)

    def test_without_either_the_user_s_own_comes_before_the_system_s(self, place: Place) -> None:
        tried = [path for _, path in candidates(None, place.environ)]
        assert tried == [place.home / ".config/toban/config.toml", SYSTEM_WIDE]
        assert Path("/etc/toban/config.toml") == SYSTEM_WIDE

    def test_a_missing_file_says_how_to_get_one(self, place: Place) -> None:
        with pytest.raises(ConfigError, match="`toban init` writes one"):
            load_config(place.folder / "nowhere.toml", place.environ)

    def test_a_tilde_in_the_option_is_the_home(self, place: Place) -> None:
        (place.home / "c.toml").write_text(SMALLEST, encoding="utf-8")
        assert load_config(Path("~/c.toml"), place.environ).path == place.home / "c.toml"


UNREADABLE: Mapping[str, tuple[bytes, tuple[str, ...]]] = {
    "a stray word": (b'[github]\nowner = "octo"\nnonsense\n', ("line 3", "not valid TOML")),
    "an open string": (b'[github]\nowner = "octo\n', ("line 2", "not valid TOML")),
    "the file ends early": (b'[github]\nowner = """octo', ("line 2", "not valid TOML")),
    "a full-width equals sign": ("[github]\nowner ＝ 'octo'\n".encode(), ("line 2", "'＝'", "'='")),
    "a full-width blank": ("[github]\n\u3000owner = 'octo'\n".encode(), ("line 2", "TOML wants")),
    "full-width brackets": ("［github］\nowner = 'octo'\n".encode(), ("line 1", "'［'")),
    "a key twice": (b"[github]\nowner = 'a'\nowner = 'b'\n", ("line 3", "not valid TOML")),
    "Shift JIS": ("[github]\n# 当番\n".encode("shift_jis"), ("line 2", "UTF-8")),
    "UTF-16": ("[github]\n".encode("utf-16"), ("UTF-16", "UTF-8")),
    "much too large": (b"#" * 1_100_000, ("at most 1048576 bytes",)),
    "nested without end": (b"a = " + b"[" * 100_000, ("nested too deeply",)),
}


@pytest.mark.parametrize(("content", "parts"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_is_no_toml_is_refused(place: Place, content: bytes, parts: tuple[str, ...]) -> None:
    message = place.refused(content)
    assert message.startswith(f"{place.folder}/config.toml: ")
    assert all(part in message for part in parts), message


def test_a_folder_is_refused(place: Place) -> None:
    with pytest.raises(ConfigError, match="expected a regular file"):
        load_config(place.folder, place.environ)


def test_what_cannot_be_read_is_an_error_and_no_absence(place: Place) -> None:
    """The next candidate is never taken in its place."""
    path = place.home / ".config/toban/config.toml"
    path.parent.mkdir(parents=True)
    path.symlink_to(path)
    with pytest.raises(ConfigError, match=r"config\.toml .*cannot be read: Too many levels"):
        load_config(None, place.environ)


def test_a_file_that_everybody_can_write_is_refused_with_the_remedy(place: Place) -> None:
    path = place.write(SMALLEST)
    path.chmod(0o666)
    with pytest.raises(ConfigError, match=r"can be written by everybody; use: chmod o-w .*toml"):
        load_config(path, place.environ)


def test_so_is_such_a_template(place: Place) -> None:
    place.write("text", "p.md").chmod(0o666)
    message = place.refused(SMALLEST + "[[agent.rework]]\nprompt_file = 'p.md'\n")
    assert "agent.rework[0].prompt_file: " in message
    assert "chmod o-w" in message


def test_only_loading_costs_the_library_for_settings() -> None:
    """The import of the room stays cheap: what reads TOML is loaded with the first file."""
    code = "import sys, controller.config; print('pydantic_settings' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        cwd=Path(__file__).resolve().parents[2],
        env={"PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert answer.stdout.strip() == b"False"
