"""Servers and programs that the tests start for themselves."""

from unittest import SkipTest


class Unavailable(SkipTest):
    """A server or program cannot be had here; the argument says why. A test that needs it is skipped."""
