"""Shapes of the public catalog's queries and answers (reference sections 2 and 4, decisions.md section 4)."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from marketplace.accounts.models import Tier
from marketplace.core import bounds
from marketplace.core.api.fields import Amount
from marketplace.core.api.serializers import Limit, PageNumber

from ..models.files import PreviewKind
from ..selectors import Sort


@extend_schema_field(OpenApiTypes.OBJECT)
class JsonObject(serializers.JSONField):
    """A JSON object."""


class BrowseQuery(serializers.Serializer[Any]):
    """Query of browsing."""

    category = serializers.CharField(
        required=False, max_length=bounds.SLUG_CHARS, help_text="A category's slug; an unknown one finds nothing."
    )
    tier = serializers.ChoiceField(choices=Tier.choices, required=False)
    page = PageNumber()
    limit = Limit(default=bounds.BROWSE_LIMIT_DEFAULT, maximum=bounds.BROWSE_LIMIT)
    sort = serializers.ChoiceField(
        choices=[(sort.value, sort.value) for sort in Sort],
        default=Sort.POPULAR.value,
        help_text="Prices are the INR prices shown; listings without one come last, by USD.",
    )


class AssetItem(serializers.Serializer[Any]):
    """A listing in the list."""

    id = serializers.CharField()
    title = serializers.CharField()
    priceINR = Amount(allow_null=True, help_text="What a buyer pays now; null where the vendor set no INR price.")
    tierRequirement = serializers.ChoiceField(choices=Tier.choices)


class AssetPage(serializers.Serializer[Any]):
    """A page of listings."""

    total = serializers.IntegerField()
    page = serializers.IntegerField()
    items = AssetItem(many=True)


def not_blank(q: str) -> str:
    """Return a query as it was sent.

    Raises:
        ValidationError: there is nothing but spaces in it.
    """
    if not q.strip():
        raise serializers.ValidationError("Say what to look for.", code="blank")
    return q


class SearchQuery(serializers.Serializer[Any]):
    """Query of a search."""

    q = serializers.CharField(
        max_length=bounds.SEARCH_QUERY_CHARS,
        # Echoed as it was sent.
        trim_whitespace=False,
        help_text="The last word may be cut short; misspelt words are corrected.",
    )
    limit = Limit(default=bounds.SEARCH_LIMIT_DEFAULT, maximum=bounds.SEARCH_LIMIT)

    def validate_q(self, q: str) -> str:
        """Return the query unless it is blank."""
        return not_blank(q)


class SearchResult(serializers.Serializer[Any]):
    """A listing that was found."""

    id = serializers.CharField()
    title = serializers.CharField()
    score = serializers.FloatField(min_value=0, max_value=1, help_text="Relevance; higher is better.")


class SearchResults(serializers.Serializer[Any]):
    """What a search found, best first."""

    query = serializers.CharField()
    count = serializers.IntegerField(help_text="The number of results in this answer.")
    results = SearchResult(many=True)


class SuggestQuery(serializers.Serializer[Any]):
    """Query of suggestions."""

    q = serializers.CharField(max_length=bounds.SEARCH_QUERY_CHARS, trim_whitespace=False, help_text="What has been typed so far.")

    def validate_q(self, q: str) -> str:
        """Return what was typed unless it is blank."""
        return not_blank(q)


class SuggestionRecord(serializers.Serializer[Any]):
    """A listing that what was typed may be about."""

    id = serializers.CharField()
    slug = serializers.CharField()
    title = serializers.CharField()
    category = serializers.CharField(help_text="The category's slug.")


class Suggestions(serializers.Serializer[Any]):
    """At most ten listings, those whose titles begin with what was typed first."""

    query = serializers.CharField()
    suggestions = SuggestionRecord(many=True)


class CategoryRecord(serializers.Serializer[Any]):
    """A shelf of the catalog."""

    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    icon = serializers.CharField()
    sortOrder = serializers.IntegerField()
    assetCount = serializers.IntegerField()
    metadata = JsonObject()


class CategoryList(serializers.Serializer[Any]):
    """Every active category."""

    total = serializers.IntegerField()
    items = CategoryRecord(many=True)


class CategoryName(serializers.Serializer[Any]):
    """A category as a part of an asset."""

    slug = serializers.CharField()
    name = serializers.CharField()


class VendorName(serializers.Serializer[Any]):
    """A store as a part of an asset."""

    storeName = serializers.CharField()
    storeSlug = serializers.CharField()


class PricesByCurrency(serializers.Serializer[Any]):
    """Prices before the discount."""

    USD = Amount()
    INR = Amount(allow_null=True)
    EUR = Amount(allow_null=True)


class LicenseOffer(serializers.Serializer[Any]):
    """A permitted licence tier and what it costs now."""

    slug = serializers.CharField()
    name = serializers.CharField()
    summary = serializers.CharField()
    priceUSD = Amount()
    priceINR = Amount(allow_null=True)
    priceEUR = Amount(allow_null=True)


class AssetPreview(serializers.Serializer[Any]):
    """A public sample of an asset; `sortOrder` is there for gallery images only."""

    id = serializers.CharField()
    assetId = serializers.CharField()
    kind = serializers.ChoiceField(choices=PreviewKind.choices)
    sortOrder = serializers.IntegerField(required=False)
    url = serializers.CharField()


class AssetFile(serializers.Serializer[Any]):
    """What a buyer's package holds."""

    size = serializers.IntegerField()
    checksum = serializers.CharField(help_text="SHA-256 in hex digits.")
    technical = JsonObject()


