"""Filters of purchases and wallet transactions."""

from typing import ClassVar

import django_filters
from django.db.models import QuerySet

from marketplace.api.filters import IdFilter, MomentFilter

from ..models import Journal, Order
from ..models.orders import OrderStatus
from .serializers.history import TRANSACTION_KINDS


class OrderFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """The filters of purchases."""

    createdAfter = MomentFilter("created_at", "gte", help_text="Only purchases at this time or later.")  # noqa: N815 - the parameter's name
    createdBefore = MomentFilter("created_at", "lt", help_text="Only purchases before this time.")  # noqa: N815 - the parameter's name
    status = django_filters.ChoiceFilter(choices=OrderStatus.choices, help_text="Only purchases with this status.")
    appId = IdFilter("app", help_text="Only purchases that this app made.")  # noqa: N815 - the parameter's name

    class Meta:
        """Only what is declared above."""

        model = Order
        fields: ClassVar[list[str]] = []


class TransactionFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """The filters of wallet transactions."""

    createdAfter = MomentFilter("at", "gte", help_text="Only transactions at this time or later.")  # noqa: N815 - the parameter's name
    createdBefore = MomentFilter("at", "lt", help_text="Only transactions before this time.")  # noqa: N815 - the parameter's name
    appId = IdFilter("order__app", help_text="Only transactions of purchases that this app made.")  # noqa: N815 - the parameter's name
    kind = django_filters.ChoiceFilter(
        choices=[(name, name) for name in sorted(TRANSACTION_KINDS.values())], method="of_kind", help_text="Only transactions of this kind."
    )

    class Meta:
        """Only what is declared above."""

        model = Journal
        fields: ClassVar[list[str]] = []

    def of_kind(self, journals: QuerySet[Journal], _name: str, value: str) -> QuerySet[Journal]:
        """Return the journals of the kind with this name in the API."""
        return journals.filter(kind__in=[kind for kind, name in TRANSACTION_KINDS.items() if name == value])
