"""What the demo says to somebody who sees toban for the first time.

Called by `controller.demo.main`; returns styled lines and prints nothing. Text that came from the
stand-in or from Codex passes `foreign` or `safe_text`.
"""

import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from controller.demo.endings import Ending, pull_of, records
from controller.demo.stage import TOKENS, Stage
from controller.demo.story import BOT, OWNER, REPOSITORY, STRANGER, Story
from controller.domain.text import safe_text
from controller.render.lines import EMPTY, Line, Span, Style, foreign, line
from controller.workloads.issues.markers import VerdictRecord

LONGEST_DIFF = 20_000
SYSCTL = Path("/proc/sys")


def introduction(told: Iterable[Story]) -> list[Line]:
    """What is real, what is scripted, and what the four issues are about."""
    return [
        line(Span("toban demo: four issues, from the label to the pull request", "bold")),
        EMPTY,
        line("  real      toban's own commands as processes, git over HTTP, Codex in its sandbox,"),
        line("            every edit, every test run, every commit and push"),
        line("  scripted  GitHub is a stand-in, and the model says what a script says"),
        line("            nothing leaves this machine, no account is needed"),
        EMPTY,
        line(f"In {REPOSITORY}, {OWNER} has put agent:ready on four issues:"),
        *(
            line(f"  #{story.number} ", Span(story.title, "bold"), Span(f"  {story.plot}", "dim"))
            for story in told
        ),
    ]


def command(*arguments: str) -> list[Line]:
    """The command that runs next."""
    return [EMPTY, line(Span(f"$ toban {shlex.join(arguments)}", "start"))]


def proposal(stage: Stage, story: Story) -> list[Line]:
    """One pull request as a reviewer sees it: what it is, its diff, and the stored verdict."""
    issue = pull_of(stage, story.number)
    if issue is None or issue.pull is None:
        return []
    head = f"Pull request #{issue.number}: {foreign(issue.title)}"
    lines = [
        EMPTY,
        line(Span(head, "bold")),
        line(f"{issue.pull.head} into {issue.pull.base}, by {issue.user}, {issue.state}"),
        EMPTY,
        *_diff(stage, issue.pull.base_sha, issue.pull.head_sha),
    ]
    for record in records(stage, issue.number):
        if isinstance(record, VerdictRecord):
            said = record.verdict
            verdict = Span(said.verdict, "good" if said.approves else "warn")
            lines += [EMPTY, line("Review: ", verdict, f": {foreign(said.summary)}")]
    return lines


def _diff(stage: Stage, base: str, head: str) -> Iterator[Line]:
    with stage.world.state.lock:
        git = stage.world.state.git(stage.world.repo(REPOSITORY))
        text = git.diff_text(git.merge_base(base, head) or base, head)
    for each in safe_text(text, limit=LONGEST_DIFF, lines=True).splitlines():
        yield line("  ", Span(each, _colour(each)))


def _colour(text: str) -> Style:
    match text[:1]:
        case _ if text.startswith(("diff ", "index ", "--- ", "+++ ")):
            return "bold"
        case "+":
            return "create"
        case "-":
            return "remove"
        case "@":
            return "start"
        case _:
            return ""


def judgement(found: Sequence[Ending], *, seconds: float) -> list[Line]:
    """Every ending, right or wrong."""
    lines: list[Line] = [EMPTY, line(Span("What GitHub's side says:", "bold"))]
    for each in found:
        mark = Span("not as it had to be", "bad") if each.wrong else Span("ok", "good")
        lines.append(line("  ", mark, f"  {each.what}"))
        lines += [line(Span(f"      {foreign(wrong)}", "bad")) for wrong in each.wrong]
    if any(each.wrong for each in found):
        return [*lines, EMPTY, line(Span("The demo did not come out as it had to.", "bad"))]
    return [
        *lines,
        EMPTY,
        line(Span(f"All four ended as they had to, in {seconds:.0f} seconds.", "good")),
        line("A person merges or sends back; toban does neither."),
    ]


def onward() -> list[Line]:
    """Where to go from here."""
    return [
        EMPTY,
        line("Go on:"),
        line("  toban demo --keep   leaves all of this running, with commands to look around"),
        line("  toban init          writes a configuration for your own repositories"),
        line("  toban plan          with it, says what would be done, and does none of it"),
    ]


