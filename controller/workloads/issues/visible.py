"""The text of an issue or comment as a person sees it on GitHub: what is hidden there is left out.

Whoever puts `agent:ready` on vouches for what they saw; an HTML comment or an invisible character
would speak to the model behind their back. Used by `controller.workloads.issues.prompts`. Pure; a
doubt errs towards leaving out, and the caller learns that something was.
"""

import re

from controller.domain.text import HOSTILE, LINES

MAX_TEXT = 20_000
"""Characters of one text that the model gets."""
_UNREAD = 200_000
"""More than three times what GitHub accepts as a body; the scan never sees what lies behind."""
_CLOSERS = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>", "<!": ">"}
"""What GitHub's Markdown drops (CommonMark 4.6, 6.6): comment, instruction, CDATA, declaration."""
_TOKEN = re.compile(
    r"(?P<fence>^(?:`{3,}[^`\n]*|~{3,}[^\n]*)$)"
    r"|(?P<blank>^[ \t]*$)"
    r"|(?P<note>^ {0,3}\[[^\]\n]*\]:[ \t]*(?:(?:#|<>)[^\n]*|\S+[ \t]+[\"'(][^\n]*)$)"
    r"|(?P<code>(?<![`\\])`[^`\n]+`(?!`))"
    r"|(?P<hidden><!--|<\?|<!\[CDATA\[|<!(?=[A-Za-z]))"
    r"|(?P<tag><[A-Za-z][A-Za-z0-9-]*+\s(?:[^<>\"']|\"[^\"]*\"|'[^']*')*+>)"
    r"|(?P<mark>[<`~])",
    re.MULTILINE,
)
_VERBATIM = re.compile(r"<(?:pre|script|style|textarea)", re.IGNORECASE)
_CONTAINERS = re.compile(r"(?:[ \t>*+-]|[0-9]{1,9}[.)])*")
_ATTRIBUTE = re.compile(r"([A-Za-z_:][\w:.-]*)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?")
_PLAIN_ATTRIBUTE = re.compile(
    r"(?:src|href)=[\"']?[!-~]*|(?:width|height|align|alt)=[\"']?[\w.%]{0,12}[\"']?", re.IGNORECASE
)
"""Where a picture or link leads and how large it is: what GitHub itself writes for a screenshot."""
_EMOJI = re.compile("[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]")
_SELECTORS = re.compile("(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+")


def visible(text: str) -> tuple[str, bool]:
    """What a reader sees of the text, at most MAX_TEXT characters, and whether anything is gone.

    Left out: HTML comments and their like, attributes of HTML tags, the `[//]: # (...)` trick,
    control, zero-width, bidi, tag and other invisible characters. Samples in fences and code spans
    stay where they surely are such. A text that is too long ends in a note that says so.
    """
    whole = "\n".join(LINES.split(text[:_UNREAD]))
    plain = _SELECTORS.sub("", HOSTILE.sub(_character, whole))
    shown = _without_hidden(plain)
    if len(shown) <= MAX_TEXT and len(text) <= _UNREAD:
        return shown, shown != whole
    note = f"\n[cut here: more than {MAX_TEXT} characters]"
    return shown[: MAX_TEXT - len(note)] + note, True


def _character(found: re.Match[str]) -> str:
    """An invisible character is dropped, but for tabs, line ends and what joins two emoji."""
    around = found.string[max(found.start() - 1, 0) : found.end() + 1]
    joins = found[0] == "\u200d" and len(around) == 3 and _EMOJI.match(around[0])  # noqa: PLR2004 - itself and two neighbours
    return found[0] if found[0] in "\n\t" or (joins and _EMOJI.match(around[2])) else ""


class _Scan:
    """What was met since the last blank line, and since the beginning."""

    html = False
    """A `<`: the lines may be raw HTML, in which fences and code spans mean nothing."""
    ticks = False
    """A stray backtick: where a code span begins cannot be told any more."""
    verbatim = False
    """An element that only its end tag closes; stays for the rest of the text."""

    def step(self, text: str, found: re.Match[str]) -> tuple[int, str]:
        """Where the scan goes on, and what is kept of the text up to there."""
        start, end = found.span()
        if found["note"] is not None:
            return end, ""
        if found["blank"] is not None:
            self.html = self.ticks = False
            return end, found[0]
        if found["fence"] is not None and not (self.html or self.verbatim):
            end = _end_of_fence(text, found)
            return end, text[start:end]
        if found["code"] is not None and not (self.html or self.ticks or self.verbatim):
            return end, found[0]
        return self._unsure(text, found)

    def _unsure(self, text: str, found: re.Match[str]) -> tuple[int, str]:
        """Raw HTML, or something that only looks like a fence or a code span."""
        start = found.start()
        if found["hidden"] is not None:
            closer = _CLOSERS[found[0]]
            close = text.find(closer, found.end())
            line = text[text.rfind("\n", 0, start) + 1 : start]
            # Unclosed in a block or in raw HTML it hides all that follows; elsewhere it is text.
            endless = self.html or self.verbatim or _CONTAINERS.fullmatch(line)
            self.html = True
            if close >= 0:
                return close + len(closer), " "
            return (len(text), "") if endless else (start + 1, found[0][0])
        if found[0][0] == "<":
            self.html = True
            self.verbatim = self.verbatim or bool(_VERBATIM.match(text, start))
        else:
            self.ticks = True
        if found["tag"] is not None:
            return found.end(), _bare_tag(found[0])
        return start + 1, found[0][0]


def _without_hidden(text: str) -> str:
    kept: list[str] = []
    scan = _Scan()
    at = 0
    while at < len(text) and (found := _TOKEN.search(text, at)):
        end, piece = scan.step(text, found)
        kept += [text[at : found.start()], piece]
        # A blank line of no characters is met once: the scan goes on behind its end.
        at = end if end > found.start() else end + 1
        kept.append(text[end:at])
    kept.append(text[at:])
    return "".join(kept)


def _end_of_fence(text: str, found: re.Match[str]) -> int:
    mark = found[0][0]
    length = len(found[0]) - len(found[0].lstrip(mark))
    closing = re.compile(rf"^ {{0,3}}{mark}{{{length},}}[ \t]*$", re.MULTILINE)
    close = closing.search(text, found.end())
    return close.end() if close else len(text)


def _bare_tag(tag: str) -> str:
    """The tag without attributes that say something nobody sees."""
    name = re.match(r"<[A-Za-z0-9-]+", tag)
    head = name[0] if name else "<"
    kept = [
        found[0]
        for found in _ATTRIBUTE.finditer(tag, len(head))
        if _PLAIN_ATTRIBUTE.fullmatch(found[0])
    ]
    whole = tag[len(head) : -1].rstrip("/").split()
    return tag if whole == kept else " ".join([head, *kept]) + ">"
