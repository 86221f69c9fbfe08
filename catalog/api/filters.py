"""Filters of browsing."""

from typing import ClassVar

import django_filters

from marketplace.accounts.models import Tier

from ..models import Listing


class AssetFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """By category and tier; an unknown category finds nothing."""

    category = django_filters.CharFilter(field_name="category__slug")
    tier = django_filters.ChoiceFilter(field_name="tier_requirement", choices=Tier.choices)

    class Meta:
        """Only what is declared above."""

        model = Listing
        fields: ClassVar[list[str]] = []
