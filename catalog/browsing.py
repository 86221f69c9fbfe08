"""Responses of the public catalog for the API and the tools, the parameters other than filters, and the cursors of browsing.

A cursor holds the sort keys of the last listing of a page, and is bound to one sort order and set of filters. It is not signed: a forged
one only starts a page somewhere else in public data.
"""

import hashlib
import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django_filters.utils import translate_validation
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from marketplace.api.fields import Choice, Line, Text
from marketplace.api.pagination import pack_cursor, unpack_cursor
from marketplace.api.serializers import Limit, PageNumber
from marketplace.core import bounds as core_bounds
from marketplace.core.ids import parse_id
from marketplace.core.texts import WHITE_SPACE

from . import bounds
from .filters import IndexRows, ListingFilter, given_filters
from .manifests import manifest_of
from .manifests.public import PublicManifest, public_manifest
from .responses import (
    SEARCH_FACET_LIMIT,
    AssetDetail,
    AssetPage,
    CategoryList,
    SearchResults,
    facet_fields,
    item_of,
    license_offers,
)
from .search import search
from .selectors.browse import ITEMS, Facet, Position, Sort, facets_of_listings, key_count, list_listings, rows_of, sorts_by_price
from .selectors.listings import detail_on_sale, listing_on_sale
from .selectors.taxonomy import categories_with_counts, tier_texts

FACETS_CHARS = 100
_INTEGERS = range(-(2**63), 2**63)
_ONE_FACET = "(" + "|".join(Facet) + ")"


@extend_schema_field({"type": "string", "pattern": f"^{_ONE_FACET}(,{_ONE_FACET})*$"})
class FacetNames(Text):
    """Names of facets, separated by commas."""

    def __init__(self) -> None:
        super().__init__(
            required=False,
            max_length=FACETS_CHARS,
            trim_whitespace=False,
            help_text="Count the values of category, tier, fileType and license: `facets=category,tier`.",
        )

    def to_internal_value(self, data: Any) -> list[Facet]:  # type: ignore[override]  # a list comes out of the text
        """Return the facets without duplicates."""
        text: str = super().to_internal_value(data)
        names = dict.fromkeys(text.split(","))
        if unknown := [name for name in names if name not in set(Facet)]:
            raise serializers.ValidationError(f"Unknown: {unknown[0][:40]}. Use one of: {', '.join(Facet)}.", code="invalid_choice")
        return [Facet(name) for name in names]


