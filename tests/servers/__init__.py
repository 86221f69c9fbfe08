"""Servers and programs that the tests start for themselves."""

import pytest


class Unavailable(pytest.skip.Exception):  # type: ignore[misc,valid-type]  # a class, held by a function
    """A server or program cannot be had here; the argument says why. A test that needs it is skipped."""
