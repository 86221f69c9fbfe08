"""Forms for spending limits. Amounts are typed in units of the currency, with at most two decimals."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django import forms

from marketplace.accounts.password_confirmation import PasswordForm
from marketplace.core.money import WALLET_CURRENCIES, Currency, to_minor

from .. import bounds
from ..categories import category_names
from ..models import SpendingLimit
from ..models.spending import AMOUNTS
from ..services.spending import LimitValues

# Initial values where no limit is set: enough to try things out, too little to do harm.
SUGGESTED = (
    LimitValues(Currency.USD, per_purchase_minor=25_00, per_day_minor=50_00, total_minor=250_00),
    LimitValues(Currency.INR, per_purchase_minor=2_000_00, per_day_minor=4_000_00, total_minor=20_000_00),
)
AMOUNT_LABELS = {"per_purchase_minor": "One purchase", "per_day_minor": "A day", "total_minor": "In all"}
_CURRENCY_LABELS = {Currency.USD: "US dollars", Currency.INR: "Rupees"}
_CATEGORIES = "limit_categories"


class LimitsForm(forms.Form):
    """Asks how much may be spent in each currency of a wallet; `limits` are initial values."""

    def __init__(self, *args: Any, limits: Iterable[LimitValues | SpendingLimit] = SUGGESTED, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = {limit.currency: limit for limit in limits}
        for currency in WALLET_CURRENCIES:
            for amount in AMOUNTS:
                self.fields[_field_name(currency, amount)] = amount_field(AMOUNT_LABELS[amount], getattr(known.get(currency), amount, None))
        chosen = sorted({slug for limit in known.values() for slug in limit.categories})
        self.fields[_CATEGORIES] = _categories_field(chosen)

    @property
    def limit_groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The name of each currency and its fields."""
        return [(_CURRENCY_LABELS[currency], [self[_field_name(currency, amount)] for amount in AMOUNTS]) for currency in WALLET_CURRENCIES]

    def limits(self) -> list[LimitValues]:
        """Return the limits of the currencies for which an amount was typed."""
        found = []
        for currency in WALLET_CURRENCIES:
            typed = {amount: self.cleaned_data.get(_field_name(currency, amount)) for amount in AMOUNTS}
            amounts = {amount: to_minor(value) for amount, value in typed.items() if value is not None}
            if amounts:
                found.append(LimitValues(currency, **amounts, categories=self.cleaned_data.get(_CATEGORIES, [])))
        return found

    def require_limit(self) -> None:
        """Add an error where no amount was typed."""
        names = [_field_name(currency, amount) for currency in WALLET_CURRENCIES for amount in AMOUNTS]
        if not any(name in self.errors for name in names) and not self.limits():
            self.add_error(names[0], "Enter an amount in at least one currency.")


class SpendingForm(PasswordForm, LimitsForm):
    """Changes what an app or a token may spend."""

    needed_for = "a change of what a program may spend"
    password_help = "Required again because a program can spend your money."

    def __init__(self, *args: Any, required: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._required = required

    def clean(self) -> None:
        """Require a limit where one is needed."""
        if self._required:
            self.require_limit()
        super().clean()


def _field_name(currency: Currency, amount: str) -> str:
    return f"limit_{currency.lower()}_{amount.removesuffix('_minor')}"


def amount_field(label: str, minor: int | None = None) -> forms.DecimalField:
    """Return the field of one limit, with an initial value in minor units."""
    return forms.DecimalField(
        label=label,
        required=False,
        initial=None if minor is None else Decimal(minor).scaleb(-2),
        min_value=Decimal("0.01"),
        max_value=Decimal(bounds.MAX_SPENDING_LIMIT_MINOR) / 100,
        decimal_places=2,
        widget=forms.NumberInput(attrs={"inputmode": "decimal"}),
    )


def _categories_field(chosen: list[str]) -> forms.MultipleChoiceField:
    names = category_names()
    # A chosen category stays even if it is no longer active: a limit to it alone would otherwise allow every category.
    gone = [(slug, slug) for slug in chosen if slug not in dict(names)]
    return forms.MultipleChoiceField(
        label="Only from these categories",
        help_text="If you choose none, all are allowed.",
        choices=[*names, *gone],
        initial=chosen,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
