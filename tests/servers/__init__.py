"""Servers that the tests start for themselves."""
