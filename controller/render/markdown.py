r"""Foreign text made harmless in GitHub Markdown, in titles and in commit messages.

Everything that toban writes for people passes here: titles, summaries, findings, output, paths.
Two layers, because a pull request's body can become the message of a squash commit, and because
other bots read the raw text: `_defuse` breaks what acts even in a code block (closing keywords,
`[skip ci]`, trailers, HTML comments, slash commands) by a visible blank or backslash, and each
function below adds what its own place needs. Nothing is ever deleted from Markdown, so no two
pieces can join into something new. Pure; decides nothing.
"""

import re
from collections.abc import Callable

from controller.domain.text import safe_text

_GAP = r"[^\S\n]*+"
"""White space within a line."""
_CLOSING = re.compile(
    # https://docs.github.com/issues/tracking-your-work-with-issues/linking-a-pull-request-to-an-issue
    r"((?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\s*+(?::\s*+)?"
    r"(?:(?:[\w.-]{1,39}+/[\w.-]{1,100}+)?#|GH-|https?:))(?=[0-9]|//)",
    re.IGNORECASE,
)
_SKIP = re.compile(
    r"(\[)(?=(?:skip[ _-]|no[ _-]ci|[a-z-]{1,20}[ _-]skip\b))|(\*\*\*NO)(?=_CI\*\*\*)",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    rf"^({_GAP}(?:[\w-]++(?<=-by)|toban-[\w-]*+|change-id|skip-checks){_GAP}):",
    re.IGNORECASE | re.MULTILINE,
)
_COMMAND = re.compile(rf"^({_GAP})/(?=[a-z])(?![\w.+-]*+/)", re.IGNORECASE | re.MULTILINE)
_CALL = re.compile(rf"^({_GAP})@(?=[\w-]++[^\S\n]++\S)", re.MULTILINE)
"""A line that orders a bot about: `@bors r+`. A decorator or a package scope is none."""

_ACTIVE = re.compile(
    r"(?P<code>(?<!`)`[^`\n]++`(?!`))"
    r"|(?P<link>(?:(?:https?|ftp)://|(?:mailto|xmpp):|www\.)[!-;=?-_a-~]*+)"
    r"|(?P<mention>[A-Za-z0-9._+-]{0,64}+@[A-Za-z0-9_][A-Za-z0-9_./-]{0,100})"
    r"|(?P<reference>[A-Za-z0-9._/-]{0,140}+#[0-9]++|GH-[0-9]++)"
    r"|(?P<sign>[\\`*_\[\]~|$<>&])",
    re.IGNORECASE,
)
_START = re.compile(r"(?=[-+=:]|#{1,6}(?:\s|$))|[0-9]{1,9}(?=[.)])")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_TICKS = re.compile(r"`+")
_BLANKS = re.compile(r"\n{3,}")

_MENTION = re.compile(r"@(?=[A-Za-z0-9_])")
_REFERENCE = re.compile(r"(#|GH-)(?=[0-9])", re.IGNORECASE)
_URL = re.compile(r"((?:https?|ftp):(?=//)|www\.(?=\S)|(?:mailto|xmpp):(?=\S))", re.IGNORECASE)
_AUTOSQUASH = re.compile(r"^(fixup|squash|amend)!", re.IGNORECASE)


def inline(text: str, limit: int) -> str:
    """Foreign text as one line of Markdown that shows exactly itself. At most `limit` characters.

    Code spans stay code spans; names, references and addresses become code spans.
    """
    return _fit(lambda cut: _line(_defuse(cut).strip()), text, limit=limit)


def prose(text: str, limit: int) -> str:
    """Foreign text of several lines as plain paragraphs. At most `limit` characters."""
    return _fit(_paragraphs, text, limit=limit, lines=True)


def quoted(text: str, limit: int) -> str:
    """The same as a block quote: for what somebody else says. At most `limit` characters."""
    return _fit(
        lambda cut: "\n".join(f"> {line}".rstrip() for line in _paragraphs(cut).split("\n")),
        text,
        limit=limit,
        lines=True,
    )


