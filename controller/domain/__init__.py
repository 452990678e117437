"""Values that everybody speaks: frozen, no I/O, importing nothing of ours but the errors."""
