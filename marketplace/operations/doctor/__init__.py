"""Looks at the whole installation, part by part, and says what to do about what is wrong."""

from .examination import examine
from .findings import Finding, Status

__all__ = ["Finding", "Status", "examine"]
