"""The library's endpoints."""

from .certificates import CertificateViewSet
from .library import LibraryViewSet
from .packages import PackageViewSet
from .rights import RightsViewSet

__all__ = ["CertificateViewSet", "LibraryViewSet", "PackageViewSet", "RightsViewSet"]
