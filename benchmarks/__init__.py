"""Measurements; each command's figures are kept beside it."""

# The exit status of a command that measured what it should and missed a goal; other failures end with 1.
MISSED = 3
