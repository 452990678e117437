"""Labelled issues become reviewed pull requests: labels, epochs, markers, verdicts, rules."""
