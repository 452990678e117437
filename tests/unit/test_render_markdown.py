"""Foreign text in Markdown, titles and commits: nothing of it acts, and it stays readable."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from controller.render.markdown import (
    code,
    commit_line,
    commit_text,
    fenced,
    inline,
    prose,
    quoted,
)
from tests.rendered import acts, as_read, bare_acts, parsed, raw_acts

PIECES = (
    *("@octo", "@octo/team", "#12", "GH-3", "octo/app#4", "http://x.y/z", "www.x.y", "a@b.co"),
    *("fixes ", "Closes: ", "resolved\n", "fix", "https://github.com/o/r/issues/1", "/pull/2"),
    *("<!--", "-->", "<!-- toban {} -->", "<img src=x>", "<", ">", "&#64;octo", "&", "&lt;"),
    *(
        "![x](http://y)",
        "[x](y)",
        "[x]: y",
        "[^1]",
        "- [x] ",
        "| a | b |\n|---|---|\n",
        "***NO_CI***",
    ),
    *("`", "``", "```", "`````", "~~~", "`code`", "\\", "\\`", "*", "_", "**", "~~", "$", "$$"),
    *(
        "# ",
        "#",
        "====",
        "---",
        "> ",
        "+ ",
        "1. ",
        "2) ",
        "    ",
        "\t",
        ":",
        ":-:",
        " ",
        "\n",
        "\n\n",
    ),
    *("Co-authored-by: x", "Toban-Task: octo/app#58 rework 1 1", "[skip ci]", "skip-checks: true"),
    *("/retest", "/lgtm cancel", "/usr/bin/ld: x", "@bors r+", "Signed-off-by :", "\u3000/cmd"),
    *(
        "\x1b[2J",
        "\u200b",
        "\u202e",
        "\r",
        "\r\n",
        "\x00",
        "\ud800",
        "\U000e0041",
        "日本語",
        "名前、",
        "﹟",
    ),
)
hostile = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), max_size=14).map(
    "".join
)


@given(hostile, st.integers(1, 400))
@example("`a`@bob", 50)
@example("x\\`a`@bob`", 50)
@example("fixes\n\n#1", 50)
def test_nothing_acts_in_prose(text: str, limit: int) -> None:
    made = prose(text, limit)
    assert acts(made) == []
    assert len(made) <= limit


@given(hostile, st.integers(1, 400))
def test_nothing_acts_in_a_line(text: str, limit: int) -> None:
    made = inline(text, limit)
    assert acts(made) == []
    assert "\n" not in made
    assert len(made) <= limit


@given(hostile, st.integers(1, 400))
def test_nothing_acts_in_a_quotation(text: str, limit: int) -> None:
    made = quoted(text, limit)
    quotation = frozenset({"blockquote_open", "blockquote_close"})
    assert acts(made, allowed=quotation) == []
    assert len(made) <= limit


@given(hostile, st.sampled_from(["", "text", "python\n```"]), st.integers(40, 400))
def test_a_fence_holds_all_of_its_text_and_nothing_else(text: str, info: str, limit: int) -> None:
    made = fenced(text, limit, info)
    (fence,) = parsed(made)
    assert fence.type == "fence"
    assert raw_acts(made) == []
    assert len(made) <= limit


@given(hostile, st.integers(10, 200))
def test_a_code_span_is_one_span(text: str, limit: int) -> None:
    made = code(text, limit)
    assert acts(f"x {made}, y") == []
    (inline_token,) = (token for token in parsed(f"x {made}, y") if token.type == "inline")
    assert [child.type for child in inline_token.children or []] == ["text", "code_inline", "text"]


@given(hostile, st.integers(1, 200))
def test_nothing_acts_in_a_title(text: str, limit: int) -> None:
    made = commit_line(text, limit)
    assert bare_acts(made) == []
    assert "\n" not in made
    assert made == made.strip()
    assert len(made) <= limit


@given(hostile, st.integers(1, 400))
def test_nothing_acts_in_a_commit(text: str, limit: int) -> None:
    made = commit_text(text, limit)
    assert bare_acts(made) == []
    assert len(made) <= limit


@given(st.text(alphabet="ab 日本、。*_[]()<>&|~$+-=!\\{}\"'.;?^%がか゛\u3000", max_size=60))
def test_harmless_text_reads_as_it_was_written(text: str) -> None:
    """What no rule forbids is escaped and not changed: reading gives the text back."""
    expected = text.strip().replace("<!--", "<! --")
    assert as_read(inline(text, 10_000)) == expected


READABLE = {
    "japanese": ("検索が遅い（NFD: か\u3099）", "検索が遅い（NFD: か\u3099）"),
    "code spans stay": ("`f(x)` gives `None`", "`f(x)` gives `None`"),
    "code keeps names": ("use `@property`", "use `@property`"),
    "mention": ("ask @octo, please", "ask `@octo`, please"),
    "team": ("ask @octo/team.", "ask `@octo/team.`"),
    "reference": ("see #12 and octo/app#3", "see `#12` and `octo/app#3`"),
    "closing keyword": ("Fixes #12", "Fixes # 12"),
    "closing keyword in code": ("`closes: octo/a#3`", "`closes: octo/a# 3`"),
    "closing address": ("fixes https://h/o/r/issues/1", "fixes https: //h/o/r/issues/1"),
    "address": ("at https://x.y/z?a=1", "at `https://x.y/z?a=1`"),
    "address in japanese": ("詳細はhttps://x.y/z、参照", "詳細は`https://x.y/z`、参照"),
    "image": ("![x](y)", "!\\[x\\](y)"),
    "html": ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
    "heading": ("# Big", "\\# Big"),
    "list": ("12. x", "12\\. x"),
    "command": ("/retest", "\\\\/retest"),
    "path is no command": ("/usr/bin/env", "/usr/bin/env"),
    "two spans side by side": ("`a`@octo", "`a` `@octo`"),
    "escape sequence": ("\x1b[2J", "\\\\u001B\\[2J"),
}


@pytest.mark.parametrize(("text", "made"), READABLE.values(), ids=READABLE.keys())
def test_how_a_line_reads(text: str, made: str) -> None:
    assert inline(text, 1000) == made


FENCED = {
    "plain": ("a\nb", "", "```\na\nb\n```"),
    "longer than its text's runs": ("a ```` b", "text", "`````text\na ```` b\n`````"),
    "names of packages stay": ("@types/node", "", "```\n@types/node\n```"),
    "an order to a bot": ("@bors r+", "", "```\n\\@bors r+\n```"),
    "no HTML comment": ("<!-- toban {} -->", "", "```\n<! -- toban {} -->\n```"),
    "language without line ends": ("a", "py\n`x", "```pyx\na\n```"),
    "line ends": ("a\r\nb\rc\n", "", "```\na\nb\nc\n```"),
}


@pytest.mark.parametrize(("text", "info", "made"), FENCED.values(), ids=FENCED.keys())
def test_how_a_fence_looks(text: str, info: str, made: str) -> None:
    assert fenced(text, 1000, info) == made


COMMITS = {
    "mention": ("thanks @octo", "thanks @ octo"),
    "reference": ("see #12, GH-3", "see # 12, GH- 3"),
    "trailers go": ("a\n\nCo-authored-by: x <y>\nToban-Task: octo/app#58 rework 1 1", "a"),
    "indented trailers go": ("a\n \u3000Toban-Task: octo/app#58 rework 1 1\nb", "a\nb"),
    "no skipped ci": ("[skip ci] x", "[ skip ci] x"),
    "notes stay": ("Note: a\n\n\n\nb", "Note: a\n\nb"),
    "nothing": (" \n\n", ""),
}


@pytest.mark.parametrize(("text", "made"), COMMITS.values(), ids=COMMITS.keys())
def test_how_a_commit_reads(text: str, made: str) -> None:
    assert commit_text(text, 1000) == made


SUBJECTS = {
    "fixup of a rebase": ("fixup! a", "fixup ! a"),
    "comment of an editor": ("# 12 a", "12 a"),
    "trailer": ("Toban-Task: a", "Toban-Task\\: a"),
    "several lines": ("a\nb", "a b"),
    "japanese": ("検索が遅い", "検索が遅い"),
}


@pytest.mark.parametrize(("text", "made"), SUBJECTS.values(), ids=SUBJECTS.keys())
def test_how_a_title_reads(text: str, made: str) -> None:
    assert commit_line(text, 72) == made


@pytest.mark.parametrize("render", [prose, inline, quoted, fenced, commit_text, commit_line, code])
@pytest.mark.parametrize("piece", ["a", "`", "<", "@a", "fix", "fix ", "-by", "#1", "[skip", "/\n"])
def test_a_huge_text_is_cut_visibly(render: object, piece: str) -> None:
    assert callable(render)
    made = render(piece * 100_000, 1000)
    assert len(made) <= 1000
    assert "…" in made
