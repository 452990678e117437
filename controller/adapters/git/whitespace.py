r"""The whitespace check of added lines: git's rules, with two things that are no error here.

A CR before the line feed is fine in a file that had CRLF before, and two blanks at the end of a
Markdown line are a line break. Attributes come from the base commit (`attributes`), never from the
tree. Only added lines are looked at.
"""

import re
from dataclasses import dataclass, replace
from typing import NamedTuple

from controller.adapters.git.patch import Line

_MARKDOWN = (b".md", b".markdown", b".mdown", b".mkd", b".mdx")
_CONFLICT = re.compile(rb"(?:<{7}|>{7}|\|{7})(?: .*)?")
_MIDDLE = re.compile(rb"={7}")
_BLANK = b" \t\r"
_SNIFFED = 8000
"""Bytes within which a NUL makes a file binary, as in git."""
_TAB_WIDTH = 8
_MAX_TAB_WIDTH = 63


@dataclass(frozen=True, slots=True)
class Rules:
    """What counts as an error (core.whitespace in git-config(1))."""

    blank_at_eol: bool = True
    space_before_tab: bool = True
    blank_at_eof: bool = True
    indent_with_non_tab: bool = False
    tab_in_indent: bool = False
    cr_at_eol: bool = False
    tab_width: int = _TAB_WIDTH


NO_RULES = Rules(blank_at_eol=False, space_before_tab=False, blank_at_eof=False)


class OldFile(NamedTuple):
    """What must be known of a file before the change."""

    is_crlf: bool = False
    blank_end: int = 0
    """Blank lines at its end."""


def rules_of(attribute: str) -> Rules:
    """The rules that a value of the attribute `whitespace` asks for (gitattributes(5))."""
    if attribute == "unspecified":
        return Rules()
    if attribute == "unset":
        return NO_RULES
    if attribute == "set":
        return Rules(indent_with_non_tab=True)
    rules = Rules()
    for word in re.split(r"[, \t\n\r]+", attribute):
        name = word.removeprefix("-")
        on = name == word
        field = name.replace("-", "_")
        if name.startswith("tabwidth=") and name[9:].isdigit():
            width = int(name[9:])
            rules = replace(rules, tab_width=width) if 0 < width <= _MAX_TAB_WIDTH else rules
        elif name == "trailing-space":
            rules = replace(rules, blank_at_eol=on, blank_at_eof=on)
        elif field in _SWITCHES:
            rules = replace(rules, **{field: on})
    return rules


_SWITCHES = frozenset(Rules.__dataclass_fields__) - {"tab_width"}


def is_binary(data: bytes) -> bool:
    """Whether git takes this content for binary."""
    return b"\0" in data[:_SNIFFED]


def old_file(data: bytes) -> OldFile:
    """Line ends and blank end of a file as it was."""
    feeds = data.count(b"\n")
    return OldFile(
        is_crlf=feeds > 0 and 2 * data.count(b"\r\n") >= feeds,
        blank_end=_blank_end(data),
    )


def needs_old(lines: list[Line], data: bytes) -> bool:
    """Whether the verdict on these lines depends on the file before."""
    return any(line.text.endswith(b"\r") for line in lines) or _blank_end(data) > 0


def check_lines(
    path: bytes, lines: list[Line], data: bytes, *, rules: Rules, old: OldFile
) -> list[tuple[int, str]]:
    """Line number and error of each bad line.

    Args:
        path: of the file; its ending tells Markdown.
        lines: the added ones.
        data: the whole new content.
        rules: from the attributes.
        old: the file before.
    """
    rules = replace(rules, cr_at_eol=True) if old.is_crlf else rules
    markdown = path.lower().endswith(_MARKDOWN)
    conflict = any(_CONFLICT.fullmatch(line.text.rstrip(b"\r")) for line in lines)
    found = [
        (line.number, error)
        for line in lines
        for error in _errors(line.text, rules, markdown=markdown, conflict=conflict)
    ]
    if rules.blank_at_eof and (end := _blank_end(data)) > old.blank_end:
        last = data.count(b"\n") + (not data.endswith(b"\n"))
        if any(line.number > last - end for line in lines):
            found.append((last - end + 1, "new blank line at end of file"))
    return found


def _errors(text: bytes, rules: Rules, *, markdown: bool, conflict: bool) -> list[str]:
    found = []
    if rules.cr_at_eol:
        text = text.removesuffix(b"\r")
    if _CONFLICT.fullmatch(text) or (conflict and _MIDDLE.fullmatch(text)):
        found.append("leftover conflict marker")
    body = text.rstrip(_BLANK)
    line_break = markdown and body != b"" and text == body + b"  "
    if rules.blank_at_eol and body != text and not line_break:
        carriage = text.endswith(b"\r") and text[:-1].rstrip(_BLANK) == text[:-1]
        found.append("CR before the line end (CRLF)" if carriage else "trailing whitespace")
    indent = text[: len(text) - len(text.lstrip(b" \t"))]
    if rules.space_before_tab and b" \t" in indent:
        found.append("space before tab in indent")
    if rules.indent_with_non_tab and b" " * rules.tab_width in indent.rpartition(b"\t")[2]:
        found.append("indent with spaces")
    if rules.tab_in_indent and b"\t" in indent:
        found.append("tab in indent")
    return found


def _blank_end(data: bytes) -> int:
    """Blank lines at the end of `data`."""
    end = data[len(data.rstrip(_BLANK + b"\n")) :]
    # The first feed there ends the last line that has something on it.
    feeds = end.count(b"\n") + (end != b"" and not end.endswith(b"\n"))
    # A file of nothing but one or two line ends is a usual empty file, for git too.
    return max(feeds - (1 if len(end) < len(data) else 2), 0)