def code(text: str, limit: int) -> str:
    """Foreign text as one code span: paths, logins, branch names."""
    return _fit(lambda cut: _span(_defuse(cut)), text, limit=limit)


def fenced(text: str, limit: int, info: str = "") -> str:
    """Foreign text in a fence longer than any run of backticks in it: output, excerpts.

    `info` is the language. At most `limit` characters with the fence; `limit` is 40 or more.
    """
    language = re.sub(r"[^A-Za-z]", "", info)[:20]

    def render(cut: str) -> str:
        inner = _CALL.sub(r"\1\\@", _defuse(cut)).strip("\n")
        fence = "`" * max(3, _longest_run(inner) + 1)
        return f"{fence}{language}\n{inner}\n{fence}"

    return _fit(render, text, limit=limit, lines=True)


def commit_line(text: str, limit: int) -> str:
    """Foreign text as a title or the subject of a commit: plain, one line, maybe empty.

    A squash merge makes the subject of a commit of a pull request's title, so both are the same.
    """
    return _fit(
        lambda cut: _AUTOSQUASH.sub(r"\1 !", _plain(cut.strip().lstrip("# ").strip())),
        text,
        limit=limit,
    )


def commit_text(text: str, limit: int) -> str:
    """Foreign text as the body of a commit message: plain lines without trailers, maybe empty."""

    def render(cut: str) -> str:
        kept = [line.rstrip() for line in cut.split("\n") if not _TRAILER.match(line)]
        return _BLANKS.sub("\n\n", _plain("\n".join(kept))).strip()

    return _fit(render, text, limit=limit, lines=True)


def _fit(render: Callable[[str], str], text: str, *, limit: int, lines: bool = False) -> str:
    """Render as much of the text as `limit` characters of output hold, cut visibly.

    The text is cut before it is rendered, never after: what is cut cannot lose its escapes.
    """
    budget = limit
    while True:
        made = render(safe_text(text, limit=budget, lines=lines))
        if len(made) <= limit or budget == 0:
            return made
        budget = min(budget - 1, budget * limit // len(made))


def _defuse(text: str) -> str:
    """Break what acts wherever it stands, code and commit messages included."""
    text = text.replace("<!--", "<! --")
    text = _CLOSING.sub(r"\1 ", text)
    text = _SKIP.sub(r"\g<0> ", text)
    text = _TRAILER.sub(r"\1\\:", text)
    return _COMMAND.sub(r"\1\\/", text)


def _plain(text: str) -> str:
    """Without Markdown only a visible blank keeps a name or a reference from acting."""
    text = _MENTION.sub("@ ", _defuse(text))
    text = _REFERENCE.sub(r"\1 ", text)
    return _URL.sub(r"\1 ", text)


def _paragraphs(text: str) -> str:
    lines = [_line(line.strip()) for line in _defuse(text).split("\n")]
    return _BLANKS.sub("\n\n", "\n".join(lines)).strip("\n")


def _line(text: str) -> str:
    """One line, escaped; nothing at its start makes a heading, a list or a rule of it."""
    start = _START.match(text)
    at = start.end() if start else 0
    made = [""]
    for found in _ACTIVE.finditer(text, at):
        piece = _piece(found)
        before = text[at : found.start()] or made[-1]
        # Two spans side by side would be one longer run of backticks.
        gap = " " if piece[0] == "`" and before[-1:] == "`" else ""
        made += [text[at : found.start()], gap, piece]
        at = found.end()
    line = "".join(made) + text[at:]
    if start is None:
        return line
    # A code span needs no backslash, and one before it would break it.
    return start[0] + ("" if line.startswith("`") else "\\") + line


def _piece(found: re.Match[str]) -> str:
    if found["sign"]:
        return _ENTITIES.get(found[0], f"\\{found[0]}")
    return found[0] if found["code"] else _span(found[0])


def _span(text: str) -> str:
    tick = "`" * (_longest_run(text) + 1)
    pad = " " if not text or text[0] == "`" or text[-1] == "`" else ""
    return f"{tick}{pad}{text}{pad}{tick}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)
