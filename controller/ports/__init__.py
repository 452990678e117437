"""Protocols, each named for a role and owned by its consumer; readers and writers apart."""
