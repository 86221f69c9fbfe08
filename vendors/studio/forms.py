"""Forms of the store, of a new listing, and of the filter of listings. They check the shape of the input; services check the rules."""

from typing import Any

from django import forms

from catalog import bounds as catalog_bounds
from catalog.api.fields import DISCOUNT_CODE_ERROR, DISCOUNT_CODE_PATTERN
from catalog.models.listings import ListingStatus
from marketplace.accounts.password_confirmation import PasswordForm
from marketplace.core import bounds
from marketplace.core.money import Currency

from ..api.fields import HttpsUrl
from ..bank_accounts import HOLDER_CHARS, NUMBER_CHARS
from ..models import VendorProfile
from ..services.editing import value_hash
from ..slugs import slug_from
from .fields import PRICE, CategoryField, HundredthsField, LineField, SeenForm, SlugField, TextField, validated

MAX_LINKS = 10
_DATETIME_INPUT = forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")


class FilterForm(forms.Form):
    """Filters the list of the vendor's listings."""

    q = forms.CharField(label="Search", max_length=catalog_bounds.SEARCH_QUERY_CHARS, required=False)
    status = forms.ChoiceField(label="Status", choices=[("", "All"), *ListingStatus.choices], required=False)
    after = forms.UUIDField(required=False)


class StoreForm(forms.Form):
    """Name and description of the store."""

    store_name = LineField(label="Store name", max_length=bounds.NAME_CHARS, help_text="Buyers see it on each of your listings.")
    bio = TextField(label="About the store", required=False, help_text="Two or three sentences: who you are and what you make.")


class StoreSettingsForm(SeenForm, StoreForm):
    """Changes name and description of a store."""

    def __init__(self, data: Any = None, *, profile: VendorProfile) -> None:
        shown = {"store_name": profile.store.name, "bio": profile.bio}
        super().__init__(data, initial=shown | {"seen": value_hash([*shown.values()])})

    def show_conflict(self, current: VendorProfile) -> None:
        """Add an error with the current value to each field that differs from what was typed, and mark these values as seen."""
        for name, value in (("store_name", current.store.name), ("bio", current.bio)):
            if value != self.cleaned_data[name]:
                self.add_conflict(name, value or "nothing")
        self.mark_seen(value_hash([current.store.name, current.bio]))


class DiscountForm(forms.Form):
    """A discount to give a listing."""

    percent = forms.IntegerField(label="Percent", min_value=1, max_value=catalog_bounds.MAX_DISCOUNT_PERCENT)
    ends_at = forms.DateTimeField(
        label="Ends (UTC)", help_text=f"At most {catalog_bounds.MAX_DISCOUNT_DAYS} days after it begins.", widget=_DATETIME_INPUT
    )
    starts_at = forms.DateTimeField(label="Begins (UTC)", required=False, help_text="Leave it empty to begin now.", widget=_DATETIME_INPUT)
    code = forms.RegexField(
        DISCOUNT_CODE_PATTERN,
        label="Code",
        required=False,
        max_length=catalog_bounds.DISCOUNT_CODE_CHARS,
        help_text="Leave it empty for a discount that everybody gets.",
        error_messages={"invalid": DISCOUNT_CODE_ERROR},
        widget=forms.TextInput(attrs={"autocapitalize": "characters", "autocomplete": "off", "spellcheck": "false"}),
    )


class StoreApplicationForm(StoreForm):
    """The application for a store."""

    store_slug = SlugField(
        label="Store address",
        required=False,
        help_text="Lower-case letters, digits and hyphens. Leave it empty to derive it from the name. It can't be changed later.",
    )
    links = forms.CharField(
        label="Where your work can be seen",
        required=False,
        max_length=MAX_LINKS * (bounds.URL_CHARS + 2),
        help_text=f"Your site, portfolio or profiles: one https address per line, at most {MAX_LINKS}. Reviewers look at them.",
        widget=forms.Textarea(attrs={"rows": 3, "autocapitalize": "none", "spellcheck": "false"}),
    )
    field_order = ("store_name", "store_slug", "bio", "links")

    def clean_links(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["links"].splitlines() if line.strip()]
        if len(lines) > MAX_LINKS:
            raise forms.ValidationError(f"At most {MAX_LINKS} addresses.")
        return [validated(HttpsUrl(), line) for line in lines]

    def clean(self) -> dict[str, Any]:
        return _with_slug(self, "store_slug", "store_name")


class NewListingForm(forms.Form):
    """The required fields of a new draft."""

    title = LineField(label="Title", max_length=catalog_bounds.TITLE_CHARS)
    slug = SlugField(
        label="Address",
        required=False,
        help_text="Lower-case letters, digits and hyphens. Leave it empty to derive it from the title. You can change it until you submit the listing.",
    )
    category = CategoryField(label="Category")
    short_description = LineField(
        label="Summary",
        max_length=catalog_bounds.SHORT_DESCRIPTION_CHARS,
        help_text="One sentence, shown on the card and in search results.",
    )
    base_price_minor = HundredthsField(label="Price in US dollars", help_text="What a buyer pays, tax included. 0 is free.", **PRICE)

    def clean(self) -> dict[str, Any]:
        return _with_slug(self, "slug", "title")


class PayoutDetailsForm(PasswordForm):
    """Asks for the bank account for payouts in a currency, and for the password.

    Args:
        currency: INR or USD.
    """

    needed_for = "changing where your earnings go"
    password_help = "Required again because your earnings are paid to this account."

    holder = LineField(label="Account holder", max_length=HOLDER_CHARS, help_text="As the bank knows it.")
    number = LineField(
        label="IBAN or account number",
        max_length=NUMBER_CHARS,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    bank = LineField(
        label="BIC or routing number",
        max_length=NUMBER_CHARS,
        help_text="The BIC (SWIFT code) has 8 or 11 characters. For an account in the United States: the routing number (ABA) of 9 digits.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    field_order = ("holder", "number", "bank", "password")

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if currency == Currency.INR:
            self.fields["number"].label = "Account number"
            self.fields["bank"].label, self.fields["bank"].help_text = "IFSC", "The code of the branch: 11 characters."


def _with_slug(form: forms.Form, slug: str, source: str) -> dict[str, Any]:
    """Return the cleaned data, with a slug derived from the field `source` where none was given."""
    data: dict[str, Any] = form.cleaned_data
    if not data.get(slug) and slug not in form.errors and source in data:
        if suggestion := slug_from(data[source]):
            try:
                data[slug] = form.fields[slug].clean(suggestion)
            except forms.ValidationError as error:
                form.add_error(slug, error)
        else:
            form.add_error(slug, "Enter an address: none can be derived from this name.")
    return data
