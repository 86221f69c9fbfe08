"""Shapes of the public catalog's answers (reference sections 2 and 4)."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from marketplace.accounts.models import Tier
from marketplace.core.api.fields import Amount

from ...models.files import PreviewKind
from ...selectors import FACETED
from ...selectors.matching import CAP

# Of a search, as many as are ranked.
SEARCH_FACETED = 300


@extend_schema_field(OpenApiTypes.OBJECT)
class JsonObject(serializers.JSONField):
    """A JSON object."""


class AssetItem(serializers.Serializer[Any]):
    """A listing in the list."""

    id = serializers.CharField()
    title = serializers.CharField()
    priceINR = Amount(allow_null=True, help_text="What a buyer pays now; null if the vendor has set no INR price.")
    tierRequirement = serializers.ChoiceField(choices=Tier.choices)


class FacetValue(serializers.Serializer[Any]):
    """A value and how many listings have it."""

    value = serializers.CharField()
    count = serializers.IntegerField()


class FacetCounts(serializers.Serializer[Any]):
    """The facets that were asked for: the most frequent values first, 50 of each at most."""

    category = FacetValue(many=True, required=False)
    tier = FacetValue(many=True, required=False)
    fileType = FacetValue(many=True, required=False)
    license = FacetValue(many=True, required=False, help_text="An asset counts under each licence tier that it is sold under.")


class Faceted(serializers.Serializer[Any]):
    """What an answer has where facets were asked for."""

    facets = FacetCounts(required=False)
    facetsAreExact = serializers.BooleanField(
        required=False,
        help_text="Always true without filters other than category and tier. With them, and in a search: false where more may match "
        f"than are counted, which are up to {FACETED}, and the best {SEARCH_FACETED} at most.",
    )


class AssetPage(Faceted):
    """A page of listings."""

    total = serializers.IntegerField()
    totalIsExact = serializers.BooleanField(
        required=False,
        help_text=f"There, and false, where more than {CAP} match several filters, a store or a price range: total is {CAP} then.",
    )
    page = serializers.IntegerField()
    items = AssetItem(many=True)
    nextCursor = serializers.CharField(allow_null=True, help_text="Send it as cursor to get the next page; null on the last page.")


class SearchResult(serializers.Serializer[Any]):
    """A listing that was found."""

    id = serializers.CharField()
    title = serializers.CharField()
    score = serializers.FloatField(min_value=0, max_value=1, help_text="Relevance; higher is better.")


class SearchResults(Faceted):
    """What a search found, best first."""

    query = serializers.CharField()
    count = serializers.IntegerField(help_text="The number of results in this answer.")
    results = SearchResult(many=True)


class SuggestionRecord(serializers.Serializer[Any]):
    """A listing that what was typed may be about."""

    id = serializers.CharField()
    slug = serializers.CharField()
    title = serializers.CharField()
    category = serializers.CharField(help_text="The category's slug.")


# Generated clients name a variable after it, and a field after that.
@extend_schema_serializer(component_name="SuggestAnswer")
class Suggestions(serializers.Serializer[Any]):
    """At most ten listings, those whose titles begin with what was typed first."""

    query = serializers.CharField()
    suggestions = SuggestionRecord(many=True)


class CategoryRecord(serializers.Serializer[Any]):
    """A category of the catalog."""

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
    """A public sample of an asset; `sortOrder` and `altText` are there for gallery images only."""

    id = serializers.CharField()
    assetId = serializers.CharField()
    kind = serializers.ChoiceField(choices=PreviewKind.choices)
    sortOrder = serializers.IntegerField(required=False)
    url = serializers.CharField()
    altText = serializers.CharField(required=False, help_text="What the picture shows; empty where the vendor did not say.")


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
    popularity = serializers.IntegerField(help_text="Number of purchases; updated within minutes.")


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
