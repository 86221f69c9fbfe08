"""The form of billing details."""

from django import forms

from wallet.address_form import AddressForm
from wallet.places import INDIA, INDIAN_STATES


class BillingForm(AddressForm):
    """Asks for the details on invoices, with a choice of the states of India."""

    state = forms.ChoiceField(
        label="State, in India",
        required=False,
        choices=[("", "Not in India"), *sorted(INDIAN_STATES.items(), key=lambda state: state[1])],
        help_text="It decides whether the tax is IGST, or CGST and SGST.",
    )
    field_order = ("name", "street", "postal_code", "city", "country", "state", "region", "tax_id")

    def details(self) -> dict[str, str]:
        """Return the fields as the service takes them."""
        values = dict(self.cleaned_data)
        state = values.pop("state")
        return values | {"region": state or values["region"]} if values["country"] == INDIA else values
