"""Benchmarks; the figures of each are kept next to its code."""

# The exit status of a command that measured what it should and missed a goal; other failures end with 1.
MISSED = 3
