"""Vendor profiles."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from marketplace.api.fields import Flag, Line, LongText
from marketplace.api.serializers import Body
from marketplace.core import bounds
from marketplace.review.serializers import QueuePlace, queue_place

from ...models import VendorProfile, VendorStatus
from ...selectors import payout_method_of, wait_of_profile
from ..fields import JsonObjectText, Slug


class Application(Body):
    """Body of apply."""

    read_back = frozenset({"id", "userId", "status", "commissionRate", "payoutMethod"})

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
        help_text="Verified developers and staff are approved at once unless this is false; ignored for others.",
    )


class ProfileRecord(serializers.Serializer[VendorProfile]):
    """A vendor profile."""

    id = serializers.CharField()
    userId = serializers.CharField(source="user_id")
    storeName = serializers.CharField(source="store.name")
    storeSlug = serializers.CharField(source="store.slug")
    status = serializers.ChoiceField(choices=VendorStatus.choices)
    commissionRate = serializers.SerializerMethodField(help_text="The platform's share of a sale, as a fraction.")

    def get_commissionRate(self, profile: VendorProfile) -> float:
        """Return the fraction."""
        return profile.commission_rate_bp / bounds.WHOLE_BP


class ApplicationStatus(ProfileRecord):
    """The caller's own profile."""

    payoutMethod = serializers.SerializerMethodField()
    queue = serializers.SerializerMethodField(help_text="Its place in the queue; null if it is not waiting.")

    def get_payoutMethod(self, profile: VendorProfile) -> str | None:
        """Return the kinds of the bank accounts with their last four characters."""
        return payout_method_of(profile)

    @extend_schema_field(QueuePlace(allow_null=True))
    def get_queue(self, profile: VendorProfile) -> dict[str, Any] | None:
        """Return the place in the queue of applications."""
        return queue_place(wait_of_profile(profile))
