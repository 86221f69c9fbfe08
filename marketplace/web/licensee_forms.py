"""The form of a purchase for someone else."""

from typing import Any

from django import forms

from catalog import bounds as catalog_bounds
from catalog.api.fields import DISCOUNT_CODE_ERROR, DISCOUNT_CODE_PATTERN
from marketplace.api.fields import EMAIL_ADDRESS
from marketplace.core import bounds
from marketplace.ui.formatting import money

from .shop.currency import amount_in
from .shop.offer import AssetOffer, OfferedTier


class LicenseeForm(forms.Form):
    """Asks whom a licence is for, and which one."""

    license = forms.ChoiceField(label="Licence", widget=forms.RadioSelect)
    currency = forms.ChoiceField(label="Pay in")
    name = forms.CharField(
        label="Name of the person or organisation", max_length=bounds.NAME_CHARS, help_text="The licence certificate names it."
    )
    email = forms.RegexField(
        EMAIL_ADDRESS,
        label="Their email address",
        max_length=bounds.EMAIL_CHARS,
        widget=forms.EmailInput,
        error_messages={"invalid": "Enter an email address such as name@example.com, in ASCII."},
        help_text="We send the link to this address.",
    )
    discount_code = forms.RegexField(
        DISCOUNT_CODE_PATTERN,
        label="Discount code",
        required=False,
        max_length=catalog_bounds.DISCOUNT_CODE_CHARS,
        error_messages={"invalid": DISCOUNT_CODE_ERROR},
    )

    def __init__(self, *args: Any, offer: AssetOffer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["license"].choices = [(each.tier.slug, f"{each.tier.name}, {_price_of(each, offer)}") for each in offer.tiers]  # type: ignore[attr-defined]  # it is a choice field
        self.fields["license"].initial = offer.preselected
        self.fields["currency"].choices = [(code, code) for code in offer.currencies]  # type: ignore[attr-defined]  # it is a choice field


def _price_of(offered: OfferedTier, offer: AssetOffer) -> str:
    """Return the price in each currency that it can be paid in."""
    if not offered.prices.usd:
        return "free"
    return " or ".join(money(*amount_in(offered.prices, code)) for code in offer.currencies)
