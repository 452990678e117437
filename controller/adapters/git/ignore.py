"""Patterns of gitignore(5): what a worker's tree leaves out, and what policy protects.

Used by the import walk (on the bytes of `.gitignore` that it read itself) and by the path checks.
Git is not asked: it would read the tree. Patterns and names may both be hostile, so a pattern
becomes a regular expression of atomic groups, whose work is bounded by pattern x name.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

MAX_BYTES = 256_000
"""Of one `.gitignore`; a longer one is not read to its end."""
MAX_PATTERN = 1_000
"""Characters of one pattern; a longer one never matches, as no path is longer."""

_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z",
    "space": r" \t\n\r\f\v", "blank": r" \t", "xdigit": "0-9A-Fa-f", "word": r"a-zA-Z0-9_",
    "punct": r"!-/:-@\[-`{-~", "cntrl": r"\x00-\x1f\x7f", "graph": "!-~", "print": " -~",
}  # fmt: skip
_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of a file of patterns."""

    regex: re.Pattern[str]
    negated: bool
    directories_only: bool
    whole_path: bool
    """Matched against the path below the pattern's folder, else against the last name alone."""

    def matches(self, path: str, *, is_directory: bool) -> bool:
        """Whether the line speaks of `path` (relative to the pattern's folder)."""
        if self.directories_only and not is_directory:
            return False
        subject = path if self.whole_path else path.rpartition("/")[2]
        return self.regex.fullmatch(subject) is not None


class Patterns:
    """The lines of one `.gitignore`, or of one policy list."""

    def __init__(self, lines: Iterable[str], *, ignore_case: bool = False) -> None:
        flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
        self._patterns = tuple(p for line in lines if (p := _parse(line, flags)) is not None)

    def __len__(self) -> int:
        return len(self._patterns)

    @classmethod
    def of_file(cls, data: bytes) -> "Patterns":
        """Patterns of a `.gitignore`'s bytes. Letters are bytes, as git compares them."""
        text = data[:MAX_BYTES].removeprefix(b"\xef\xbb\xbf").decode("latin-1")
        return cls(line.removesuffix("\r") for line in text.split("\n"))

    def verdict(self, path: str, *, is_directory: bool) -> bool | None:
        """True ignored, False wanted again, None: no line speaks of `path`. The last line wins."""
        for pattern in reversed(self._patterns):
            if pattern.matches(path, is_directory=is_directory):
                return not pattern.negated
        return None

    def covers(self, path: str) -> bool:
        """Whether `path` or a folder above it is matched (for lists of policy)."""
        names = path.split("/")
        for depth in range(1, len(names) + 1):
            found = self.verdict("/".join(names[:depth]), is_directory=depth < len(names))
            if found:
                return True
        return False


def _parse(line: str, flags: int) -> Pattern | None:
    text = _without_trailing_blanks(line)
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[1:] if negated else text
    directories_only = text.endswith("/")
    text = text[:-1] if directories_only else text
    whole_path = "/" in text
    text = text.removeprefix("/")
    regex = _NOTHING
    if text and len(text) <= MAX_PATTERN:
        try:
            regex = re.compile(_translate(text) if whole_path else _segment(text), flags)
        except (_NeverError, re.error):
            regex = _NOTHING
    return Pattern(regex, negated, directories_only, whole_path)


def _without_trailing_blanks(line: str) -> str:
    end = len(line)
    while end and line[end - 1] == " ":
        slashes = len(line[: end - 1]) - len(line[: end - 1].rstrip("\\"))
        if slashes % 2:
            break
        end -= 1
    return line[:end]


class _NeverError(Exception):
    """The pattern is broken (open bracket, lone backslash): git lets it match nothing."""


def _translate(text: str) -> str:
    """A pattern with slashes. `**` between slashes stands for any number of folders."""
    groups: list[list[str]] = [[]]
    segments = text.split("/")
    for segment in segments:
        if segment == "**":
            groups.append([])
        else:
            groups[-1].append(_segment(segment))
    if len(groups) == 1:
        return "/".join(groups[0])
    parts = ["".join(s + "/" for s in groups[0])]
    # The leftmost place where a middle group fits is as good as any later one: atomic is exact.
    parts += [
        f"(?>(?:[^/]+/)*?{''.join(s + '/' for s in group)})" for group in groups[1:-1] if group
    ]
    last = groups[-1]
    # A closing `/**` is everything inside, never the folder itself.
    parts.append("(?:[^/]+/)*" + "/".join(last) if last else ".+")
    return "".join(parts)


def _segment(text: str) -> str:
    """One path component: `*`, `?`, `[...]`, backslash. No part of it matches a slash."""
    pieces = [""]
    at = 0
    while at < len(text):
        letter = text[at]
        at += 1
        if letter == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
        elif letter == "?":
            pieces[-1] += "[^/]"
        elif letter == "[":
            translated, at = _bracket(text, at)
            pieces[-1] += translated
        elif letter == "\\":
            if at == len(text):
                raise _NeverError
            pieces[-1] += re.escape(text[at])
            at += 1
        else:
            pieces[-1] += re.escape(letter)
    first, *rest = pieces
    if not rest:
        return first
    # After a star the leftmost fit is as good as any: atomic, so no pattern can explode.
    middle = "".join(f"(?>[^/]*?{piece})" for piece in rest[:-1])
    return f"{first}{middle}[^/]*{rest[-1]}"


def _bracket(text: str, at: int) -> tuple[str, int]:
    """Translate a bracket expression that opened just before `at`; raises _NeverError when open."""
    negated = text[at : at + 1] in {"!", "^"}
    at += negated
    inner = ""
    first = True
    while True:
        if at >= len(text):
            raise _NeverError
        letter = text[at]
        at += 1
        if letter == "]" and not first:
            break
        first = False
        if letter == "[" and text[at : at + 1] == ":" and (end := text.find(":]", at)) > 0:
            inner += _CLASSES.get(text[at + 1 : end]) or _never()
            at = end + 2
            continue
        low, at = _letter(text, letter, at)
        if text[at : at + 1] == "-" and text[at + 1 : at + 2] not in {"", "]"}:
            high, at = _letter(text, text[at + 1], at + 2)
            inner += f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""
        else:
            inner += re.escape(low)
    if not inner:
        return ("[^/]" if negated else "(?!)"), at
    return (f"(?!/)[^{inner}]" if negated else f"(?!/)[{inner}]"), at


def _letter(text: str, letter: str, at: int) -> tuple[str, int]:
    if letter != "\\":
        return letter, at
    if at >= len(text):
        raise _NeverError
    return text[at], at + 1


def _never() -> str:
    raise _NeverError
