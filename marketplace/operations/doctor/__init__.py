"""Checks the whole installation and says how to fix what is wrong."""

from .examination import examine
from .findings import Finding, Status

__all__ = ["Finding", "Status", "examine"]
