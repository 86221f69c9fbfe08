"""Shapes of the library's answers and queries."""

from typing import Any

from rest_framework import serializers

from marketplace.core import bounds
from marketplace.core.api.serializers import Limit

from ..models import DownloadLink, Licence
from ..selectors import version_of
from ..services.links import url_of


class LibraryQuery(serializers.Serializer[Any]):
    """Paging of the library."""

    limit = Limit(default=bounds.LIBRARY_LIMIT_DEFAULT, maximum=bounds.LIBRARY_LIMIT)
    cursor = serializers.CharField(required=False, max_length=200, help_text="nextCursor of the page before.")


class LibraryItem(serializers.Serializer[Licence]):
    """One owned asset under one licence tier."""

    assetId = serializers.CharField(source="listing_id")
    acquiredAt = serializers.DateTimeField(source="acquired_at")
    title = serializers.CharField(source="listing.title")
    version = serializers.SerializerMethodField(help_text="The version that a download gives now.")
    licenseSlug = serializers.CharField(source="tier.slug")
    orderId = serializers.CharField(source="order_id")

    def get_version(self, licence: Licence) -> str:
        """Return the version of the file that the holder gets."""
        return version_of(licence)


class LibraryPage(serializers.Serializer[Any]):
    """What the caller owns, newest first."""

    ownedCount = serializers.IntegerField(help_text="All of the library, whatever the limit.")
    items = LibraryItem(many=True)
    nextCursor = serializers.CharField(allow_null=True, help_text="Send it as cursor for the next page; null on the last.")


class DownloadLinkAnswer(serializers.Serializer[DownloadLink]):
    """A link that needs no credential until it expires."""

    downloadUrl = serializers.SerializerMethodField(help_text="Absolute; needs no credential.")
    expiresAt = serializers.DateTimeField(source="expires_at")
    fileName = serializers.CharField(source="file_name")
    size = serializers.IntegerField(source="package.size", help_text="Bytes of the package.")
    checksum = serializers.CharField(source="package.sha256", help_text="SHA-256 of the package, hex.")

    def get_downloadUrl(self, link: DownloadLink) -> str:
        """Return the absolute address."""
        return url_of(link)