class AssetDetail(serializers.Serializer[Any]):
    """One asset for sale."""

    id = serializers.CharField()
    slug = serializers.CharField()
    title = serializers.CharField()
    shortDescription = serializers.CharField()
    description = serializers.CharField(help_text="Markdown.")
    category = CategoryName()
    vendor = VendorName()
    priceUSD = Amount(help_text="What a buyer pays now: after the discount, tax included.")
    priceINR = Amount(allow_null=True)
    priceEUR = Amount(allow_null=True)
    discountPercent = serializers.FloatField()
    listPrices = PricesByCurrency()
    taxRatePercent = serializers.FloatField()
    tierRequirement = serializers.ChoiceField(choices=Tier.choices)
    fileType = serializers.CharField()
    supportedPlatforms = serializers.CharField()
    version = serializers.CharField()
    videoUrl = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    licenses = LicenseOffer(many=True)
    previews = AssetPreview(many=True)
    file = AssetFile()
    publishedAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()
    popularity = serializers.IntegerField(help_text="Purchases so far.")


class TokenMetrics(serializers.Serializer[Any]):
    """How much of a model's context the texts take, estimated."""

    method = serializers.CharField(help_text="How it was estimated: `utf8-bytes/4` is one token for each four bytes, rounded up.")
    descriptionTokens = serializers.IntegerField()
    instructionTokens = serializers.IntegerField()
    totalTokens = serializers.IntegerField()


class PromptInstructions(serializers.Serializer[Any]):
    """What an agent should know before it suggests or uses the asset."""

    summary = serializers.CharField()
    whenToUse = serializers.ListField(child=serializers.CharField())
    howToUse = serializers.ListField(child=serializers.CharField())
    limits = serializers.ListField(child=serializers.CharField())


class Dependency(serializers.Serializer[Any]):
    """What the asset needs to be used."""

    name = serializers.CharField()
    kind = serializers.CharField()
    version = serializers.CharField(allow_null=True)
    optional = serializers.BooleanField()


class PublicManifest(serializers.Serializer[Any]):
    """The AI-facing manifest of an asset."""

    assetId = serializers.CharField()
    schemaVersion = serializers.CharField()
    slug = serializers.CharField()
    title = serializers.CharField()
    category = serializers.CharField()
    semanticTags = serializers.ListField(child=serializers.CharField())
    tokenMetrics = TokenMetrics()
    promptInstructions = PromptInstructions()
    dependencies = Dependency(many=True)
    technical = JsonObject()
    licenses = LicenseOffer(many=True)
    checksum = serializers.CharField(help_text="SHA-256 of the file, in hex digits.")
    version = serializers.CharField()


class PreviewQuery(serializers.Serializer[Any]):
    """Query of a preview."""

    size = serializers.ChoiceField(
        choices=[("card", "card")], required=False, help_text="The smaller copy of an image, where there is one."
    )
