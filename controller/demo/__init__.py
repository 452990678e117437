"""The demonstration: toban's whole issue flow on one machine without any account.

Holds a GitHub stand-in on loopback (`standin`). Nothing outside this package imports it.
"""
