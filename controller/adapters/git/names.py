"""Names: which branch may be fetched, which file names are delivered, and how names are shown.

Pure functions on bytes as the kernel has them. Japanese, NFC and NFD, full-width and emoji are the
normal case; what is refused cannot be seen, cannot be checked out elsewhere, or acts on a tool.
"""

import re
import unicodedata
from functools import lru_cache

from controller.domain.text import safe_text

SHOWN = 300
"""Characters of a path in a message."""

# git check-ref-format(1), plus a first '-' or '+', which a command line could misread.
_BAD_BRANCH = re.compile(
    r"^[-+]|^@$|[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^/|/$|(?:^|/)\.|\.$|\.lock(?:/|$)"
)
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\..*)?")
_WINDOWS = re.compile(r'[<>:"|?*\\]')
_SHORT = re.compile(r"(?i)gi[a-z0-9]{1,4}~[0-9]+")
"""8.3 names under which NTFS may open `.git`, `.gitmodules`, `.gitattributes`."""
# What HFS+ ignores in a name (git's utf8.c has the same list).
_HFS_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
# Invisible, yet in use: a variation selector belongs to a kanji or an emoji.
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u3164\uffa0]")


def branch_problem(name: str) -> str:
    """Why `name` cannot be a branch's name; empty when it can."""
    if not name or _BAD_BRANCH.search(name):
        return "git does not allow such a branch name"
    if any(unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for letter in name):
        return "the branch name holds invisible characters"
    return ""


@lru_cache(maxsize=65536)
def is_dotgit(name: bytes) -> bool:
    """Whether some file system opens `.git` under this name (HFS+ and NTFS rules included)."""
    if b"git" not in name.lower() and name.isascii():
        return False
    text = _HFS_IGNORED.sub("", name.decode("utf-8", "surrogateescape"))
    text = unicodedata.normalize("NFKC", text).casefold() if not text.isascii() else text.lower()
    text = re.split(r"[:\\]", text, maxsplit=1)[0].rstrip(" .")
    return text in {".git", "git~1"}


def name_problem(name: bytes) -> str:
    """Why a file of this name is not delivered; empty when it is. `name` is one path component."""
    try:
        text = name.decode()
    except UnicodeDecodeError:
        return "the name is not UTF-8"
    if any(unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for letter in text):
        return "the name holds control, bidi or zero-width characters"
    if _INVISIBLE.search(text):
        return "the name holds invisible characters"
    if text.startswith("-"):
        return "the name begins with '-'"
    if text != text.rstrip(" .\u00a0\u3000"):
        return "the name ends in a blank or a dot"
    if _WINDOWS.search(text):
        return 'the name holds one of < > : " | ? * \\'
    if _RESERVED.fullmatch(text):
        return "the name is reserved on Windows"
    if _SHORT.fullmatch(text):
        return "the name is a short form of a git file on NTFS"
    return ""


def folded(path: bytes) -> str:
    """Equal for paths that one file system or another takes for the same (case, NFC and NFD)."""
    if path.isascii():
        return path.lower().decode()
    return unicodedata.normalize("NFC", path.decode("utf-8", "surrogateescape")).casefold()


def shown(path: bytes) -> str:
    """A path for people: nothing in it can act on a terminal or a page."""
    return safe_text(path.decode("utf-8", "backslashreplace"), limit=SHOWN)
