"""What Codex is told: a template of ours or the user's, and in it what GitHub and git say, as data.

Called by `controller.runtime` before a run. Pure: templates come as strings, no file is read. What
somebody else wrote stands between lines with a word that occurs nowhere else in the prompt; values
are inserted once and never searched for placeholders.
"""

import hashlib
import re
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from controller.domain.ids import IssueId, Sha
from controller.domain.text import HOSTILE
from controller.domain.values import Value
from controller.workloads.issues.verdict import Finding
from controller.workloads.issues.visible import visible

__all__ = [
    "MAX_INLINE_DIFF",
    "MAX_PROMPT",
    "PLACEHOLDERS",
    "PromptValues",
    "Remark",
    "build",
    "check_template",
    "fits_inline",
    "shown",
    "visible",
]

MAX_PROMPT = 1_000_000
"""Characters of a whole prompt; Codex refuses more than 1,048,576."""
MAX_INLINE_DIFF = 300_000
"""Characters of a diff that stands in the prompt itself."""
_COMMENTS = 100_000
_INSTRUCTIONS = 100_000
_FEEDBACK = 20_000
_FINDINGS = 60_000
_NAME = r"\{\{[ \t]*([^{}\n]*?)[ \t]*\}\}"
_PATTERN = re.compile(_NAME)
_LONE = re.compile(rf"^[ \t]*{_NAME}[ \t]*(?:\n[ \t]*)?(?:\n|\Z)", re.MULTILINE)
"""A placeholder alone in its line, with an empty line behind it: goes when there is nothing."""


class Remark(Value):
    """A comment by somebody with write access, from before the label; hostile text."""

    author: str
    at: datetime
    text: str


class PromptValues(Value):
    """All that a template can name. Texts are raw: `build` makes them visible and delimits them."""

    item: IssueId
    nonce: str
    """Seed of the delimiter: the same for a repeated build of one run, and not to be guessed by
    anybody who writes on GitHub."""
    title: str
    body: str
    comments: tuple[Remark, ...] = ()
    """Oldest first."""
    base_branch: str
    base: Sha
    head: Sha
    """Commit to work on, or to review."""
    instructions: str = ""
    """AGENTS.md of the base commit."""
    feedback: str = ""
    """Message of a refused delivery."""
    summary: str = ""
    """The reviewer's, with `findings`."""
    findings: tuple[Finding, ...] = ()
    protected: tuple[str, ...] = ()
    """Patterns of policy.protected_paths."""
    verify: tuple[str, ...] = ()
    """Command lines of the configuration."""
    diff: str = ""
    """Text diff from base to head."""
    diff_file: str = ""
    """Where the reviewer reads the diff instead, when it does not fit inline; else empty."""


def shown(text: str) -> str:
    r"""Foreign text whole, with every invisible character as `\uXXXX`; CRLF ends lines as LF does.

    For diffs and messages, in which what is hidden must be seen.
    """
    return HOSTILE.sub(_escape, text.replace("\r\n", "\n"))


def _escape(found: re.Match[str]) -> str:
    return found[0] if found[0] in "\n\t" else f"\\u{ord(found[0]):04X}"


def fits_inline(diff: str) -> bool:
    """Whether the diff goes into the prompt; otherwise the reviewer needs it as a file."""
    return len(shown(diff)) <= MAX_INLINE_DIFF


def check_template(template: str) -> None:
    """Raise ValueError that names the first placeholder that does not exist, and those that do."""
    for name in _PATTERN.findall(template):
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{{{each}}}}}" for each in PLACEHOLDERS)
            msg = f"unknown placeholder {{{{{shown(name)}}}}}; known are {known}"
            raise ValueError(msg)


def build(template: str, *, values: PromptValues) -> str:
    """The prompt for one run.

    Equal arguments give equal text. Raises ValueError for an unknown placeholder, for a diff that
    needs a file and has none, and when the whole is longer than MAX_PROMPT characters.
    """
    check_template(template)
    undelimited = _fill(template, values, word="")
    prompt = _fill(template, values, word=_unused_word(values.nonce, undelimited.lower()))
    if len(prompt) > MAX_PROMPT:
        msg = f"the prompt has {len(prompt)} characters; Codex takes {MAX_PROMPT}"
        raise ValueError(msg)
    return prompt


def _unused_word(nonce: str, text: str) -> str:
    word = nonce
    while True:
        word = hashlib.sha256(f"toban:{word}".encode("utf-8", "surrogatepass")).hexdigest()[:24]
        if word not in text:
            return word


def _fill(template: str, values: PromptValues, *, word: str) -> str:
    block = _Block(word)
    names = set(_PATTERN.findall(template))
    made = {name: PLACEHOLDERS[name].make(values, block) for name in names}
    tidy = _LONE.sub(lambda found: found[0] if made[found[1]] else "", template)
    return _PATTERN.sub(lambda found: made[found[1]], tidy).strip() + "\n"


class _Block(NamedTuple):
    """Frames what somebody else wrote; without the word, its end cannot be forged."""

    word: str

    def frame(self, what: str, text: str) -> str:
        return f"<<<{self.word} {what}\n{text}\n{self.word}>>>"

    def section(self, head: str, what: str, text: str) -> str:
        """A sentence of ours and the text; nothing when there is no text."""
        return f"{head}\n\n{self.frame(what, text)}" if text.strip() else ""


