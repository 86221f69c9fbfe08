"""The library's endpoints."""

from .certificates import CertificateViewSet
from .library import LibraryViewSet
from .packages import PackageViewSet

__all__ = ["CertificateViewSet", "LibraryViewSet", "PackageViewSet"]
