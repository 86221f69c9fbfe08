"""Hostile and odd files by name, each with the verdict that it must get."""

from .archives import ARCHIVES
from .cases import Case, Refused, Taken, Unsupported
from .fonts import FONTS
from .media import MEDIA
from .previews import PREVIEWS

DELIVERABLES: tuple[Case, ...] = (*ARCHIVES, *FONTS, *MEDIA)

__all__ = ["DELIVERABLES", "PREVIEWS", "Case", "Refused", "Taken", "Unsupported"]
