"""Filters of browsing, on the shelf's rows."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

import django_filters
from django.db.models import Exists, QuerySet, Subquery

from marketplace.accounts.models import Tier
from marketplace.core import money
from marketplace.core.money import Currency

from .. import labels
from ..models import NO_INR, Category, LicenseTier, ShelfItem, Store
from ..selectors import Matching, Section
from ..selectors.label_conditions import Group
from ..selectors.matching import Bound

Items = QuerySet[ShelfItem]
# What the shelf keeps counts by, and by one label with them.
COUNTED = frozenset({"category", "tier"})
LABELLED = frozenset({"license", "tag", "platform", "fileType"})
# By the currency that prices are compared in. INR is in the index of its order, where those without it are beyond every price.
COLUMNS = {Currency.INR: "price_up", Currency.USD: "usd", Currency.EUR: "eur"}


def labels_of(name: str, value: str) -> Group:
    """Return the labels of which a filter asks for one; no listing has two of them."""
    if name == "license":
        return labels.license_label(value), labels.ANY_LICENSE
    return (labels.label("type" if name == "fileType" else name, value),)


class AssetFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """What a listing must be; an unknown category, store, licence, tag, platform or file type finds nothing."""

    category = django_filters.CharFilter(method="in_category")
    tier = django_filters.ChoiceFilter(choices=Tier.choices)
    vendor = django_filters.CharFilter(method="of_store")
    license = django_filters.CharFilter(method="under_license")
    tag = django_filters.CharFilter(method="labelled")
    platform = django_filters.CharFilter(method="labelled")
    fileType = django_filters.CharFilter(method="labelled")  # noqa: N815 - the parameter's name
    minPrice = django_filters.NumberFilter(method="priced")  # noqa: N815 - as above
    maxPrice = django_filters.NumberFilter(method="priced")  # noqa: N815 - as above

    class Meta:
        """Only what is declared above."""

        model = ShelfItem
        fields: ClassVar[list[str]] = []

    def filter_queryset(self, queryset: Items) -> Items:
        """Keep what passes every filter; those for labels and prices are only noted, to be answered together."""
        self.groups: list[Group] = []
        self.prices: list[Bound] = []
        items: Items = super().filter_queryset(queryset)
        return items

    def in_category(self, items: Items, _name: str, slug: str) -> Items:
        """Keep a category; its id comes first, so that the category's index gives the order."""
        return items.filter(category=Subquery(Category.objects.filter(slug=slug).values("pk")))

    def of_store(self, items: Items, _name: str, slug: str) -> Items:
        """Keep a store."""
        return items.filter(store=Subquery(Store.objects.filter(slug=slug).values("pk")))

    def under_license(self, items: Items, _name: str, slug: str) -> Items:
        """Keep what is sold under an active licence tier."""
        active = LicenseTier.objects.filter(slug=slug, is_active=True)
        return self.labelled(items.filter(Exists(active)), "license", slug)

    def labelled(self, items: Items, name: str, value: str) -> Items:
        """Keep what has a label of the parameter's kind."""
        self.groups.append(labels_of(name, value))
        return items

    def priced(self, items: Items, name: str, value: Any) -> Items:
        """Keep what costs at least or at most so much; what has no price in the currency is left out."""
        currency = Currency(self.data.get("currency", Currency.INR))
        column = COLUMNS[currency]
        self.prices.append((f"{column} {'>=' if name == 'minPrice' else '<='}", money.to_minor(value)))
        if currency == Currency.INR and "maxPrice" not in self.data:
            self.prices.append((f"{column} <", NO_INR))
        return items


def matching_of(filters: Mapping[str, Any]) -> Matching:
    """Return what the filters keep; to make its SQL takes longer than most of it runs, so that what was asked before is remembered."""
    return _matching(tuple(sorted(filters.items())))


@lru_cache(maxsize=1024)
def _matching(given: tuple[tuple[str, Any], ...]) -> Matching:
    filters = dict(given)
    asked = AssetFilter(filters, ShelfItem.objects.all())
    section = Section(filters.get("category"), filters.get("tier")) if filters.keys() <= COUNTED | LABELLED else None
    # What it notes is noted by making its query.
    items = asked.qs
    return Matching.of(items, asked.groups, asked.prices, section)
