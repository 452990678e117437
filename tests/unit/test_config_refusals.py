"""What the configuration refuses: each with file, key, value and what is expected, all at once."""

import re
from pathlib import Path

import pytest

from tests.configfiles import SMALLEST, Place, made_up

WINDOW = '[orders]\n[[orders.windows]]\nstart = "12:20"\nend = "13:00"\n'
TOKYO = 'timezone = "Asia/Tokyo"\n'

REFUSED = {
    "nothing wanted": ("[git]\n", "expected [github] or [orders], or both: nothing is wanted"),
    "an empty file": ("", "expected [github] or [orders], or both: nothing is wanted"),
    "nothing to watch": (
        "[github]\n",
        'github.repositories = []: expected github.owner or repositories = ["owner/repo"], or both',
    ),
    # Slips in keys
    "a section misspelt": (
        "[gitub]\nowner = 'a'\n" + SMALLEST,
        'gitub: unknown key; did you mean "github"?',
    ),
    "a key misspelt": (
        SMALLEST + "[agent.implement]\ntimeuot = '1h'\n",
        'agent.implement.timeuot: unknown key; did you mean "timeout"?',
    ),
    "a key in capitals": (
        SMALLEST + "Assignee = 'x'\n",
        'github.Assignee: unknown key; did you mean "assignee"?',
    ),
    "a key in a list of tables": (
        SMALLEST + "[[agent.rework]]\nmodl = 'x'\n",
        'agent.rework[0].modl: unknown key; did you mean "model"?',
    ),
    "a key of another section": (
        SMALLEST + "max_changed_files = 3\n",
        "github.max_changed_files: unknown key; it belongs to [policy]",
    ),
    "a key of several sections": (
        SMALLEST + "[host]\neffort = 'low'\n",
        "host.effort: unknown key; it belongs to [agent.implement] or [agent.review]",
    ),
    "a section at the wrong place": (
        SMALLEST + "[agent.schedule]\n",
        "agent.schedule: unknown key; it belongs to the top of the file",
    ),
    "a key like none": (
        SMALLEST + "[paths]\nquux = 1\n",
        "paths.quux: unknown key; known here: root",
    ),
    "a repository that is none": (
        SMALLEST + '[repository."octo/リポ"]\nbase = "x"\n',
        'repository."octo/リポ": expected "owner/repo"',
    ),
    "a key of a repository misspelt": (
        SMALLEST + '[repository."octo/a.b"]\nverfy = []\n',
        'repository."octo/a.b".verfy: unknown key; did you mean "verify"?',
    ),
    "a full-width key": (SMALLEST + '"ｏｗｎｅｒ" = "x"\n', 'github."ｏｗｎｅｒ": unknown key'),
    "a hostile key": (SMALLEST + '"a\\u001b[31m" = 1\n', 'github."a\\u001B[31m": unknown key'),
    # Secrets
    "a token in the file": (
        SMALLEST + 'token = "ghp_0123456789abcdefghij"\n',
        "github.token: unknown key; secrets never stand in this file: name their file",
    ),
    "a token as a value": (
        SMALLEST + 'assignee = "ghp_0123456789abcdefghij"\n',
        "github.assignee = (looks like a secret, not shown): expected a GitHub login",
    ),
    # Types
    "text for a number": (
        SMALLEST + '[policy]\nmax_changed_files = "5"\n',
        'policy.max_changed_files = "5": expected a whole number without quotation marks',
    ),
    "true for a number": (
        SMALLEST + "[policy]\nmax_changed_files = true\n",
        "policy.max_changed_files = true: expected a whole number without quotation marks",
    ),
    "a fraction for a whole number": (
        SMALLEST + "[policy]\nmax_delivery_retries = 1.0\n",
        "policy.max_delivery_retries = 1.0: expected a whole number without quotation marks",
    ),
    "a number for text": (
        SMALLEST + "[git]\nauthor_name = 5\n",
        'git.author_name = 5: expected text in quotation marks, such as "main"',
    ),
    "text for a list": (
        "[github]\nrepositories = 'octo/a'\n",
        'github.repositories = "octo/a": expected a list, such as ["a", "b"]',
    ),
    "a value for a table": (SMALLEST + "app = 3\n", "github.app = 3: expected a table"),
    "text for a section": ("github = 'octo/a'\n", 'github = "octo/a": expected a table'),
    "a list of tables for a table": (
        SMALLEST + "[[policy]]\n",
        "policy = [a table]: expected a table",
    ),
    "a table for a list of tables": (
        SMALLEST + "[agent.rework]\nmodel = 'x'\n",
        'agent.rework: expected a list, such as ["a", "b"]',
    ),
    "a number in a list of text": (
        SMALLEST + '[repository."octo/a"]\nverify = ["make", 3]\n',
        'repository."octo/a".verify[1] = 3: expected text in quotation marks',
    ),
    "not a number": (
        SMALLEST + "[host]\nmin_free_disk_gb = nan\n",
        "host.min_free_disk_gb = nan: expected a finite number",
    ),
    "a date": (
        SMALLEST + "[schedule]\nissues_every = 2026-10-13\n",
        "schedule.issues_every = 2026-10-13: expected a duration such as",
    ),
    # Durations
    "a number for a duration": (
        SMALLEST + "[agent.review]\ntimeout = 60\n",
        'agent.review.timeout = 60: expected a duration such as "60s", "15m", "2h", ',
    ),
    "words for a duration, second entry": (
        SMALLEST + "[[agent.rework]]\n[[agent.rework]]\ntimeout = '一時間'\n",
        'agent.rework[1].timeout = "一時間": expected a duration such as "60s"',
    ),
    "no time at all": (
        SMALLEST + "[schedule]\nissues_every = '0s'\n",
        'schedule.issues_every = "0s": expected a duration longer than 0s',
    ),
    "a century": (
        SMALLEST + "[schedule]\nkeep_runs = '40000d'\n",
        'schedule.keep_runs = "40000d": expected at most 3650d',
    ),
    # Addresses
    "plain http to elsewhere": (
        SMALLEST + "api_url = 'http://github.example.com'\n",
        'github.api_url = "http://github.example.com": expected https: plain http',
    ),
    "plain http to a look-alike": (
        SMALLEST + "api_url = 'http://127.0.0.1.example.com'\n",
        "expected https: plain http is allowed to this machine (loopback) only",
    ),
    "ssh": (
        SMALLEST + "git_url = 'git@github.com:octo'\n",
        'github.git_url = "git@github.com:octo": expected an address such as https://',
    ),
    "a file": (SMALLEST + "git_url = 'file:///srv'\n", "expected an address such as https://"),
    "a password in an address": (
        SMALLEST + "git_url = 'https://octo:pw@github.com'\n",
        "expected an address without a user or password in it",
    ),
    "a question in an address": (
        SMALLEST + "api_url = 'https://a.b/?x'\n",
        "address without ? and #",
    ),
    "a full-width address": (
        SMALLEST + "api_url = 'https://ｇithub.com'\n",
        "expected an address such as https://api.github.com, in plain ASCII without blanks",
    ),
    "a port that is none": (
        SMALLEST + "api_url = 'https://a.b:x'\n",
        "expected an address such as",
    ),
    "a Chrome elsewhere": (
        "[orders.chrome]\nurl = 'https://chrome.example.com'\n",
        'orders.chrome.url = "https://chrome.example.com": expected an address of this machine',
    ),
    "an address pattern that is none": (
        "[orders.chrome]\nallowed_urls = ['*']\n",
        'orders.chrome.allowed_urls[0] = "*": expected an address pattern such as https://*',
    ),
    # Names
    "a repository without owner": (
        "[github]\nrepositories = ['repo-a']\n",
        'github.repositories[0] = "repo-a": expected "owner/repo"',
    ),
    "a repository's address": (
        "[github]\nrepositories = ['https://github.com/octo/a']\n",
        'github.repositories[0] = "https://github.com/octo/a": expected "owner/repo"',
    ),
    "a repository twice": (
        "[github]\nrepositories = ['octo/a', 'Octo/A']\n",
        'expected each entry once, but "octo/a" stands there twice',
    ),
    "an owner that is none": (
        "[github]\nowner = '八'\n",
        "github.owner = \"八\": expected a GitHub login (letters, digits, '-' and '_')",
    ),
    "settings for a repository that nobody watches": (
        SMALLEST + '[repository."other/a"]\nverify = ["make"]\n',
        'repository: "other/a" is neither in github.repositories nor of github.owner',
    ),
    "settings twice": (
        SMALLEST + '[repository."octo/a"]\n[repository."octo/A"]\n',
        'repository: expected one section for "octo/a": names differ in case only',
    ),
    "a branch that is none": (
        SMALLEST + '[repository."octo/a"]\nbase = "-x"\n',
        'repository."octo/a".base = "-x": expected the name of a branch such as main',
    ),
    "a branch with a range": (
        SMALLEST + '[repository."octo/a"]\nbase = "a..b"\n',
        'repository."octo/a".base = "a..b": expected the name of a branch',
    ),
    "an author with brackets": (
        SMALLEST + "[git]\nauthor_email = '<a@b>'\n",
        'git.author_email = "<a@b>": expected a name or address without < and >',
    ),
    "an author of two lines": (
        SMALLEST + '[git]\nauthor_name = "a\\nb"\n',
        'git.author_name = "a b": expected one line of text',
    ),
    "a user that is none": (
        SMALLEST + "[agent]\nuser = '-u root'\n",
        'agent.user = "-u root": expected the name of a user of this machine',
    ),
    "a model that is an option": (
        SMALLEST + "[agent.review]\nmodel = '--yolo'\n",
        'agent.review.model = "--yolo": expected the name of a model such as "gpt-5.6-luna"',
    ),
    "an effort that is none": (
        SMALLEST + "[agent.review]\neffort = 'meduim'\n",
        "agent.review.effort = \"meduim\": expected 'none', 'minimal', 'low', 'medium'",
    ),
    "labelers of another world": (
        SMALLEST + "[policy]\nlabelers = 'owner'\n",
        "policy.labelers = \"owner\": expected 'write', 'maintain' or 'admin'",
    ),
    "a bot that is none": (
        SMALLEST + "[policy]\ntrusted_bots = ['a b']\n",
        'policy.trusted_bots[0] = "a b": expected the login of a bot such as "dependabot[bot]"',
    ),
    "a pattern that protects nothing": (
        SMALLEST + "[policy]\nprotected_paths = ['# .github']\n",
        'policy.protected_paths[0] = "# .github": expected a pattern as in .gitignore',
    ),
    "a pattern that is broken": (
        SMALLEST + "[policy]\nprotected_paths = ['!']\n",
        'policy.protected_paths[0] = "!": expected a pattern as in .gitignore',
    ),
    "a Codex setting without a value": (
        SMALLEST + "[agent]\ncodex_config = ['model_provider']\n",
        'expected entries such as "model_provider=azure"',
    ),
    # Numbers
    "less than nothing": (
        SMALLEST + "seconds_between_writes = -1\n",
        "github.seconds_between_writes = -1: expected at least 0",
    ),
    "a whole machine": (
        SMALLEST + "[host]\nmin_free_memory_percent = 100\n",
        "host.min_free_memory_percent = 100: expected at most 95",
    ),
    "larger than the forge takes": (
        SMALLEST + "[policy]\nmax_file_bytes = 200_000_000\n",
        "policy.max_file_bytes = 200000000: expected at most 100000000",
    ),
    "no file may change": (
        SMALLEST + "[policy]\nmax_changed_files = 0\n",
        "policy.max_changed_files = 0: expected at least 1",
    ),
    "too many reworks": (
        SMALLEST + "[agent]\nrework = [" + "{}," * 21 + "]\n",
        "expected at most 20 entries",
    ),
    # What belongs together
    "an App without a person": (
        SMALLEST + "[github.app]\napp_id = 1\nprivate_key_file = 'a.pem'\n",
        "github.assignee: is required with [github.app]: expected the login of a person",
    ),
    "an App without a key": (
        SMALLEST + "[github.app]\napp_id = 1\n",
        "github.app.private_key_file: is required",
    ),
    "an App and a token": (
        SMALLEST
        + "assignee = 'a'\ntoken_file = 't'\n[github.app]\napp_id = 1\nprivate_key_file = 'a'\n",
        "expected either token_file or [github.app], not both",
    ),
    "a gate without its checkout": (
        SMALLEST + "[update]\nrepository = 'octo/toban'\n",
        "update.checkout: is required",
    ),
    "a gate for nobody": (
        SMALLEST + "[update]\ncheckout = '/x'\nrepository = 'octo/t'\nrequire = 'nothing'\n",
        "update.require = \"nothing\": expected 'human-merge', 'signature' or 'none'",
    ),
    "a sender without a command": (
        "[orders]\nsender = 'command'\n",
        'orders.command = []: expected a program and its arguments with sender = "command"',
    ),
    "a command without its sender": (
        "[orders]\ncommand = ['x']\n",
        'orders.command = ["x"]: expected nothing here with sender = "codex"',
    ),
    "a resource without a kind": (
        "[orders]\nresource = 'main'\n",
        'orders.resource = "main": expected KIND:NAME such as "chrome:main"',
    ),
    # Windows
    "a window without a zone": (WINDOW, "orders.windows[0].timezone: is required"),
    "a zone that is none": (
        WINDOW + "timezone = '東京'\n",
        'orders.windows[0].timezone = "東京": expected a time zone such as "Asia/Tokyo"',
    ),
    "a zone that is a path": (
        WINDOW + "timezone = '../../etc/passwd'\n",
        'expected a time zone such as "Asia/Tokyo"',
    ),
    "an hour too many": (
        WINDOW.replace("13:00", "24:00") + TOKYO,
        'orders.windows[0].end = "24:00": expected a time of day from "00:00" to "23:59"',
    ),
    "a time in words": (
        WINDOW.replace("12:20", "正午") + TOKYO,
        'orders.windows[0].start = "正午": expected a time of day such as "12:20"',
    ),
    "a window of no length": (
        WINDOW.replace("13:00", "12:20") + TOKYO,
        "expected another time than start: the window would be empty",
    ),
    "a day that is none": (
        WINDOW + TOKYO + "days = ['月']\n",
        "orders.windows[0].days[0] = \"月\": expected 'mon', 'tue'",
    ),
    "a day twice": (WINDOW + TOKYO + "days = ['mon', 'mon']\n", "expected each day once"),
    "no day": (
        WINDOW + TOKYO + "days = []\n",
        "orders.windows[0].days = []: expected at least one",
    ),
    "no line": (WINDOW + TOKYO + "line = ' '\n", 'orders.windows[0].line = " ": expected one line'),
    # Paths
    "an empty root": (
        SMALLEST + "[paths]\nroot = ''\n",
        'paths.root = "": expected a path such as',
    ),
    "a root of nobody": (
        SMALLEST + "[paths]\nroot = '~no-such-user/ai'\n",
        'paths.root = "~no-such-user/ai": expected a path, but there is no user',
    ),
    "a path with NUL": (
        SMALLEST + '[paths]\nroot = "a\\u0000b"\n',
        'paths.root = "a\\u0000b": expected a path without NUL characters',
    ),
    "a template that is not there": (
        SMALLEST + "[agent.implement]\nprompt_file = '無い.md'\n",
        'agent.implement.prompt_file = "無い.md": expected a readable text file: No such file',
    ),
    "a template that is a folder": (
        SMALLEST + "[agent.implement]\nprompt_file = '.'\n",
        'agent.implement.prompt_file = ".": expected a readable text file: Is a directory',
    ),
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return made_up(tmp_path)


@pytest.mark.parametrize(("content", "expected"), REFUSED.values(), ids=REFUSED.keys())
def test_is_refused_with_key_value_and_what_is_expected(
    place: Place, content: str, expected: str
) -> None:
    message = place.refused(content)
    assert expected in message
    assert len(message.splitlines()) == 1, "one slip, one line"
    assert message.startswith(f"{place.folder}/config.toml: ")


@pytest.mark.parametrize(
    ("content", "expected"),
    {
        "empty": (b" \n", "expected a template with text in it, but the file is empty"),
        "Shift JIS": ("実装".encode("shift_jis"), "expected UTF-8 text: byte 1 is none"),
        "huge": (b"x" * 300_000, "expected a template of at most 262144 bytes"),
    }.values(),
)
def test_a_template_must_be_text(place: Place, content: bytes, expected: str) -> None:
    place.write(content, "p.md")
    assert expected in place.refused(SMALLEST + "[agent.review]\nprompt_file = 'p.md'\n")


def test_everything_wrong_is_said_at_once(place: Place) -> None:
    message = place.refused(
        "[github]\nownr = 'x'\nrepositories = ['a']\n"
        "[policy]\nlabelers = 'all'\nmax_changed_files = '5'\n"
        "[[agent.rework]]\n[[agent.rework]]\ntimeout = 'sixty'\n"
        "[orders]\nsender = 'fax'\n"
    )
    keys = [re.sub(r"^.*config\.toml: ([^ :]+).*$", r"\1", line) for line in message.splitlines()]
    assert sorted(keys) == [
        "agent.rework[1].timeout",
        "github.ownr",
        "github.repositories[0]",
        "orders.sender",
        "policy.labelers",
        "policy.max_changed_files",
    ]


def test_no_value_of_a_secret_s_shape_is_shown(place: Place) -> None:
    secret = "github_pat_" + "a1" * 20
    message = place.refused(
        f'[github]\nowner = "{secret}"\ntoken = "{secret}"\nrepositories = ["{secret}"]\n'
        f'[agent.review]\neffort = "{secret}"\nprompt_file = "{secret}"\n'
    )
    assert secret not in message
    assert "secrets never stand in this file" in message