def invitation(stage: Stage) -> list[Line]:
    """Address, tokens, configuration and commands for whoever wants to play."""
    url, config = stage.github.url, shlex.quote(str(stage.config))
    header = f"-H 'Authorization: Bearer {TOKENS[OWNER]}'"
    api = f"{url}/repos/{REPOSITORY}"
    pull = pull_of(stage, 1)
    number = pull.number if pull is not None else 1
    clone = f"{url.replace('://', f'://{OWNER}:{TOKENS[OWNER]}@')}/{REPOSITORY}.git"
    toban = _toban()
    new = '{"title": "A note, please", "body": "Write one.", "labels": ["agent:ready"]}'
    return [
        EMPTY,
        line(Span(f"{url} answers until you press Ctrl-C.", "bold")),
        line(f"  configuration  {stage.config}"),
        line(f"  token of {OWNER}  {TOKENS[OWNER]}  (owner of the repository)"),
        line(f"  token of {BOT}  {TOKENS[BOT]}  (toban's)"),
        line(f"  token of {STRANGER}  {TOKENS[STRANGER]}  (may read and open issues)"),
        EMPTY,
        line("Look:"),
        line(f"  {url}/{REPOSITORY}   in a browser"),
        line(f"  git clone {clone} && git -C teatime log --stat origin/agent/issue-2"),
        line(f"  curl -s {header} {api}/issues/{number}/comments"),
        line(f"  {toban} explain '{REPOSITORY}#3' --config {config}"),
        EMPTY,
        line("Ask for something new, then let toban work (this model writes a note into a file):"),
        line(f"  curl -s {header} {api}/issues -d '{new}'"),
        line(f"  {toban} plan --config {config}"),
        line(f"  {toban} run-once --config {config}"),
        EMPTY,
        line("Give the third issue another chance, and merge the first one:"),
        line(f"  curl -s {header} -X DELETE {api}/issues/3/labels/agent:blocked"),
        line(f"""  curl -s {header} {api}/issues/3/labels -d '{{"labels": ["agent:ready"]}}'"""),
        line(f"  curl -s {header} -X PUT {api}/pulls/{number}/merge"),
        EMPTY,
    ]


def _toban() -> str:
    """How this very program is called from a shell."""
    beside = Path(sys.executable).parent / "toban"
    found = shutil.which("toban")
    if found is not None and Path(found).resolve() == beside.resolve():
        return "toban"
    if beside.is_file():
        return shlex.quote(str(beside))
    return f"{shlex.quote(sys.executable)} -m controller"


def stopped(folder: Path | None) -> Line:
    """The last line after a signal; `folder` is None when it is removed."""
    if folder is None:
        return line("Stopped; nothing is left behind.")
    return line(f"Stopped. Everything lies in {folder}; remove it when you are done.")


def no_git() -> list[Line]:
    """Without git there is nothing to show."""
    return [line(Span("git is missing.", "bad"), " Debian, Ubuntu: sudo apt-get install git")]


def no_sandbox(reason: str) -> list[Line]:
    """Why Codex's sandbox does not work here, and what helps on this kernel."""
    return [
        EMPTY,
        line(Span("Codex's sandbox does not work on this machine, so nothing is run.", "bad")),
        line(f"  {foreign(reason)}"),
        EMPTY,
        line("It needs user namespaces. What helps here:"),
        *(line(f"  {each}") for each in _cures()),
    ]


def _cures() -> list[str]:
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        profile = "bwrap-userns-restrict"
        return [
            "AppArmor forbids them to unprivileged programs (Ubuntu 24.04 and later). Allow bwrap:",
            "sudo apt-get install apparmor-profiles apparmor-utils",
            f"sudo install -m0644 /usr/share/apparmor/extra-profiles/{profile} /etc/apparmor.d/",
            f"sudo apparmor_parser -r /etc/apparmor.d/{profile}",
        ]
    if _setting("user/max_user_namespaces") == "0":
        return ["sudo sysctl -w user.max_user_namespaces=15000"]
    if _setting("kernel/unprivileged_userns_clone") == "0":
        return ["sudo sysctl -w kernel.unprivileged_userns_clone=1"]
    return [
        "in a container: start it so that it may make user namespaces, for instance",
        "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined ...",
    ]


def _setting(name: str) -> str:
    try:
        return (SYSCTL / name).read_text(encoding="ascii").strip()
    except OSError:
        return ""
