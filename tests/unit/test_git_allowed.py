"""The list of git's command lines: what the product needs is on it, what destroys is not."""

import re

import pytest

from controller.adapters.git.allowed import ALLOWED, ForbiddenGitError, check

URL = "https://github.com/octo/app.git"
SHA = "1" * 40
BRANCH = "refs/heads/agent/issue-7"
FETCH = (
    "fetch --quiet --no-tags --no-write-fetch-head --no-auto-maintenance"
    f" --no-recurse-submodules --refmap= {URL}"
)
PUSH = f"push --porcelain --no-verify --no-signed --no-follow-tags --recurse-submodules=no {URL}"

NEEDED = [
    f"ls-tree -r -z --full-tree {SHA}",
    "cat-file --batch --buffer",
    f"update-ref {BRANCH} {SHA} {SHA}",
    f"{PUSH} {SHA}:{BRANCH}",
    f"{FETCH} +refs/heads/開発:refs/toban/issue-7/base",
    f"{FETCH} +refs/heads/main:refs/toban/issue-7/base +{BRANCH}:refs/toban/issue-7/head",
]

DESTRUCTIVE = [
    "reset --hard",
    "clean -fdx",
    "stash",
    "stash drop",
    "merge main",
    "rebase main",
    "checkout main",
    "checkout -- .",
    "switch main",
    "restore .",
    "gc",
    "prune",
    "repack -d",
    "reflog expire --all",
    "branch -D main",
    "tag -d v1",
    "commit --amend",
    "filter-branch",
    "worktree remove x",
    "worktree prune",
    "remote add x y",
    "config core.hooksPath x",
    "submodule update --init",
    "am",
    "apply",
    "clone --recursive x",
    "init",
    "status",
    "add -A",
    "commit -m x",
    "fast-import --force --quiet --done --date-format=raw",
    "fast-import --quiet --done --date-format=raw --export-marks=/etc/passwd",
    f"{PUSH} +{SHA}:{BRANCH}",
    f"{PUSH} :{BRANCH}",
    f"{PUSH} {SHA}:refs/heads/main",
    f"{PUSH} {SHA}:refs/heads/agent/issue-7/x",
    f"{PUSH} {SHA}:refs/heads/agent/issue-0",
    f"{PUSH} HEAD:{BRANCH}",
    f"{PUSH} {SHA}:{BRANCH} {SHA}:refs/heads/main",
    f"{PUSH.replace(URL, 'origin')} {SHA}:{BRANCH}",
    f"{PUSH.replace(URL, 'ext::sh')} {SHA}:{BRANCH}",
    f"{PUSH.replace(URL, 'ssh://h/x')} {SHA}:{BRANCH}",
    f"{PUSH.replace('--porcelain', '--force')} {SHA}:{BRANCH}",
    f"{PUSH.replace('--porcelain', '-f')} {SHA}:{BRANCH}",
    f"{PUSH.replace('--porcelain', '--force-with-lease')} {SHA}:{BRANCH}",
    f"{PUSH.replace('--porcelain', '--mirror')} {SHA}:{BRANCH}",
    f"{PUSH.replace('--porcelain', '--delete')} {SHA}:{BRANCH}",
    f"{PUSH.replace('--porcelain', '--receive-pack=x')} {SHA}:{BRANCH}",
    f"{FETCH} +refs/heads/main:refs/heads/main",
    f"{FETCH} +refs/heads/*:refs/toban/issue-7/base",
    f"{FETCH} +refs/heads/main:refs/heads/agent/issue-7",
    f"{FETCH.replace('--quiet', '--prune')} +refs/heads/main:refs/toban/issue-7/base",
    f"{FETCH.replace('--quiet', '--upload-pack=x')} +refs/heads/main:refs/toban/issue-7/base",
    f"{FETCH} +refs/heads/--x:refs/toban/issue-7/base",
    f"update-ref -d {BRANCH}",
    f"update-ref {BRANCH} {SHA}",
    f"update-ref refs/heads/main {SHA} {SHA}",
    "update-ref -d refs/toban/issue-7/base",
    f"update-ref --no-deref HEAD {SHA}",
    f"ls-remote --upload-pack=x {URL} {BRANCH}",
    f"ls-remote --quiet ext::x {BRANCH}",
    f"diff --ext-diff {SHA} {SHA}",
    f"diff-tree -r -p {SHA} {SHA}",
    f"ls-tree -r -z --full-tree {SHA[:7]}",
    "ls-tree -r -z --full-tree HEAD",
    "cat-file --textconv --batch",
    "-c core.pager=x cat-file --batch --buffer",
    "",
]


@pytest.mark.parametrize("line", NEEDED)
def test_what_the_product_needs_is_allowed(line: str) -> None:
    check(tuple(line.split()))


@pytest.mark.parametrize("line", DESTRUCTIVE)
def test_what_destroys_is_refused(line: str) -> None:
    with pytest.raises(ForbiddenGitError):
        check(tuple(line.split()))


@pytest.mark.parametrize("word", ["a\nb", "a\0b", " "])
def test_no_word_smuggles_another(word: str) -> None:
    with pytest.raises(ForbiddenGitError):
        check(("ls-remote", "--quiet", URL + word + "x", BRANCH + word))


def test_no_row_forces_or_deletes_a_branch() -> None:
    words = [word for row in ALLOWED for word in row]
    assert not [word for word in words if re.search(r"^-f|force|mirror|prune|hard|^--delete", word)]
    assert all("heads" not in word for row in ALLOWED if "-d" in row for word in row)
