"""The first half of the control plane: accounts, tokens, repositories and branches.

`world` adds what happens to issues; users see both as one class, `World`. Nothing here checks
permissions, and every method takes the lock.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from controller.demo.standin import pulls
from controller.demo.standin.accounts import (
    App,
    Installation,
    Role,
    Token,
    TokenKind,
    User,
    UserKind,
)
from controller.demo.standin.gitrepo import BareRepo
from controller.demo.standin.state import Refusal, State
from controller.demo.standin.values import Repo

type RoleWord = Literal["none", "read", "triage", "write", "maintain", "admin"]
type Files = Mapping[str, str | bytes | None]


class Places:
    """Accounts, tokens, repositories and branches of the world."""

    def __init__(self, root: Path) -> None:
        self.state = State(root)

    # Accounts

    def add_user(
        self,
        login: str,
        *,
        token: str | None = None,
        kind: UserKind = "User",
        name: str | None = None,
        scopes: Iterable[str] = ("repo",),
    ) -> User:
        """A new account with one classic token, by default ``tok_<login>``."""
        with self.state.lock:
            if login.lower() in self.state.users:
                raise Refusal(422, f"user {login} exists")
            user = User(
                id=self.state.next_id(),
                login=login,
                kind=kind,
                name=name or login,
                email=f"{login}@users.example",
                created_at=self.state.now(),
            )
            self.state.users[login.lower()] = user
            if kind != "Organization":
                self.add_token(login, token or f"tok_{login}", scopes=scopes)
            return user

    def add_token(
        self,
        login: str,
        value: str,
        *,
        kind: TokenKind = "classic",
        scopes: Iterable[str] = ("repo",),
        permissions: Mapping[str, str] | None = None,
        repositories: Iterable[str] | None = None,
    ) -> Token:
        """One more token. Installation tokens act as `login`, which should be a Bot."""
        with self.state.lock:
            token = Token(
                value=value,
                login=self.state.user(login).login,
                kind=kind,
                scopes=tuple(scopes),
                permissions=None if permissions is None else dict(permissions),
                repositories=None if repositories is None else frozenset(repositories),
            )
            self.state.tokens[value] = token
            return token

    def add_app(
        self,
        app_id: int,
        slug: str,
        *,
        owner: str,
        public_key: str,
        permissions: Mapping[str, str] | None = None,
    ) -> App:
        """A GitHub App that acts as ``SLUG[bot]``. `public_key` is PEM; `permissions` by area."""
        granted = permissions or dict.fromkeys(("contents", "issues", "pull_requests"), "write")
        with self.state.lock:
            self.add_user(f"{slug}[bot]", kind="Bot")
            app = App(
                id=app_id,
                slug=slug,
                owner=self.state.user(owner).login,
                public_key=public_key,
                permissions={"metadata": "read", **granted},
                created_at=self.state.now(),
            )
            self.state.apps[app_id] = app
            return app

    def install_app(
        self, app_id: int, account: str, *, repositories: Iterable[str] | None = None
    ) -> Installation:
        """Install an App on an account, for all its repositories or those (``owner/name``)."""
        with self.state.lock:
            made = Installation(
                id=self.state.next_id(),
                app_id=self.state.apps[app_id].id,
                account=self.state.user(account).login,
                repositories=None if repositories is None else frozenset(repositories),
                created_at=self.state.now(),
            )
            self.state.installations[made.id] = made
            return made

    def revoke_token(self, value: str) -> None:
        """Make a token invalid."""
        with self.state.lock:
            self.state.tokens.pop(value, None)

    # Repositories

    def add_repo(
        self,
        repo: str,
        *,
        files: Files | None = None,
        default_branch: str = "main",
        private: bool = False,
        collaborators: Mapping[str, RoleWord] | None = None,
        description: str | None = None,
    ) -> Repo:
        """A new repository with one commit of `files` (None: a README; empty: no commit)."""
        with self.state.lock:
            owner, _, name = repo.partition("/")
            if any(it.full_name.lower() == repo.lower() for it in self.state.repos.values()):
                raise Refusal(422, f"repository {repo} exists")
            self.state.old_names.pop(repo.lower(), None)
            path = self.state.root / "repos" / owner / f"{name}.git"
            git = BareRepo.create(path, default_branch)
            made = Repo(
                id=self.state.next_id(),
                owner=self.state.user(owner).login,
                name=name,
                path=path,
                default_branch=default_branch,
                private=private,
                created_at=self.state.now(),
                pushed_at=self.state.now(),
                description=description,
            )
            self.state.add(made, git)
            for login, role in (collaborators or {}).items():
                self.set_role(repo, login, role)
            first = {"README.md": f"# {name}\n"} if files is None else files
            if first:
                self.push_commit(repo, default_branch, first, by=owner, message="Initial commit")
            return made

    def repo(self, repo: str) -> Repo:
        """The record of a repository, under its present or a former name."""
        with self.state.lock:
            return self.state.repo(repo)

    def set_role(self, repo: str, login: str, role: RoleWord) -> None:
        """Make `login` a collaborator with that role; ``none`` removes."""
        with self.state.lock:
            collaborators = self.state.repo(repo).collaborators
            self.state.user(login)
            if role == "none":
                collaborators.pop(login.lower(), None)
            else:
                collaborators[login.lower()] = Role[role.upper()]

    def set_private(self, repo: str, *, private: bool) -> None:
        """Make a repository private or public."""
        with self.state.lock:
            self.state.repo(repo).private = private

    def set_archived(self, repo: str, *, archived: bool = True) -> None:
        """Archive, or bring back. Writes are not refused: a client is expected not to try."""
        with self.state.lock:
            self.state.repo(repo).archived = archived

    def rename_repo(self, repo: str, name: str) -> None:
        """Rename; the old name answers with a redirect from then on."""
        with self.state.lock:
            found = self.state.repo(repo)
            self.state.old_names[found.full_name.lower()] = found.id
            found.name = name
            self.state.old_names.pop(found.full_name.lower(), None)
            found.path = found.path.with_name(f"{name}.git")
            self.state.git(found).moved(found.path)

    def push_commit(
        self,
        repo: str,
        branch: str,
        files: Files,
        *,
        by: str,
        message: str = "Change",
        base: str | None = None,
        amend: bool = False,
    ) -> str:
        """Commit `files` (None deletes) to `branch` as `by` and give the new commit's id.

        A branch that does not exist starts from `base` (branch or id), by default the default
        branch. `amend` replaces the tip instead, which is not a fast-forward.
        """
        with self.state.lock:
            found = self.state.repo(repo)
            git = self.state.git(found)
            user = self.state.user(by)
            old = git.head(branch)
            parent = old or git.revision(base or found.default_branch)
            if amend and old is not None:
                parent = git.resolve(f"{old}^")
            new = git.commit_files(
                f"refs/heads/{branch}",
                files,
                parent=parent,
                name=user.name,
                email=user.email,
                when=self.state.now(),
                message=message,
            )
            pulls.pushed(
                self.state, found, user.login, [(f"refs/heads/{branch}", old, new)], "control"
            )
            return new

    def set_branch(self, repo: str, branch: str, sha: str, *, by: str) -> None:
        """Move or create a branch, by force if need be."""
        with self.state.lock:
            found = self.state.repo(repo)
            old = self.state.git(found).head(branch)
            self.state.git(found).update_ref(f"refs/heads/{branch}", sha)
            pulls.pushed(
                self.state, found, by, [(f"refs/heads/{branch}", old, sha)], "control"
            )  # fmt: skip

    def delete_branch(self, repo: str, branch: str, *, by: str) -> None:
        """Delete a branch; an open pull request from it is closed."""
        with self.state.lock:
            found = self.state.repo(repo)
            old = self.state.git(found).head(branch)
            self.state.git(found).update_ref(f"refs/heads/{branch}", None)
            pulls.pushed(self.state, found, by, [(f"refs/heads/{branch}", old, None)], "control")

    def head(self, repo: str, branch: str) -> str | None:
        """The commit at the tip of a branch, or None."""
        with self.state.lock:
            return self.state.git(self.state.repo(repo)).head(branch)

    def files(self, repo: str, ref: str) -> dict[str, str]:
        """Path and text of every file at a branch or commit."""
        with self.state.lock:
            git = self.state.git(self.state.repo(repo))
            sha = git.revision(ref)
            if sha is None:
                raise Refusal(404, f"{repo} has no {ref}")
            return git.files(sha)
