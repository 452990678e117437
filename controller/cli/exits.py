"""Exit codes: a contract (interface.md section 2)."""

OK = 0
FAILED = 1
ACTIONS = 2
"""`plan` only: there is something to do."""
USAGE = 64
"""The command line itself is wrong (EX_USAGE of sysexits.h)."""
LOCKED = 75
"""Another instance is at work (EX_TEMPFAIL); units count it as success."""
SIGNALLED = 128
"""Plus the signal's number: ended by the keyboard (130) or with its terminal (129)."""
