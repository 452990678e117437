"""The face: parse, call, print, exit code. Decides nothing about items.

Started by `controller.__main__`. `app` knows the command line and imports nothing heavy; each
command's own module is imported when that command runs.
"""
