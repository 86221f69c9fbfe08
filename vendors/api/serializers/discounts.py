"""Discounts of a listing."""

from typing import Any

from rest_framework import serializers

from catalog import bounds as catalog_bounds
from catalog.api.fields import DiscountCode
from catalog.models.discounts import DiscountStatus
from marketplace.api.fields import BodyInteger, Moment
from marketplace.api.serializers import Body, PageSerializer


class NewDiscount(Body):
    """A discount to give a listing."""

    percent = BodyInteger(min_value=1, max_value=catalog_bounds.MAX_DISCOUNT_PERCENT, help_text="How much is taken off each price.")
    endsAt = Moment(source="ends_at", help_text=f"When it ends, at most {catalog_bounds.MAX_DISCOUNT_DAYS} days after its beginning.")
    startsAt = Moment(source="starts_at", required=False, help_text="When it begins; by default now.")
    code = DiscountCode(required=False, help_text="The code that a purchase must name; by default everybody gets the discount.")


class DiscountRecord(serializers.Serializer[Any]):
    """A discount of a listing."""

    id = serializers.CharField()
    assetId = serializers.CharField(source="listing_id")
    percent = serializers.IntegerField(help_text="How much is taken off each price.")
    code = serializers.SerializerMethodField(help_text="In upper case; null for a discount that everybody gets.")
    startsAt = serializers.DateTimeField(source="starts_at", help_text="When it begins.")
    endsAt = serializers.DateTimeField(source="ends_at", help_text="When it ends.")
    status = serializers.ChoiceField(choices=DiscountStatus.choices, help_text="Whether it applies now.")

    def get_code(self, discount: Any) -> str | None:
        return discount.code or None


class DiscountPage(PageSerializer):
    """A page of discounts, the latest beginning first."""

    items = DiscountRecord(many=True)
