"""Text from outside made safe for a terminal, a log line or a page.

Every sink of foreign text (titles, model output, git and API errors, file names) calls this. It
never normalises: two file names that differ only in their Unicode form stay different.
"""

import re

HOSTILE = re.compile(
    "["
    "\u0000-\u001f\u007f-\u009f"  # C0, DEL, C1: escape sequences, carriage returns, CSI
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # invisible, no width
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero-width, line separators, bidi
    "\u3164\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"  # fillers, byte order mark, specials
    "\ud800-\udfff"  # lone surrogates: cannot be encoded
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # musical control, tags, variation supplement
    "\U000f0000-\U0010ffff"  # private use: whatever a font makes of it
    "]"
)
LINES = re.compile(r"\r\n|[\r\n]")
CUT = "…"


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"  # noqa: PLR2004 - the BMP ends


def safe_text(text: str, *, limit: int, lines: bool = False) -> str:
    r"""Foreign text in which nothing can act: hostile characters stand there as `\uXXXX`.

    Replaced are control, bidi, zero-width and tag characters and lone surrogates. Japanese, emoji
    and combining marks stay. Ends of lines become one blank, or `\n` with `lines`; a tab becomes a
    blank, or stays with `lines`. The result has at most `limit` characters; a cut one ends in `…`.
    """
    text = text[: limit + 1] if len(text) > limit else text
    if lines:
        parts = LINES.split(text)
        safe = "\n".join(
            "\t".join(HOSTILE.sub(_visible, piece) for piece in part.split("\t")) for part in parts
        )
    else:
        safe = HOSTILE.sub(_visible, LINES.sub(" ", text).replace("\t", " "))
    return safe if len(safe) <= limit else safe[: max(limit - 1, 0)] + CUT[: min(limit, 1)]