class BrowseQuery(serializers.Serializer[Any]):
    """Query of browsing."""

    page = PageNumber()
    cursor = Line(
        required=False,
        max_length=bounds.CURSOR_CHARS,
        help_text="The nextCursor of the previous page; use it instead of page, it is equally fast at any depth. With a cursor, every asset appears once, "
        "whatever is published or unpublished meanwhile; one that was moved in the order (edited, or bought or refunded and counted "
        "since) can appear twice or not at all.",
    )
    limit = Limit(default=bounds.BROWSE_LIMIT_DEFAULT, maximum=bounds.BROWSE_LIMIT)
    sort = Choice(
        choices=[(sort.value, sort.value) for sort in Sort],
        default=Sort.POPULAR.value,
        help_text="popular is by purchases, which are counted within minutes, then the newest. Prices are those in currency, of the licence where one "
        "is asked for, else of the first one on sale; assets without a price in that currency come last, in the order of their USD price.",
    )
    facets = FacetNames()

    def to_internal_value(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values; refuse a cursor together with a page."""
        query: dict[str, Any] = super().to_internal_value(data)
        if "cursor" in query and "page" in data:
            raise serializers.ValidationError({"cursor": ["Send cursor or page, not both."]}, code="ambiguous")
        return query


@extend_schema_field(
    {"type": "string", "maxLength": bounds.SEARCH_QUERY_CHARS, "pattern": rf"^[^\u0000]*[^{WHITE_SPACE}\u0000][^\u0000]*$"}
)
class SearchText(Text):
    """A search term, echoed as it was sent."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=bounds.SEARCH_QUERY_CHARS, trim_whitespace=False, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        """Return the text as sent; refuse white space alone."""
        text: str = super().to_internal_value(data)
        if not text.strip():
            raise serializers.ValidationError("Enter a search term.", code="blank")
        return text


class CatalogSearchQuery(serializers.Serializer[Any]):
    """Query of a search."""

    q = SearchText(help_text="The last word may be incomplete; misspelt words are corrected.")
    limit = Limit(default=bounds.SEARCH_LIMIT_DEFAULT, maximum=bounds.SEARCH_LIMIT)
    cursor = Line(
        required=False,
        max_length=bounds.CURSOR_CHARS,
        help_text="The nextCursor of the previous page of the same search. Pages go through the best few hundred results.",
    )
    facets = FacetNames()


class SuggestQuery(serializers.Serializer[Any]):
    """Query of suggestions."""

    q = SearchText(help_text="What has been typed so far.")


class ChangesQuery(serializers.Serializer[Any]):
    """Query of the changes between two versions."""

    # `from` is a keyword of Python, so it cannot be the name of an attribute.
    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        texts = {
            "from": "The earlier version, by its label or the id of its file; by default the one before `to`.",
            "to": "The later version; by default the one on sale.",
        }
        return {name: Line(required=False, max_length=bounds.VERSION_OR_ID_CHARS, help_text=text) for name, text in texts.items()}


class PreviewQuery(serializers.Serializer[Any]):
    """Query of a preview."""

    size = Choice(choices=[("card", "card")], required=False, help_text="The smaller copy of an image, where there is one.")


def filter_listings(parameters: Mapping[str, Any]) -> tuple[IndexRows, dict[str, Any]]:
    """Return the listings that match the filters among some parameters, and these filters.

    Raises:
        ValidationError: a filter is not valid.
    """
    if ListingFilter.base_filters.keys().isdisjoint(parameters):
        # Validating a form takes as long as the query.
        return ITEMS, {}
    form = ListingFilter.form_class()(parameters)
    if not form.is_valid():
        raise translate_validation(form.errors)
    given = given_filters(form.cleaned_data)
    return ListingFilter.matching(ITEMS, given), given


def browse(listings: IndexRows, given: Mapping[str, Any], query: Mapping[str, Any]) -> AssetPage:
    """Return the page of `listings`, which match the filters `given`, that a validated `BrowseQuery` asks for.

    Raises:
        ValidationError: its cursor belongs to another order or other filters.
    """
    sort, limit, number, after = Sort(query["sort"]), query["limit"], query["page"], None
    if "cursor" in query:
        number, after = position_of(query["cursor"], sort=sort, filters=given)
    start = 0 if after else (number - 1) * limit
    facets = query.get("facets", ())
    found = list_listings(listings, given, sort=sort, limit=limit, start=start, after=after, facets=facets)
    cursor = None
    if found.last is not None and number < core_bounds.MAX_PAGE:
        cursor = cursor_after(found.last, page=number + 1, sort=sort, filters=given)
    values = {"total": found.total.count, "page": number, "items": [item_of(row) for row in found.rows], "next_cursor": cursor}
    if not found.total.exact:
        values["total_is_exact"] = False
    if "facets" in query:
        values |= facet_fields(found.facets, exact=found.facets_are_exact)
    return AssetPage.model_validate(values)


def search_assets(listings: IndexRows, given: Mapping[str, Any], query: Mapping[str, Any]) -> SearchResults:
    """Return the results of a validated `CatalogSearchQuery` among `listings`, which match the filters `given`."""
    q, facets = query["q"], query.get("facets", [])
    found = search(q, within=listings if given else None, limit=query["limit"], cursor=query.get("cursor"))
    rows = rows_of([hit.id for hit in found.hits], ITEMS)
    results = [item_of(rows[hit.id]) | {"score": hit.score} for hit in found.hits if hit.id in rows]
    values = {"query": q, "count": len(results), "results": results, "total": found.total, "next_cursor": found.next_cursor}
    if not found.total_is_exact:
        values["total_is_exact"] = False
    if found.alternatives:
        values["suggestions"] = found.alternatives
    if facets:
        exact = found.total_is_exact and found.total <= SEARCH_FACET_LIMIT
        values |= facet_fields(facets_of_listings([uuid.UUID(ranked) for ranked in found.ranked[:SEARCH_FACET_LIMIT]], facets), exact=exact)
    return SearchResults.model_validate(values)


def list_categories() -> CategoryList:
    """Return the active categories."""
    items = list(categories_with_counts())
    return CategoryList.model_validate({"total": len(items), "items": items})


def asset_detail(asset_id: str) -> AssetDetail:
    """Return a listing on sale by its id or slug.

    Raises:
        NotFound: there is none.
    """
    return AssetDetail.of(detail_on_sale(asset_id))


def asset_manifest(asset_id: str) -> PublicManifest:
    """Return the AI manifest of a listing on sale by its id or slug.

    Raises:
        NotFound: there is none.
    """
    listing = listing_on_sale(asset_id)
    return public_manifest(listing, manifest_of(listing), licenses=license_offers(listing.index.licenses, tier_texts()))


def cursor_after(position: Position, *, page: int, sort: Sort, filters: Mapping[str, Any]) -> str:
    """Return the cursor for page number `page`, which starts after `position`."""
    *keys, row_id = position
    return pack_cursor([_binding(sort, filters), page, *keys, str(row_id)])


def position_of(cursor: str, *, sort: Sort, filters: Mapping[str, Any]) -> tuple[int, Position]:
    """Return the page number of a cursor and the position after which the page starts.

    Raises:
        serializers.ValidationError: the cursor is malformed, or belongs to another sort order or other filters.
    """
    content = unpack_cursor(cursor)
    if not isinstance(content, list) or len(content) != 3 + key_count(sort) or content[0] != _binding(sort, filters):
        raise _invalid_cursor()
    _, page, *keys, row = content
    row_id = parse_id(row) if isinstance(row, str) else None
    if row_id is None or not all(map(_is_64_bit, (page, *keys))) or not 1 <= page <= core_bounds.MAX_PAGE:
        raise _invalid_cursor()
    return page, (*keys, row_id)


def _is_64_bit(number: Any) -> bool:
    return type(number) is int and number in _INTEGERS


def _binding(sort: Sort, filters: Mapping[str, Any]) -> str:
    # The currency only matters where prices do.
    ignored = {"currency"} if not sorts_by_price(sort) and filters.keys().isdisjoint({"minPrice", "maxPrice"}) else set()
    bound = repr((sort.value, sorted((name, _text(value)) for name, value in filters.items() if name not in ignored)))
    return hashlib.blake2b(bound.encode(), digest_size=6).hexdigest()


def _text(value: Any) -> str:
    return str(value.normalize() if isinstance(value, Decimal) else value)


def _invalid_cursor() -> serializers.ValidationError:
    sentence = "Send the cursor of the previous response unchanged, with the same sort and filters."
    return serializers.ValidationError({"cursor": [sentence]}, code="invalid_cursor")
