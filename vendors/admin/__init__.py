"""The admin of vendors and of what they upload."""

from . import profiles

__all__ = ["profiles"]
