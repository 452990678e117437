"""What GitHub would make of a text: a CommonMark parser as judge of all that toban writes.

The judge is markdown-it (it comes with rich): no regular expression of ours decides whether our own
escapes hold. `acts` lists all that would act; an empty list is what tests ask for.
"""

import re
import unicodedata
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_PLAIN = {"paragraph_open", "paragraph_close", "inline", "text", "softbreak", "code_inline"}
_RAW = {
    "closing keyword": re.compile(
        r"(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\s*:?\s*"
        r"(?:(?:[\w-]+/[\w.-]+)?#|GH-|https?://\S+/(?:issues|pull)/)[0-9]",
        re.IGNORECASE,
    ),
    "HTML comment": re.compile(r"<!--"),
    "skipped CI": re.compile(
        r"\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|\*\*\*NO_CI\*\*\*", re.IGNORECASE
    ),
    "trailer": re.compile(
        r"^\s*(?:[\w-]+-by|Toban-\w+|Change-Id|skip-checks)\s*:", re.IGNORECASE | re.MULTILINE
    ),
    "slash command": re.compile(r"^\s*/[a-z][\w-]*(?:\s|$)", re.IGNORECASE | re.MULTILINE),
}
_TEXT = {
    "mention": re.compile(r"@[A-Za-z0-9_]"),
    "reference": re.compile(r"#[0-9]|GH-[0-9]", re.IGNORECASE),
    "address": re.compile(r"(?:https?|ftp)://|www\.\S|(?:mailto|xmpp):\S", re.IGNORECASE),
}
_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_SIGNS = re.compile(
    "[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3]"
)
"""Format characters that belong to one script's own letters (Arabic, Syriac, hieroglyphs, ...)."""


def invisible(text: str) -> list[str]:
    """Characters that nobody sees and that act on a terminal, on a parser or on a model."""
    return [
        letter
        for letter in text
        if unicodedata.category(letter) in _INVISIBLE
        and letter not in "\n\t"
        and not _SIGNS.match(letter)
    ]


def raw_acts(text: str) -> list[str]:
    """What acts on whoever reads the raw text: other bots, and GitHub in a squash commit."""
    found = [what for what, pattern in _RAW.items() if pattern.search(text)]
    return found + [f"invisible character {ord(letter):04X}" for letter in invisible(text)]


def bare_acts(text: str) -> list[str]:
    """The same for plain text without Markdown: a title, a commit message."""
    return raw_acts(text) + [what for what, pattern in _TEXT.items() if pattern.search(text)]


def acts(markdown: str, *, allowed: frozenset[str] = frozenset()) -> list[str]:
    """What acts in a text of ours: structure that is not `allowed`, HTML, names, references."""
    tokens = _PARSER.parse(markdown)
    kinds = {token.type for token in _all(tokens)}
    structure = sorted(kinds - _PLAIN - allowed)
    return raw_acts(markdown) + structure + bare_names(tokens)


def bare_names(tokens: list[Token]) -> list[str]:
    """Names, references and addresses outside code."""
    texts = [_outside_code(token) for token in tokens if token.type == "inline"]
    return [what for what, pattern in _TEXT.items() for text in texts if pattern.search(text)]


def _outside_code(inline: Token) -> str:
    return "".join(
        "\n" if part.type == "softbreak" else part.content if part.type == "text" else "\0"
        for part in inline.children or []
    )


def _all(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or [])


def as_read(markdown: str) -> str:
    """The words that a reader sees, code spans without their backticks."""
    inlines = [token for token in _PARSER.parse(markdown) if token.type == "inline"]
    return "\n\n".join(
        "".join("\n" if t.type == "softbreak" else t.content for t in inline.children or [])
        for inline in inlines
    )


def parsed(markdown: str) -> list[Token]:
    """The blocks of a text."""
    return _PARSER.parse(markdown)
