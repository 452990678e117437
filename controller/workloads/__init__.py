"""Workloads: each a tuple of pure rules over what was observed. They never import each other."""
