"""Where a symbolic link of a tree leads, computed on names alone: the disk is never asked."""

from collections.abc import Mapping

from controller.adapters.git.names import is_dotgit

_HOPS = 40
"""As many links as the kernel follows in one path (path_resolution(7))."""


def leaves_tree(path: bytes, links: Mapping[bytes, bytes]) -> str:
    """Why the link at `path` may not be delivered; empty when it stays inside.

    `links` holds every link of the tree with its target, so that a link through another one is
    followed as the kernel would.
    """
    here = path.split(b"/")[:-1]
    ahead = links[path].split(b"/")[::-1]
    if links[path].startswith(b"/"):
        return "is a link to an absolute path"
    hops = 0
    while ahead:
        name = ahead.pop()
        if name in {b"", b"."}:
            continue
        if name == b"..":
            if not here:
                return "is a link that leaves the tree"
            here.pop()
            continue
        if is_dotgit(name):
            return "is a link into git's own files"
        here.append(name)
        target = links.get(b"/".join(here))
        if target is None:
            continue
        hops += 1
        if hops > _HOPS:
            return "is a link that leads in a circle"
        if target.startswith(b"/"):
            return "is a link that leaves the tree through another link"
        here.pop()
        ahead += target.split(b"/")[::-1]
    return ""
