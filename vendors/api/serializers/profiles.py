"""Vendor profiles."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from catalog.models import StorePicture
from catalog.models.files import StorePictureKind
from marketplace.api.fields import Flag, Line, LongText
from marketplace.api.serializers import Body
from marketplace.core import bounds
from marketplace.review.serializers import QueuePlace, queue_place

from ...models import VendorProfile, VendorStatus
from ...selectors import payout_method_of, pictures_of, wait_of_profile
from ..fields import JsonObjectText, Slug


class Application(Body):
    """Body of apply."""

    ignored_fields = frozenset({"id", "userId", "status", "commissionRate", "payoutMethod", "queue", "logoUrl", "bannerUrl"})

    storeName = Line(source="store_name", max_length=bounds.NAME_CHARS)
    storeSlug = Slug(source="store_slug")
    bio = LongText(required=False, allow_blank=True, help_text="Public description of the store.")
    applicationDataJson = JsonObjectText(
        source="application_data",
        required=False,
        help_text="JSON text of an object: links, handles, proof of who you are.",
    )
    autoApprove = Flag(
        source="auto_approve",
        required=False,
        help_text="Approved developers and staff are approved at once unless this is false; for others it has no effect.",
    )


class StoreChanges(Body):
    """Body of PATCH of the store: a field left out keeps its value."""

    ignored_fields = frozenset({*Application.ignored_fields, "storeSlug"})

    storeName = Line(source="store_name", max_length=bounds.NAME_CHARS, required=False)
    bio = LongText(required=False, allow_blank=True, help_text="Public description of the store.")


class ProfileRecord(serializers.Serializer[VendorProfile]):
    """A vendor profile."""

    id = serializers.CharField()
    userId = serializers.CharField(source="user_id")
    storeName = serializers.CharField(source="store.name")
    storeSlug = serializers.CharField(source="store.slug")
    status = serializers.ChoiceField(choices=VendorStatus.choices)
    commissionRate = serializers.SerializerMethodField(help_text="The marketplace's share of the price without tax, as a fraction.")

    def get_commissionRate(self, profile: VendorProfile) -> float:
        return profile.commission_rate_bp / bounds.WHOLE_BP


def _url_of(profile: VendorProfile, kind: StorePictureKind) -> str | None:
    picture = pictures_of(profile.store).get(kind)
    return None if picture is None else picture.url


class StorePictureRecord(serializers.Serializer[StorePicture]):
    """A picture of a store."""

    id = serializers.CharField()
    kind = serializers.ChoiceField(choices=StorePictureKind.choices)
    url = serializers.CharField(help_text="Relative path of the picture.")
    width = serializers.IntegerField(source="details.width", help_text="Width in pixels.")
    height = serializers.IntegerField(source="details.height", help_text="Height in pixels.")


class ApplicationStatus(ProfileRecord):
    """The caller's own profile."""

    payoutMethod = serializers.SerializerMethodField()
    queue = serializers.SerializerMethodField(help_text="Its place in the queue; null if it is not waiting.")
    bio = serializers.CharField(help_text="Public description of the store.")
    logoUrl = serializers.SerializerMethodField(help_text="Relative path of the store's logo; null where there is none.")
    bannerUrl = serializers.SerializerMethodField(help_text="Relative path of the store's banner; null where there is none.")

    def get_payoutMethod(self, profile: VendorProfile) -> str | None:
        """Return the kinds of the bank accounts with their last four characters."""
        return payout_method_of(profile)

    @extend_schema_field(QueuePlace(allow_null=True))
    def get_queue(self, profile: VendorProfile) -> dict[str, Any] | None:
        return queue_place(wait_of_profile(profile))

    def get_logoUrl(self, profile: VendorProfile) -> str | None:
        return _url_of(profile, StorePictureKind.LOGO)

    def get_bannerUrl(self, profile: VendorProfile) -> str | None:
        return _url_of(profile, StorePictureKind.BANNER)
