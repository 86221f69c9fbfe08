"""The page of the admin on which a payout batch is prepared, by the rules of `manage.py payout prepare`."""

from decimal import Decimal

from django import forms
from django.conf import settings

from marketplace.core.money import to_minor

from .. import bounds
from ..models.quotes import CURRENCIES
from ..services.vendor_payouts import MAXIMUM_RATE


class PrepareForm(forms.Form):
    """The terms of a run."""

    run = forms.CharField(max_length=bounds.PAYOUT_RUN_CHARS, help_text="A name, such as 2026-11. The same name again continues the run.")
    currency = forms.ChoiceField(choices=[(code, code) for code in CURRENCIES], help_text="The currency of the earnings.")
    minimum = forms.DecimalField(
        min_value=Decimal("0.01"), max_value=bounds.CREDIT_MINOR // 100, max_digits=14, decimal_places=2, help_text="Smaller balances wait."
    )
    rate = forms.DecimalField(
        label="Euro rate",
        required=False,
        min_value=Decimal("0.000001"),
        max_value=MAXIMUM_RATE,
        max_digits=12,
        decimal_places=6,
        help_text="Pay in EUR by SEPA, at so many EUR for one unit of the currency. Empty: pay in the currency of the earnings.",
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # Django's own arguments
        self.fields["minimum"].initial = settings.PAYOUT_MINIMUM

    @property
    def minimum_minor(self) -> int:
        """The smallest amount that is paid."""
        return to_minor(self.cleaned_data["minimum"])
