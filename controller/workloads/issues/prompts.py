"""What Codex is told: a template of ours or the user's, and in it what GitHub and git say, as data.

Called by `controller.runtime` before a run. Pure: templates come as strings, no file is read. What
somebody else wrote stands between two lines with a word that occurs in none of the texts; values are
inserted once and never searched for placeholders. `docs/prompts.md` lists the placeholders.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

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
_PATTERN = re.compile(r"\{\{\s*([^{}\n]*?)\s*\}\}")
_LONE = re.compile(r"^[ \t]*\{\{\s*([^{}\n]*?)\s*\}\}[ \t]*(?:\n[ \t]*)?(?:\n|\Z)", re.MULTILINE)
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
    """Seed of the delimiter, the same for a repeated build of one run and unknown to anyone who
    writes on GitHub, for instance a secret of the host together with the run's number."""
    title: str
    body: str
    comments: tuple[Remark, ...] = ()
    base_branch: str
    base: Sha
    head: Sha
    instructions: str = ""
    """AGENTS.md of the base commit."""
    feedback: str = ""
    """Message of a refused delivery."""
    summary: str = ""
    """The reviewer's, with `findings`."""
    findings: tuple[Finding, ...] = ()
    protected: Sequence[str] = ()
    """Patterns of policy.protected_paths."""
    verify: tuple[str, ...] = ()
    diff: str = ""
    """For a review; may be empty when it stands in `diff_file`."""
    diff_file: str = ""
    """Where the reviewer can read the whole diff; needed when it does not fit inline."""


class _Block:
    """Frames foreign text so that its end cannot be forged."""

    def __init__(self, nonce: str, texts: Sequence[str]) -> None:
        folded = [text.lower() for text in texts]
        self.word = next(word for word in _words(nonce) if not any(word in text for text in folded))

    def __call__(self, what: str, text: str) -> str:
        """The text as data. It may say anything, and remains what somebody wrote."""
        return f"<<<{self.word} {what}\n{text}\n{self.word}>>>"


def _words(nonce: str) -> Iterator[str]:
    word = nonce
    while True:
        word = hashlib.sha256(f"toban:{word}".encode()).hexdigest()[:24]
        yield word


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


def _capped(text: str, limit: int) -> str:
    whole = shown(text)
    return (
        whole
        if len(whole) <= limit
        else f"{whole[:limit]}\n[cut here: more than {limit} characters]"
    )


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {shown(line)}" for line in lines)


def _said(values: PromptValues) -> str:
    """Comments, oldest first; of too many the newest are kept."""
    kept: list[str] = []
    room = _COMMENTS
    for remark in reversed(values.comments):
        text = visible(remark.text)[0]
        entry = f"Comment by {shown(remark.author)}, {remark.at:%Y-%m-%d %H:%M}:\n{text}"
        room -= len(entry)
        if room < 0:
            left = len(values.comments) - len(kept)
            kept.append(f"[{left} older comments are left out]")
            break
        kept.append(entry)
    return "\n\n".join(reversed(kept))


def _issue(values: PromptValues) -> str:
    title, body = visible(values.title)[0], visible(values.body)[0]
    said = _said(values)
    parts = [f"Title: {title}", body, *([said] if said else [])]
    return "\n\n".join(parts)


def _found(values: PromptValues) -> str:
    entries = [shown(values.summary)] if values.summary.strip() else []
    for each in values.findings:
        line = "" if each.line is None else f":{each.line}"
        entries.append(f"- {each.severity}: {shown(each.path)}{line}: {shown(each.message)}")
    return _capped("\n".join(entries), _FINDINGS)


def _diff(values: PromptValues, block: _Block) -> str:
    command = f"git diff {values.base} {values.head}"
    if values.diff and fits_inline(values.diff):
        return f"The diff (`{command}`):\n\n" + block("diff", shown(values.diff))
    if not values.diff_file:
        msg = f"the diff does not fit into {MAX_INLINE_DIFF} characters: diff_file must name it"
        raise ValueError(msg)
    return (
        f"The diff is too large to stand here. Read all of it, in pieces, in {values.diff_file} "
        f"(it is the output of `{command}`). A diff read in part must not be approved."
    )


type _Value = Callable[[PromptValues, _Block], str]


def _section(head: str, text: str, what: str, block: _Block) -> str:
    return f"{head}\n\n{block(what, text)}" if text.strip() else ""


PLACEHOLDERS: dict[str, _Value] = {
    "repository": lambda v, _: str(v.item.repository),
    "number": lambda v, _: str(v.item.number),
    "branch": lambda v, _: v.item.branch,
    "base_branch": lambda v, _: shown(v.base_branch),
    "base": lambda v, _: v.base,
    "head": lambda v, _: v.head,
    "title": lambda v, block: block("title", visible(v.title)[0]),
    "body": lambda v, block: block("body", visible(v.body)[0]),
    "comments": lambda v, block: _section("Comments:", _said(v), "comments", block),
    "issue": lambda v, block: block("issue", _issue(v)),
    "instructions": lambda v, block: _section(
        "The repository's own instructions (AGENTS.md of the base commit). Follow them where they "
        "do not contradict this prompt:",
        _capped(v.instructions, _INSTRUCTIONS),
        "AGENTS.md",
        block,
    ),
    "feedback": lambda v, block: _section(
        "Your last delivery was refused. Mend exactly this; your work is still in the working "
        "tree:",
        _capped(v.feedback, _FEEDBACK),
        "refusal",
        block,
    ),
    "findings": lambda v, block: _section(
        "The review asks for this. Check each finding against the code; mend it, or say in your "
        "answer why it does not hold:",
        _found(v),
        "findings",
        block,
    ),
    "protected": lambda v, _: (
        f"Leave these paths alone; a change that touches one is refused:\n\n{_listed(v.protected)}"
        if v.protected
        else ""
    ),
    "verify": lambda v, _: (
        "Afterwards these commands run on your change, without network, and must pass. Run them "
        f"yourself where you can:\n\n{_listed(v.verify)}"
        if v.verify
        else ""
    ),
    "diff": _diff,
}
"""Every name that may stand as `{{name}}` in a template, and what it becomes.

What others wrote always comes in a delimited block, whatever the template says around it.
"""


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
    stands nowhere, and when the whole is longer than MAX_PROMPT characters.
    """
    check_template(template)
    block = _Block(values.nonce, [template, *_foreign(values)])
    made = {name: PLACEHOLDERS[name](values, block) for name in set(_PATTERN.findall(template))}
    tidy = _LONE.sub(lambda found: found[0] if made[found[1]] else "", template)
    prompt = _PATTERN.sub(lambda found: made[found[1]], tidy).strip() + "\n"
    if len(prompt) > MAX_PROMPT:
        msg = f"the prompt has {len(prompt)} characters; Codex takes {MAX_PROMPT}"
        raise ValueError(msg)
    return prompt


def _foreign(values: PromptValues) -> Iterator[str]:
    """Everything in which the delimiter must not occur, as it was given and as it will stand."""
    document = values.model_dump_json()
    yield document
    yield from (
        shown(text)
        for text in (values.title, values.body, values.instructions, values.feedback, values.diff)
    )
