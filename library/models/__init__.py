"""The library's tables."""

from .downloads import Download, DownloadLink, Package
from .licences import Licence

__all__ = ["Download", "DownloadLink", "Licence", "Package"]
