"""The form of a billing address, on our page and in the admin."""

from django import forms

from marketplace.core import bounds as core_bounds

from . import bounds
from .places import country_choices


class AddressForm(forms.Form):
    """Asks for a name, address and tax id; the service checks them."""

    name = forms.CharField(label="Name or company", max_length=core_bounds.NAME_CHARS, widget=forms.TextInput({"autocomplete": "name"}))
    street = forms.CharField(
        label="Street and number", max_length=bounds.BILLING_LINE_CHARS, widget=forms.TextInput({"autocomplete": "street-address"})
    )
    postal_code = forms.CharField(
        label="Postal code", max_length=bounds.POSTAL_CODE_CHARS, required=False, widget=forms.TextInput({"autocomplete": "postal-code"})
    )
    city = forms.CharField(label="City", max_length=bounds.BILLING_LINE_CHARS, widget=forms.TextInput({"autocomplete": "address-level2"}))
    country = forms.ChoiceField(
        label="Country", choices=lambda: [("", "Choose a country"), *country_choices()], widget=forms.Select({"autocomplete": "country"})
    )
    region = forms.CharField(
        label="State or province",
        max_length=bounds.REGION_CHARS,
        required=False,
        widget=forms.TextInput({"autocomplete": "address-level1"}),
    )
    tax_id = forms.CharField(
        label="Tax ID",
        max_length=bounds.TAX_ID_CHARS,
        required=False,
        help_text="The GSTIN or VAT number of a business, with the country's letters. Leave it empty for a private person.",
        widget=forms.TextInput({"autocomplete": "off"}),
    )
