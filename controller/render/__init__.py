"""Values turned into text: terminal, JSON, metrics, plots, and all that is written on GitHub.

Called by runtime and cli with finished values; never reads a file, asks a clock or decides.
"""