class Placeholder(NamedTuple):
    """What a name in a template stands for."""

    help: str
    make: Callable[[PromptValues, _Block], str]


def _capped(text: str, limit: int) -> str:
    whole = shown(text[: limit + 1])
    if len(whole) <= limit:
        return whole
    return f"{whole[:limit]}\n[cut here: more than {limit} characters]"


def _listed(head: str, lines: tuple[str, ...]) -> str:
    return "\n".join([f"{head}\n", *(f"- {shown(line)}" for line in lines)]) if lines else ""


def _title(values: PromptValues, block: _Block) -> str:
    return block.frame("title", visible(values.title)[0])


def _body(values: PromptValues, block: _Block) -> str:
    return block.frame("body", visible(values.body)[0])


def _comments(values: PromptValues, block: _Block) -> str:
    """Each in a frame of its own, so that none can pass for another; of too many the newest."""
    kept: list[str] = []
    room = _COMMENTS
    for remark in reversed(values.comments):
        text = visible(remark.text)[0]
        room -= len(text) + 200
        if room < 0:
            kept.append(f"({len(values.comments) - len(kept)} older comments are left out.)")
            break
        what = f"comment by {shown(remark.author)}, {remark.at:%Y-%m-%d %H:%M}"
        kept.append(block.frame(what, text))
    return "\n\n".join(reversed(kept))


def _issue(values: PromptValues, block: _Block) -> str:
    parts = [_title(values, block), _body(values, block), _comments(values, block)]
    return "\n\n".join(filter(None, parts))


def _findings(values: PromptValues, block: _Block) -> str:
    entries = [values.summary] if values.summary.strip() else []
    for each in values.findings:
        line = "" if each.line is None else f":{each.line}"
        entries.append(f"- {each.severity}: {each.path}{line}: {each.message}")
    head = (
        "The review asks for this. Check each finding against the code, then mend it, or say in "
        "your answer why it does not hold:"
    )
    return block.section(head, "findings", _capped("\n".join(entries), _FINDINGS))


def _instructions(values: PromptValues, block: _Block) -> str:
    head = (
        "The repository's own rules, AGENTS.md of the base commit. They count where they do not "
        "contradict this prompt:"
    )
    return block.section(head, "AGENTS.md", _capped(values.instructions, _INSTRUCTIONS))


def _feedback(values: PromptValues, block: _Block) -> str:
    head = (
        "Your last delivery was refused; your work is still in the working tree. Mend exactly what "
        "this says:"
    )
    return block.section(head, "refusal", _capped(values.feedback, _FEEDBACK))


def _diff(values: PromptValues, block: _Block) -> str:
    command = f"git diff {values.base} {values.head}"
    if values.diff_file:
        return (
            f"The diff is too large to stand here. Read all of it, in pieces, in "
            f"{values.diff_file} (or by `{command}`). A diff that was read only in part must not "
            "be approved."
        )
    if not fits_inline(values.diff):
        msg = f"a diff of more than {MAX_INLINE_DIFF} characters needs diff_file"
        raise ValueError(msg)
    text = shown(values.diff)
    return block.section(f"The diff, as `{command}` shows it:", "diff", text) or (
        f"The diff, as `{command}` shows it, is empty."
    )


_PROTECTED = "Leave these paths alone (gitignore patterns); a change that touches one is refused:"
_VERIFY = "Your change must pass these commands, which run without network. Try them yourself:"
PLACEHOLDERS: dict[str, Placeholder] = {
    "repository": Placeholder("owner/repo", lambda v, _: str(v.item.repository)),
    "number": Placeholder("number of the issue", lambda v, _: str(v.item.number)),
    "branch": Placeholder("the item's branch", lambda v, _: v.item.branch),
    "base_branch": Placeholder("name of the base branch", lambda v, _: shown(v.base_branch)),
    "base": Placeholder("base commit", lambda v, _: v.base),
    "head": Placeholder("commit to work on or to review", lambda v, _: v.head),
    "issue": Placeholder("title, body and comments of the issue, framed", _issue),
    "title": Placeholder("title of the issue, framed", _title),
    "body": Placeholder("text of the issue, framed", _body),
    "comments": Placeholder("comments by people with write access, framed", _comments),
    "instructions": Placeholder("AGENTS.md of the base commit, or nothing", _instructions),
    "feedback": Placeholder("why the last delivery was refused, or nothing", _feedback),
    "findings": Placeholder("what the review found, or nothing", _findings),
    "protected": Placeholder(
        "paths that must not be touched, or nothing", lambda v, _: _listed(_PROTECTED, v.protected)
    ),
    "verify": Placeholder(
        "commands that the change must pass, or nothing", lambda v, _: _listed(_VERIFY, v.verify)
    ),
    "diff": Placeholder("the diff under review, or the file that holds it", _diff),
}
"""Every name that may stand as `{{name}}` in a template.

What others wrote always comes framed, whatever the template says around it.
"""
