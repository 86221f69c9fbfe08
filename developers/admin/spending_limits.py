"""Forms and panel of the spending limits that staff set for apps."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django import forms

from marketplace.core.money import WALLET_CURRENCIES, Currency, to_minor
from marketplace.review.decisions import ReasonForm
from marketplace.review.panels import Panel

from ..dashboard.limit_forms import amount_field
from ..models import App, SpendingLimit
from ..models.spending import AMOUNTS
from ..selectors import app_limits_of
from ..services.spending import LimitValues

_CURRENCIES = [(currency.value, currency.value) for currency in WALLET_CURRENCIES]


class AppLimitForm(ReasonForm):
    """Asks for the limits in one currency, and the reason."""

    currency = forms.ChoiceField(choices=_CURRENCIES)
    per_purchase = amount_field("One purchase")
    per_day = amount_field("A day (UTC)")
    total = amount_field("In all")
    field_order = ("currency", "per_purchase", "per_day", "total", "reason")


class RemoveLimitForm(ReasonForm):
    """Asks which limit to remove, and why."""

    currency = forms.ChoiceField()
    field_order = ("currency", "reason")

    def __init__(self, *args: Any, subject: App, **kwargs: Any) -> None:
        super().__init__(*args, subject=subject, **kwargs)
        present = [(limit.currency, limit.currency) for limit in app_limits_of(subject)]
        self.fields["currency"].choices = present  # type: ignore[attr-defined]  # it is a choice field


def limit_values_of(cleaned_data: Mapping[str, Any]) -> LimitValues:
    """Return the limits entered in an `AppLimitForm`, in minor units."""
    typed = {amount: cleaned_data[amount.removesuffix("_minor")] for amount in AMOUNTS}
    amounts = {amount: to_minor(value) for amount, value in typed.items() if value is not None}
    return LimitValues(Currency(cleaned_data["currency"]), **amounts, categories=())


def app_limits_panel(app_limits: Iterable[SpendingLimit]) -> Panel:
    """Return the table of an app's limits."""
    rows = [(limit.currency, *(_format_amount(getattr(limit, amount)) for amount in AMOUNTS), limit.updated_at) for limit in app_limits]
    return Panel("Spending limits of the app, per wallet", ("Currency", "One purchase", "A day", "In all", "Set"), rows)


def _format_amount(minor: int | None) -> str:
    return "" if minor is None else f"{Decimal(minor).scaleb(-2):,}"
