"""The library's tables."""

from .downloads import Download, DownloadLink, Package
from .favourites import Favourite
from .licences import Licence

__all__ = ["Download", "DownloadLink", "Favourite", "Licence", "Package"]
