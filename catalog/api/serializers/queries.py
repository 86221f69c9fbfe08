"""Shapes of the public catalog's queries (reference section 4)."""

from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from marketplace.accounts.models import Tier
from marketplace.core import bounds
from marketplace.core.api.fields import TWO_DECIMALS
from marketplace.core.api.serializers import Limit, PageNumber
from marketplace.core.money import Currency

from ...selectors import Facet, Sort
from ...selectors.browse import ASKED


@extend_schema_field({"type": "number", "minimum": 0, "maximum": bounds.PRICE_MINOR / 100} | TWO_DECIMALS)
class QueryPrice(serializers.DecimalField):
    """A price in a query."""

    def __init__(self) -> None:
        super().__init__(max_digits=8, decimal_places=2, min_value=Decimal(0), max_value=Decimal(bounds.PRICE_MINOR) / 100, required=False)


FACETS_CHARS = 100
_ONE_FACET = "(" + "|".join(Facet) + ")"


@extend_schema_field({"type": "string", "pattern": f"^{_ONE_FACET}(,{_ONE_FACET})*$"})
class FacetNames(serializers.CharField):
    """Names of facets, parted by commas."""

    def __init__(self) -> None:
        super().__init__(
            required=False,
            max_length=FACETS_CHARS,
            help_text="Count the values of category, tier, fileType and license: `facets=category,tier`.",
        )

    def to_internal_value(self, data: Any) -> list[Facet]:  # type: ignore[override]  # a list comes out of the text
        """Return the facets, each once."""
        text: str = super().to_internal_value(data)
        # Here, not by the validator of the maximum: that one would see the list.
        if len(text) > FACETS_CHARS:
            raise serializers.ValidationError(f"At most {FACETS_CHARS} characters.", code="max_length")
        names = dict.fromkeys(text.split(","))
        if unknown := [name for name in names if name not in set(Facet)]:
            raise serializers.ValidationError(f"Unknown: {unknown[0][:40]}. There are {', '.join(Facet)}.", code="invalid_choice")
        return [Facet(name) for name in names]


class FilterQuery(serializers.Serializer[Any]):
    """What the assets must be, in browsing and in searching."""

    category = serializers.CharField(
        required=False, max_length=bounds.SLUG_CHARS, help_text="A category's slug; an unknown one returns nothing."
    )
    tier = serializers.ChoiceField(choices=Tier.choices, required=False)
    vendor = serializers.CharField(required=False, max_length=bounds.SLUG_CHARS, help_text="A store's slug.")
    license = serializers.CharField(required=False, max_length=40, help_text="The slug of a licence tier that it is sold under.")
    tag = serializers.CharField(required=False, max_length=bounds.TAG_CHARS, help_text="One of its tags, in any case.")
    platform = serializers.CharField(
        required=False, max_length=bounds.PLATFORMS_CHARS, help_text="A host tool that it supports, in any case, without a version."
    )
    fileType = serializers.CharField(required=False, max_length=bounds.FILE_TYPE_CHARS, help_text="Its file type, in any case.")
    minPrice = QueryPrice()
    maxPrice = QueryPrice()
    currency = serializers.ChoiceField(
        choices=[(currency.value, currency.value) for currency in Currency],
        default=Currency.INR.value,
        help_text="Of minPrice and maxPrice; assets without a price in it are left out.",
    )

    def validate(self, query: dict[str, Any]) -> dict[str, Any]:
        """Refuse what contradicts itself."""
        if query.get("minPrice", 0) > query.get("maxPrice", bounds.PRICE_MINOR):
            raise serializers.ValidationError({"maxPrice": ["It is below minPrice."]}, code="below_minimum")
        return query


class BrowseQuery(FilterQuery):
    """Query of browsing."""

    page = PageNumber()
    cursor = serializers.CharField(
        required=False,
        max_length=300,
        help_text="The nextCursor of the previous page; use it instead of page, it is equally fast at any depth. With a cursor, every listing appears once, "
        "whatever is published or withdrawn meanwhile; one that was moved in the order (edited, or bought or refunded and counted "
        "since) can come again or be passed over.",
    )
    limit = Limit(default=bounds.BROWSE_LIMIT_DEFAULT, maximum=bounds.BROWSE_LIMIT)
    sort = serializers.ChoiceField(
        choices=[(sort.value, sort.value) for sort in ASKED],
        default=Sort.POPULAR.value,
        help_text="popular is by purchases, which are counted within minutes, then the newest. Prices are the INR prices shown; listings without "
        "one come last, by USD.",
    )
    facets = FacetNames()

    def validate(self, query: dict[str, Any]) -> dict[str, Any]:
        """Refuse what contradicts itself."""
        if "cursor" in query and "page" in self.initial_data:
            raise serializers.ValidationError({"cursor": ["Send cursor or page, not both."]}, code="ambiguous")
        return super().validate(query)


def not_blank(q: str) -> str:
    """Return a query as it was sent.

    Raises:
        ValidationError: there is nothing but spaces in it.
    """
    if not q.strip():
        raise serializers.ValidationError("Enter a search term.", code="blank")
    return q


class SearchQuery(FilterQuery):
    """Query of a search."""

    q = serializers.CharField(
        max_length=bounds.SEARCH_QUERY_CHARS,
        # Echoed as it was sent.
        trim_whitespace=False,
        help_text="The last word may be incomplete; misspelt words are corrected.",
    )
    limit = Limit(default=bounds.SEARCH_LIMIT_DEFAULT, maximum=bounds.SEARCH_LIMIT)
    facets = FacetNames()

    def validate_q(self, q: str) -> str:
        """Return the query unless it is blank."""
        return not_blank(q)


class SuggestQuery(serializers.Serializer[Any]):
    """Query of suggestions."""

    q = serializers.CharField(max_length=bounds.SEARCH_QUERY_CHARS, trim_whitespace=False, help_text="What has been typed so far.")

    def validate_q(self, q: str) -> str:
        """Return what was typed unless it is blank."""
        return not_blank(q)


class PreviewQuery(serializers.Serializer[Any]):
    """Query of a preview."""

    size = serializers.ChoiceField(
        choices=[("card", "card")], required=False, help_text="The smaller copy of an image, where there is one."
    )
