"""Forms and panel of the spending limits that staff set for apps."""

from collections.abc import Iterable
from typing import Any

from django import forms

from marketplace.core.money import WALLET_CURRENCIES, Currency, to_minor
from marketplace.review.decisions import ReasonForm
from marketplace.review.panels import Panel
from marketplace.ui.formatting import money

from ..dashboard.limit_forms import amount_field
from ..models import App, SpendingLimit
from ..models.spending import AMOUNTS
from ..selectors import app_limits_of
from ..services.spending import LimitValues

_CURRENCIES = [(currency.value, currency.value) for currency in WALLET_CURRENCIES]


class AppLimitForm(ReasonForm):
    """Asks for the limits in one currency, and the reason."""

    currency = forms.TypedChoiceField(coerce=Currency, choices=_CURRENCIES)
    per_purchase = amount_field("One purchase")
    per_day = amount_field("A day (UTC)")
    total = amount_field("In all")
    field_order = ("currency", "per_purchase", "per_day", "total", "reason")

    def clean(self) -> None:
        """Add the limits, in minor units, to the cleaned data."""
        super().clean()
        if not self.errors:
            typed = {amount: self.cleaned_data[amount.removesuffix("_minor")] for amount in AMOUNTS}
            amounts = {amount: to_minor(value) for amount, value in typed.items() if value is not None}
            self.cleaned_data["limit_values"] = LimitValues(self.cleaned_data["currency"], **amounts, categories=())


class RemoveLimitForm(ReasonForm):
    """Asks which limit to remove, and why."""

    currency = forms.TypedChoiceField(coerce=Currency)
    field_order = ("currency", "reason")

    def __init__(self, *args: Any, subject: App, **kwargs: Any) -> None:
        super().__init__(*args, subject=subject, **kwargs)
        present = [(limit.currency, limit.currency) for limit in app_limits_of(subject)]
        self.fields["currency"].choices = present  # type: ignore[attr-defined]  # it is a choice field


def app_limits_panel(app_limits: Iterable[SpendingLimit]) -> Panel:
    """Return the table of an app's limits."""
    rows = [
        (limit.currency, *(money(getattr(limit, amount), limit.currency) for amount in AMOUNTS), limit.updated_at) for limit in app_limits
    ]
    return Panel("Spending limits of the app, per wallet", ("Currency", "One purchase", "A day", "In all", "Set"), rows)
