"""Import the modules whose names stand in a file, one a line, and end."""

import contextlib
import importlib
import sys
from pathlib import Path

if __name__ == "__main__":
    for name in Path(sys.argv[1]).read_text(encoding="utf-8").split():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
