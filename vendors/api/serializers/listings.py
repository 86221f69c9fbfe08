"""Listings as their vendor writes and reads them."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from catalog import bounds as catalog_bounds
from catalog.models import Listing
from catalog.models.listings import AiOrigin, AiTraining, ListingStatus, UpdateStatus
from marketplace.accounts.models import Tier
from marketplace.api.fields import Choice, Line, LongText, Percent, Price
from marketplace.api.serializers import Body, PageSerializer

from ..fields import CategorySlug, HttpsUrl, LicenseSlugs, Slug, Tags
from .files import DeliverableRecord, PreviewRecord
from .paging import PageQuery


class ListingCreated(serializers.Serializer[Any]):
    """Response of create."""

    id = serializers.CharField()
    vendorId = serializers.CharField(source="store.owner_id")
    title = serializers.CharField()
    slug = serializers.CharField()
    shortDescription = serializers.CharField(source="short_description")
    categorySlug = serializers.CharField(source="category.slug")
    basePrice = Price(source="base_price_minor")
    currency = serializers.CharField()
    status = serializers.ChoiceField(choices=ListingStatus.choices)
    fileType = serializers.CharField(source="file_type")
    supportedPlatforms = serializers.CharField(source="supported_platforms")
    version = serializers.CharField()


class ListingSummary(ListingCreated):
    """A listing in the vendor's list."""

    tags = serializers.ListField(child=serializers.CharField())
    priceInr = Price(source="price_inr_minor", allow_null=True)
    priceEur = Price(source="price_eur_minor", allow_null=True)
    discountPercent = Percent(source="discount_bp")
    taxRatePercent = Percent(source="tax_rate_bp")
    updateStatus = serializers.SerializerMethodField(
        help_text="PendingReview while the new file of a published listing waits for a reviewer, else null."
    )
    videoUrl = serializers.CharField(source="video_url")
    tierRequirement = serializers.ChoiceField(source="tier_requirement", choices=Tier.choices)
    createdAt = serializers.DateTimeField(source="created_at")
    updatedAt = serializers.DateTimeField(source="updated_at")
    submittedAt = serializers.DateTimeField(source="submitted_at", allow_null=True)
    publishedAt = serializers.DateTimeField(source="published_at", allow_null=True)

    @extend_schema_field({"type": ["string", "null"], "enum": [UpdateStatus.PENDING_REVIEW.value, None]})
    def get_updateStatus(self, listing: Listing) -> str | None:
        return listing.update_status or None


class ListingRecord(ListingSummary):
    """One listing with everything its vendor set and uploaded."""

    description = serializers.CharField()
    aiTraining = serializers.ChoiceField(source="ai_training", choices=AiTraining.choices)
    aiOrigin = serializers.ChoiceField(source="ai_origin", choices=AiOrigin.choices)
    aiParts = serializers.CharField(source="ai_parts")
    readme = serializers.CharField()
    allowedLicenseSlugs = serializers.ListField(source="allowed_license_slugs", child=serializers.CharField(), allow_null=True)
    liveFile = DeliverableRecord(
        source="approved_deliverable", allow_null=True, help_text="What buyers get: the last file that a reviewer approved."
    )
    candidateFile = DeliverableRecord(
        source="candidate_deliverable", allow_null=True, help_text="The uploaded file that no reviewer has approved yet."
    )
    previews = PreviewRecord(many=True)


class ListingPage(PageSerializer):
    """A page of the vendor's listings."""

    items = ListingSummary(many=True)


class ListingQuery(PageQuery):
    """Query of the list of listings."""

    status = Choice(choices=ListingStatus.choices, required=False)


# All fields of a record: a PATCH body may contain those that it does not set, so that a client can send back what it read.
RECORD_FIELDS = frozenset(ListingRecord().fields)


class ListingDetails(Body):
    """The fields that create and PATCH have in common."""

    ignored_fields = RECORD_FIELDS

    title = Line(max_length=catalog_bounds.TITLE_CHARS)
    shortDescription = Line(source="short_description", max_length=catalog_bounds.SHORT_DESCRIPTION_CHARS)
    categorySlug = CategorySlug(source="category")
    basePrice = Price(source="base_price_minor")
    discountPercent = Percent(source="discount_bp", required=False)
    taxRatePercent = Percent(source="tax_rate_bp", required=False)
    fileType = Line(source="file_type", max_length=catalog_bounds.FILE_TYPE_CHARS, required=False, allow_blank=True)
    supportedPlatforms = Line(source="supported_platforms", max_length=catalog_bounds.PLATFORMS_CHARS, required=False, allow_blank=True)
    version = Line(max_length=catalog_bounds.VERSION_CHARS, required=False, allow_blank=True)
    videoUrl = HttpsUrl(source="video_url", required=False, allow_blank=True)
    tags = Tags(required=False)
    aiTraining = Choice(source="ai_training", choices=AiTraining.choices, required=False)
    aiOrigin = Choice(source="ai_origin", choices=AiOrigin.choices, required=False)
    aiParts = Line(
        source="ai_parts",
        max_length=catalog_bounds.AI_PARTS_CHARS,
        required=False,
        allow_blank=True,
        help_text="Which parts were made with AI, and with which tool; for the `aiOrigin` `declared`, and only for it.",
    )


