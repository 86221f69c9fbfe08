"""Hostile and odd files by name, each with the verdict that it must get."""

from .archives import ARCHIVES
from .cases import Case, Refused, Taken, Unsupported
from .fonts import FONTS
from .media import MEDIA
from .previews import PREVIEWS
from .zips import HIDING, ZIPS

DELIVERABLES: tuple[Case, ...] = (*ARCHIVES, *ZIPS, *FONTS, *MEDIA)

__all__ = ["DELIVERABLES", "HIDING", "PREVIEWS", "Case", "Refused", "Taken", "Unsupported"]
