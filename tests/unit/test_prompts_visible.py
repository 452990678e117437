"""What a reader of GitHub does not see, the model does not get; samples in code stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.workloads.issues.visible import MAX_TEXT, visible
from tests.rendered import invisible

SAME = {
    "japanese": "題名、本文（NFD: か\u3099）\n\n- 一\n- 二\n",
    "emoji that are joined": "👨\u200d👩\u200d👧 ❤️\u200d🔥",
    "tabs": "a\tb",
    "comment in a fence": "```html\n<!-- a -->\n```\n",
    "comment in a tilde fence": "~~~~\n<!-- a -->\n~~~\n<!-- b -->\n~~~~",
    "comment in a fence that never ends": "x\n```\n<!-- a -->\n",
    "comment in a code span": "the marker `<!-- a -->` stays",
    "beginning of a comment in a code span": "lines with `<!--` and more\n\nrest",
    "beginning of a comment in a sentence": "lines with <!-- and more\n\nrest",
    "PHP in a fence": "```php\n<?php echo 1;\n```\nrest",
    "generic types": "Map<String, List<X>> and a < b, c > d",
    "screenshot": '<img width="12" height="3" alt="Image" src="https://github.com/x/y" />',
    "link": '<a href="https://x.y">here</a>',
    "reference of a link": "[1]: https://x.y\n",
    "picture": "![alt](https://x.y)",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME.keys())
def test_what_is_seen_stays(text: str) -> None:
    assert visible(text) == (text, False)


LESS = {
    "comment": ("a<!-- b -->c", "a c"),
    "comment of several lines": ("a\n<!-- b\n\nc -->\nd", "a\n \nd"),
    "comment without an end": ("a\n\n<!-- b\n\nc", "a\n\n"),
    "comment without an end in a list": ("- <!-- b\n\nc", "- "),
    "comment in raw HTML without an end": ("<div>x <!-- b\n\nc", "<div>x "),
    "two comments in a line": ("<!-- a --> <!-- b\n\nc", "  "),
    "no comment grows from two": ("<!-<!-- a -->- b -->", "<!- - b -->"),
    "fence in raw HTML": ("<div>\n```\n<!-- a -->\n```\n", "<div>\n```\n \n```\n"),
    "fence in a raw block": ("<pre>\n\n```\n<!-- a -->\n```\n", "<pre>\n\n```\n \n```\n"),
    "fence of a list that is over": ("- x\n  ```\n<!-- a -->\n", "- x\n  ```\n \n"),
    "fence inside a comment": ("<!--\n```\nb -->\n```\n<!-- c -->\n", " \n```\n \n"),
    "code spans across lines": ("` a\nb ` <!-- c --> `", "` a\nb `   `"),
    "escaped backtick": ("\\` <!-- a --> `", "\\`   `"),
    "backtick in an attribute": ('<a x="`"> <!-- a --> `', "<a>   `"),
    "attributes": ('<br data-x="do this">', "<br>"),
    "title of a link": ('<a href="https://x" title="do this">x</a>', '<a href="https://x">x</a>'),
    "alternative text": ('<img alt="now do this" src="x">', '<img src="x">'),
    "end of a tag in an attribute": ('<b x="a > b">c', "<b>c"),
    "comment by reference": ("[//]: # (do this)\nx", "\nx"),
    "title of a reference": ('[1]: https://x.y "do this"\nx', "\nx"),
    "instruction": ("a <? b ?> c", "a   c"),
    "declaration": ("a <!X b> c", "a   c"),
    "CDATA": ("a <![CDATA[ b ]]> c", "a   c"),
    "zero-width": ("a\u200bb\u2060c\ufeff", "abc"),
    "bidi": ("a\u202eb\u2066c", "abc"),
    "tags": ("a\U000e0064\U000e006f", "a"),
    "selectors in a row": ("❤\ufe0f\ufe01\ufe02", "❤\ufe0f"),
    "joiner between letters": ("a\u200db", "ab"),
    "escape sequence": ("\x1b[2Ja\x07", "[2Ja"),
    "lone surrogate": ("a\ud800b", "ab"),
}


@pytest.mark.parametrize(("text", "left"), LESS.values(), ids=LESS.keys())
def test_what_is_hidden_goes_and_is_told(text: str, left: str) -> None:
    assert visible(text) == (left, True)


def test_line_ends_are_no_hidden_text() -> None:
    assert visible("a\r\nb\rc") == ("a\nb\nc", False)


@pytest.mark.parametrize("text", ["あ" * (MAX_TEXT + 1), "\n" * 300_000, "<!--" * 60_000 + "-->x"])
def test_a_long_text_is_cut_and_says_so(text: str) -> None:
    left, removed = visible(text)
    assert len(left) <= MAX_TEXT
    assert removed
    assert left.endswith(f"\n[cut here: more than {MAX_TEXT} characters]")


def test_a_text_at_the_limit_is_whole() -> None:
    assert visible("あ" * MAX_TEXT) == ("あ" * MAX_TEXT, False)


PIECES = [case for case, _ in LESS.values()] + list(SAME.values())


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=9)), max_size=8).map("".join))
def test_nothing_invisible_is_left(text: str) -> None:
    left, removed = visible(text)
    assert set(invisible(left)) <= {"\u200d"}  # between two emoji
    assert removed or left == "\n".join(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    assert set(left) <= set(text) | set("\n []:abcdefghijklmnopqrstuvwxyz0123456789")


@pytest.mark.parametrize(
    "hidden", ["<!-- {} -->", "<!--\n{}\n-->", "<br x='{}'>", "\n[//]: # ({})\n"]
)
@given(
    before=st.text(alphabet="ab `~<>\n-#\\", max_size=20),
    after=st.text(alphabet="ab `~<>\n-", max_size=9),
)
def test_hidden_words_do_not_pass_outside_code(hidden: str, before: str, after: str) -> None:
    """Behind an empty line, unless a fence or raw HTML is open before it."""
    if "```" in before or "~~~" in before:
        before = ""
    left, removed = visible(f"{before}\n\n{hidden.format('SECRET')}\n{after}")
    assert removed
    assert "SECRET" not in left