class NewListing(ListingDetails):
    """Body of create."""

    slug = Slug()
    description = LongText(required=False, allow_blank=True)
    priceInr = Price(source="price_inr_minor", required=False, allow_null=True)
    priceEur = Price(source="price_eur_minor", required=False, allow_null=True)
    readme = LongText(required=False, allow_blank=True)
    allowedLicenseSlugs = LicenseSlugs(source="allowed_license_slugs", required=False)


class ListingPartPatch(Body):
    """A PATCH of one part of a listing.

    Fields that another operation sets may be sent back unchanged; a change to one would be ignored silently, so it is
    an error that names the operation.
    """

    ignored_fields = RECORD_FIELDS
    # The operation that sets a field which this one does not.
    elsewhere: ClassVar[dict[str, str]] = {}

    def to_internal_value(self, data: Any) -> Any:
        """Return the validated values; raise one error for each changed field that this operation would ignore."""
        values = super().to_internal_value(data)
        changed = {
            name: [f"Set it with {operation}."]
            for name, operation in self.elsewhere.items()
            if name in data and data[name] != _shown(self.context["listing"], name)
        }
        if changed:
            raise serializers.ValidationError(changed, code="set_elsewhere")
        return values


def _shown(listing: Listing, name: str) -> Any:
    field = ListingRecord().fields[name]
    value = field.get_attribute(listing)
    return None if value is None else field.to_representation(value)


# The operation that sets a field, by the field's name.
_DETAILS = dict.fromkeys((*ListingDetails().fields, "slug", "description"), "PATCH vendor/assets/{id}")
_PRICES = dict.fromkeys(("priceInr", "priceEur"), "PATCH vendor/assets/{id}/regional-prices")
_LICENSING = dict.fromkeys(("readme", "allowedLicenseSlugs"), "PATCH vendor/assets/{id}/licensing")


class DetailsPatch(ListingDetails, ListingPartPatch):
    """Body of PATCH of the details."""

    elsewhere = _PRICES | _LICENSING

    slug = Slug(required=False, help_text="Until the first submission it can be changed; after that, only the present one is accepted.")
    description = LongText(allow_blank=True)


class RegionalPricesPatch(ListingPartPatch):
    """Body of PATCH of the regional prices: a field left out keeps its value, null clears it."""

    elsewhere = _DETAILS | _LICENSING

    priceInr = Price(source="price_inr_minor", required=False, allow_null=True)
    priceEur = Price(source="price_eur_minor", required=False, allow_null=True)


class LicensingPatch(ListingPartPatch):
    """Body of PATCH of the licensing: a field left out keeps its value, null clears it."""

    elsewhere = _DETAILS | _PRICES

    readme = LongText(required=False, allow_null=True, allow_blank=True, help_text="Packaged for buyers as README.txt.")
    allowedLicenseSlugs = LicenseSlugs(source="allowed_license_slugs", required=False)

    def validate_readme(self, value: str | None) -> str:
        return value or ""


class ListingDeleted(serializers.Serializer[Any]):
    """Response of delete."""

    id = serializers.CharField(help_text="Id of the deleted listing.")


class DetailsPatched(serializers.Serializer[Any]):
    """Response of PATCH of the details."""

    id = serializers.CharField()
    title = serializers.CharField()
    version = serializers.CharField()


class RegionalPricesPatched(serializers.Serializer[Any]):
    """Response of PATCH of the regional prices."""

    id = serializers.CharField()
    priceInr = Price(source="price_inr_minor", allow_null=True)
    priceEur = Price(source="price_eur_minor", allow_null=True)


class LicensingPatched(serializers.Serializer[Any]):
    """Response of PATCH of the licensing."""

    id = serializers.CharField()
    allowedLicenseSlugs = serializers.ListField(source="allowed_license_slugs", child=serializers.CharField(), allow_null=True)
