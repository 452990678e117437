"""GitHub: `finder` and `reader` on the standard library alone, `writer` through PyGithub.

Named by `bootstrap` only; implements `controller.ports.forge`. Importing this package, or reading
through it, loads neither PyGithub nor requests: an idle tick must stay small.
"""
