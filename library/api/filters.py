"""Filters of the library."""

from typing import ClassVar

import django_filters

from marketplace.api.filters import MomentFilter

from ..models import Licence


class LibraryFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """The filters of owned assets."""

    createdAfter = MomentFilter("acquired_at", "gte", help_text="Only assets acquired at this time or later.")  # noqa: N815 - the parameter's name
    createdBefore = MomentFilter("acquired_at", "lt", help_text="Only assets acquired before this time.")  # noqa: N815 - the parameter's name

    class Meta:
        """Only what is declared above."""

        model = Licence
        fields: ClassVar[list[str]] = []
