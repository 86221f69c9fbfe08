"""The library's tables."""

from .credentials import CredentialPosition
from .downloads import Download, DownloadLink, Package
from .favourites import Favourite
from .licences import Licence
from .updates import UpdateAnnouncement

__all__ = ["CredentialPosition", "Download", "DownloadLink", "Favourite", "Licence", "Package", "UpdateAnnouncement"]
