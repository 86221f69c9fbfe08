"""Columns, names and filters that several lists of money share."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from marketplace.accounts.models import User
from marketplace.ui.formatting import money


def money_column(description: str, minor: str, currency: str = "currency", *, ordering: str | None = None) -> Any:
    """Return a column that shows an amount, given by the names of the attributes that hold its minor units and its currency."""
    minor_of, currency_of = attrgetter(minor), attrgetter(currency)

    @admin.display(description=description, ordering=ordering)
    def column(_admin: Any, row: Any) -> str:
        return money(minor_of(row), currency_of(row))

    return column


def email_or_deleted(user: User | None) -> str:
    """Return a user's email address, or that the account is deleted."""
    return "A deleted account" if user is None or user.deleted else user.email


class OneChoiceFilter(admin.SimpleListFilter):
    """Shows all rows, or those of one query."""

    choice: tuple[str, str]
    chosen_ids: Callable[[], QuerySet[Any, Any]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [self.choice]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(pk__in=self.chosen_ids()) if self.value() == self.choice[0] else queryset
