"""The library's tables."""

from .downloads import Download, DownloadLink, Package
from .licences import Licence
from .updates import UpdateAnnouncement

__all__ = ["Download", "DownloadLink", "Licence", "Package", "UpdateAnnouncement"]
