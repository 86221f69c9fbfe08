"""Response models of the catalog, used by the API, its OpenAPI document and the tools' output schemas."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import AliasPath, Field

from marketplace.accounts.models import Tier
from marketplace.api.response_models import Amount, AmountOrNone, Id, ResponseModel, choice_schema

from .file_types import public_file_type
from .models.files import PreviewKind, preview_url, public_technical
from .models.listings import AiOrigin, AiTraining
from .selectors.browse import COUNT_LIMIT, FACET_LIMIT, Facets, Row
from .selectors.listings import LISTING_FIELDS, ListingDetail
from .selectors.taxonomy import TierTexts

# The most search results that are counted in facets.
SEARCH_FACET_LIMIT = 300

TierName = Annotated[str, choice_schema(Tier)]
PreviewKindName = Annotated[str, choice_schema(PreviewKind)]
AiTrainingName = Annotated[str, choice_schema(AiTraining)]
AiOriginName = Annotated[str, choice_schema(AiOrigin)]


class FacetValue(ResponseModel):
    """A value and how many assets have it."""

    value: str
    count: int


class FacetCounts(ResponseModel):
    """The facets that were asked for: the most frequent values first, 50 of each at most."""

    category: list[FacetValue] = Field(default_factory=list)
    tier: list[FacetValue] = Field(default_factory=list)
    file_type: list[FacetValue] = Field(default_factory=list)
    license: list[FacetValue] = Field(default_factory=list, description="An asset counts under each licence tier that it is sold under.")


FacetsAreExact = Annotated[
    bool,
    Field(
        default_factory=bool,
        description="Always true without filters other than category and tier. With other filters, and in a search, false if more may match "
        f"than are counted: at most {FACET_LIMIT}, of a search the best {SEARCH_FACET_LIMIT}.",
    ),
]


def facet_fields(facets: Facets, *, exact: bool) -> dict[str, Any]:
    """Return the fields of a response with facets."""
    counts = {name: [{"value": value, "count": count} for value, count in values] for name, values in facets.items()}
    return {"facets": counts, "facetsAreExact": exact}


class VendorName(ResponseModel):
    """A store as a part of an asset."""

    store_name: str
    store_slug: str
    logo_url: str | None = Field(description="Path of the store's logo, in the size of a card; null if there is none.")


class LicensePrice(ResponseModel):
    """A permitted licence tier and what it costs now."""

    slug: str
    price_inr: AmountOrNone
    price_usd: Amount
    price_eur: AmountOrNone


class AssetItem(ResponseModel):
    """An asset in a list."""

    id: Id
    title: str
    price_inr: AmountOrNone = Field(description="What a buyer pays now; 0 if the asset is free, null if the vendor has set no INR price.")
    tier_requirement: TierName
    slug: str
    vendor: VendorName
    price_usd: Amount
    price_eur: AmountOrNone
    thumbnail_url: str | None = Field(description="Path of the first image, in the size of a card; null if there is none.")
    licenses: list[LicensePrice]


def item_of(row: Row) -> dict[str, Any]:
    """Return the fields of an `AssetItem`."""
    return {
        "id": row["listing_id"],
        "title": row["title"],
        "price_inr": row["price_inr"],
        "tier_requirement": row["tier"],
        "slug": row["slug"],
        "vendor": {
            "store_name": row["store_name"],
            "store_slug": row["store_slug"],
            "logo_url": f"{preview_url(row['store_logo'])}?size=card" if row["store_logo"] else None,
        },
        "price_usd": row["price_usd"],
        "price_eur": row["price_eur"],
        "thumbnail_url": row["thumbnail"]["url"] if row["thumbnail"] else None,
        "licenses": row["licenses"],
    }


class AssetPage(ResponseModel):
    """A page of assets."""

    total: int
    page: int
    items: list[AssetItem]
    next_cursor: str | None = Field(description="Send it as cursor to get the next page; null on the last page.")
    total_is_exact: bool = Field(
        default_factory=bool,
        description=f"Present, and false, if more than {COUNT_LIMIT} match several filters, a store or a price range: total is {COUNT_LIMIT} then.",
    )
    facets: FacetCounts = Field(default_factory=FacetCounts)
    facets_are_exact: FacetsAreExact


class SearchResult(AssetItem):
    """An asset that was found."""

    score: float = Field(ge=0, le=1, description="Relevance; higher is better.")


class SearchResults(ResponseModel):
    """The results of a search, best first."""

    query: str
    count: int = Field(description="The number of results in this response.")
    results: list[SearchResult] = Field(description="The matching assets, best match first.")
    total: int = Field(description="The number of assets that were ranked: all that match, or the best few hundred.")
    total_is_exact: bool = Field(default_factory=bool, description="Present, and false, if more match than were ranked.")
    next_cursor: str | None = Field(description="Send it as cursor to get the next results; null after the last ones.")
    suggestions: list[str] = Field(default_factory=list, description="Only if nothing was found: similar words that find something.")
    facets: FacetCounts = Field(default_factory=FacetCounts)
    facets_are_exact: FacetsAreExact


class SuggestionRecord(ResponseModel):
    """A suggested asset."""

    id: Id
    slug: str
    title: str
    category: str = Field(validation_alias=AliasPath("category", "slug"), description="The category's slug.")


# The name avoids a clash between a variable and a field in generated clients.
class SuggestResponse(ResponseModel):
    """At most ten assets, those whose titles begin with what was typed first."""

    query: str
    suggestions: list[SuggestionRecord] = Field(description="The matching assets, best match first.")


class CategoryRecord(ResponseModel):
    """A category of the catalog."""

    slug: str
    name: str = Field(description="Name of the category.")
    description: str = Field(description="What the category contains.")
    icon: str = Field(description="Name of the icon.")
    sort_order: int
    asset_count: int = Field(description="Number of assets on sale in the category.")
    metadata: dict[str, Any] = Field(description="Further properties of the category.")


class CategoryList(ResponseModel):
    """Every active category."""

    total: int
    items: list[CategoryRecord]


class CategoryName(ResponseModel):
    """A category as a part of an asset."""

    slug: str
    name: str = Field(description="Name of the category.")


class PricesByCurrency(ResponseModel):
    """Prices before the discount."""

    usd: Amount = Field(alias="USD")
    inr: AmountOrNone = Field(alias="INR")
    eur: AmountOrNone = Field(alias="EUR")


class LicenseOffer(ResponseModel):
    """A permitted licence tier and what it costs now."""

    slug: str
    name: str
    summary: str
    price_usd: Amount
    price_inr: AmountOrNone
    price_eur: AmountOrNone


class AssetPreview(ResponseModel):
    """A public sample of an asset; `sortOrder` and `altText` are there for gallery images only."""

    id: Id
    asset_id: Id
    kind: PreviewKindName
    sort_order: int = Field(default_factory=int)
    url: str
    alt_text: str = Field(default_factory=str, description="What the picture shows; empty where the vendor did not say.")


def preview_of(row: Row) -> dict[str, Any]:
    """Return the fields of an `AssetPreview`."""
    record = {"id": row["id"], "asset_id": row["listing_id"], "kind": row["kind"], "url": preview_url(row["id"])}
    of_gallery = {"sort_order": row["slot"], "alt_text": row["alt_text"]} if row["kind"] == PreviewKind.GALLERY else {}
    return record | of_gallery


class AssetFile(ResponseModel):
    """The file that buyers get."""

    size: int
    checksum: str = Field(description="SHA-256 in hex digits.")
    technical: dict[str, Any]


class AssetDetail(ResponseModel):
    """One asset for sale."""

    id: Id
    slug: str
    title: str
    short_description: str
    description: str = Field(description="Markdown.")
    category: CategoryName
    vendor: VendorName
    price_usd: Amount = Field(description="What a buyer pays now: after the discount, tax included.")
    price_inr: AmountOrNone
    price_eur: AmountOrNone
    discount_percent: float
    discount_ends_at: datetime | None
    list_prices: PricesByCurrency
    tax_rate_percent: float
    tier_requirement: TierName
    file_type: str = Field(description="The vendor's words; if they name no type or only an archive, the type of what the file holds.")
    supported_platforms: str
    version: str
    video_url: str
    tags: list[str]
    ai_training: AiTrainingName
    ai_origin: AiOriginName
    ai_parts: str
    licenses: list[LicenseOffer]
    previews: list[AssetPreview]
    file: AssetFile
    published_at: datetime
    updated_at: datetime
    popularity: int = Field(description="Number of purchases; updated within minutes.")

    @classmethod
    def of(cls, detail: ListingDetail) -> Self:
        """Return the response of GET assets/{id}."""
        row = detail.row
        of_listing = {name: row[f"listing__{name}"] for name in LISTING_FIELDS}
        return cls.model_validate(
            item_of(row)
            | of_listing
            | {
                "category": {"slug": row["category_slug"], "name": row["category_name"]},
                "file_type": public_file_type(row["listing__file_type"], row["file_type"]),
                "version": row["listing__approved_deliverable__version"] or row["listing__version"],
                "discount_percent": row["discount_bp"] / 100,
                "discount_ends_at": row["discount_ends_at"],
                "list_prices": {"usd": row["list_price_usd"], "inr": row["list_price_inr"], "eur": row["list_price_eur"]},
                "tax_rate_percent": row["listing__tax_rate_bp"] / 100,
                "licenses": license_offers(row["licenses"], detail.tiers),
                "previews": [preview_of(preview) for preview in detail.previews],
                "file": {
                    "size": row["listing__approved_deliverable__file_size"],
                    "checksum": row["listing__approved_deliverable__sha256"],
                    "technical": public_technical(row["listing__approved_deliverable__technical"]),
                },
                "published_at": row["published_at"],
                "popularity": row["popularity"],
            }
        )


def license_offers(offered: Iterable[dict[str, Any]], tiers: TierTexts) -> list[dict[str, Any]]:
    """Return the fields of a `LicenseOffer` for each licence in a listing's index row."""
    return [offer | tiers[offer["slug"]] for offer in offered if offer["slug"] in tiers]
