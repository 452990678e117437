"""What it takes at least to begin work: git fetch into a bare repository, worktree add, one exec.

`start_work.py BARE WORKTREE BRANCH URL AUTHORIZATION`; the worktree must not exist yet.
"""

import subprocess
import sys

if __name__ == "__main__":
    bare, worktree, branch, url, authorization = sys.argv[1:]
    git = ["git", "-C", bare, "-c", f"http.extraHeader=Authorization: {authorization}"]
    subprocess.run([*git, "fetch", "--quiet", url, "+main:refs/heads/main"], check=True)
    add = ["worktree", "add", "--quiet", "-b", branch, worktree, "main"]
    subprocess.run([*git, *add], check=True)
    subprocess.run(["true"], check=True)
