"""The library's tables."""

from .downloads import Download, DownloadLink, Package
from .favourites import Favourite
from .licences import Licence
from .status_lists import StatusListPosition
from .updates import UpdateAnnouncement

__all__ = ["Download", "DownloadLink", "Favourite", "Licence", "Package", "StatusListPosition", "UpdateAnnouncement"]
