"""Serializers of the library's responses and queries."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from catalog.bounds import VERSION_OR_ID_CHARS
from catalog.models import Deliverable
from catalog.models.listings import AiTraining
from marketplace.api.fields import Line
from marketplace.api.serializers import Limit

from ... import bounds
from ...models import DownloadLink, Licence
from ...selectors import current_file, version_of
from ...services.links import url_of
from ...services.packages import entry_name


class LibraryQuery(serializers.Serializer[Any]):
    """Paging of the library."""

    limit = Limit(default=bounds.LIBRARY_LIMIT_DEFAULT, maximum=bounds.LIBRARY_LIMIT)
    cursor = Line(required=False, max_length=200, help_text="The nextCursor of the previous page.")


class OwnedFile(serializers.Serializer[Deliverable]):
    """The file that a download returns."""

    id = serializers.CharField(help_text="Id of the file, by which this version can be downloaded when there is a newer one.")
    name = serializers.SerializerMethodField(help_text="Its name in the package.")
    size = serializers.IntegerField(source="file_size", help_text="Its size in bytes.")
    checksum = serializers.CharField(source="sha256", help_text="SHA-256 of the file in the package, in hex digits.")

    def get_name(self, file: Deliverable) -> str:
        return entry_name(file)


class LibraryItem(serializers.Serializer[Licence]):
    """One owned asset under one licence tier."""

    assetId = serializers.CharField(source="listing_id")
    acquiredAt = serializers.DateTimeField(source="acquired_at")
    title = serializers.CharField(source="listing.title")
    version = serializers.SerializerMethodField(help_text="The version that a download returns now.")
    licenseSlug = serializers.CharField(source="tier.slug")
    aiTraining = serializers.ChoiceField(AiTraining.choices, source="ai_training")
    orderId = serializers.CharField(source="order_id")
    boughtVersion = serializers.CharField(source="version", help_text="The version that was on sale at the purchase.")

    slug = serializers.CharField(source="listing.slug")
    file = serializers.SerializerMethodField(help_text="The file that a download returns now; null if a reviewer marked it as malicious.")
    suspended = serializers.SerializerMethodField(
        help_text="Whether the payment for the licence is disputed: nothing can be downloaded until that is decided."
    )
    onSale = serializers.BooleanField(
        source="listing.is_on_sale", read_only=True, help_text="Whether the asset is on sale now. Its owners keep it when it is not."
    )

    def get_version(self, licence: Licence) -> str:
        return version_of(licence)

    @extend_schema_field(OwnedFile(allow_null=True))
    def get_file(self, licence: Licence) -> dict[str, Any] | None:
        file = current_file(licence)
        return None if file is None else dict(OwnedFile(file).data)

    def get_suspended(self, licence: Licence) -> bool:
        return licence.suspended_at is not None


class LibraryPage(serializers.Serializer[Any]):
    """The caller's licences, newest first."""

    ownedCount = serializers.IntegerField(
        help_text="The number of all owned licences, whatever the limit and the filters. An asset that is owned under two licences counts twice."
    )
    items = LibraryItem(many=True)
    nextCursor = serializers.CharField(allow_null=True, help_text="Send it as cursor to get the next page; null on the last page.")


class DownloadQuery(serializers.Serializer[Any]):
    """The version to download."""

    version = Line(required=False, max_length=VERSION_OR_ID_CHARS, help_text="An owned version, or its id; by default the newest.")


class OwnedVersion(serializers.Serializer[Deliverable]):
    """A version that the holder may download."""

    id = serializers.CharField()
    version = serializers.CharField()
    fileSize = serializers.IntegerField(source="file_size")
    checksum = serializers.CharField(source="sha256", help_text="SHA-256 of the file in the package, in hex digits.")
    releasedAt = serializers.DateTimeField(source="approved_at", help_text="Time at which this version went on sale.")


class OwnedVersions(serializers.Serializer[Any]):
    """The version that was bought and all since, the newest first."""

    assetId = serializers.CharField()
    items = OwnedVersion(many=True)


class DownloadLinkResponse(serializers.Serializer[DownloadLink]):
    """A link that needs no credential until it expires."""

    downloadUrl = serializers.SerializerMethodField(help_text="Absolute; needs no credential.")
    expiresAt = serializers.DateTimeField(source="expires_at")
    fileName = serializers.CharField(source="file_name", help_text="Suggested file name.")
    size = serializers.IntegerField(source="package.size", help_text="Bytes of the package.")
    checksum = serializers.CharField(source="package.sha256", help_text="SHA-256 of the package, in hex digits.")

    def get_downloadUrl(self, link: DownloadLink) -> str:
        return url_of(link)
