"""The address of the storefront: its parameters are all of its state."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.urls import reverse

from catalog.selectors import Names, Sort
from marketplace.accounts.models import Tier
from marketplace.core import bounds
from marketplace.core.money import Currency

SORTS = ((Sort.POPULAR, "Most popular"), (Sort.NEWEST, "Newest"), (Sort.PRICE_ASC, "Lowest price"), (Sort.PRICE_DESC, "Highest price"))
_BY_USD = {Sort.PRICE_ASC: Sort.USD_ASC, Sort.PRICE_DESC: Sort.USD_DESC}
# What narrows the catalog, in the names of the API.
NARROWING = ("category", "vendor", "license", "tag", "platform", "fileType", "tier", "minPrice", "maxPrice")


class ShopForm(forms.Form):
    """What is looked for. A field that cannot be read is told of and ignored."""

    # Its ids would be those of the search box beside it.
    auto_id = "shop_%s"
    q = forms.CharField(required=False, max_length=bounds.SEARCH_QUERY_CHARS, label="Search")
    category = forms.CharField(required=False, max_length=bounds.SLUG_CHARS)
    license = forms.CharField(required=False, max_length=40, label="Licence")
    fileType = forms.CharField(required=False, max_length=bounds.FILE_TYPE_CHARS, label="File type")  # noqa: N815 - the API's name
    minPrice = forms.DecimalField(  # noqa: N815 - as above
        required=False, min_value=0, max_value=bounds.PRICE_MINOR // 100, decimal_places=2, label="From"
    )
    maxPrice = forms.DecimalField(  # noqa: N815 - as above
        required=False, min_value=0, max_value=bounds.PRICE_MINOR // 100, decimal_places=2, label="To"
    )
    tier = forms.ChoiceField(required=False, choices=[("", "Everyone"), *Tier.choices], label="Open to")
    vendor = forms.CharField(required=False, max_length=bounds.SLUG_CHARS)
    tag = forms.CharField(required=False, max_length=bounds.TAG_CHARS)
    platform = forms.CharField(required=False, max_length=bounds.PLATFORMS_CHARS)
    sort = forms.ChoiceField(required=False, choices=[(sort.value, words) for sort, words in SORTS], label="Order")
    currency = forms.ChoiceField(required=False, choices=[(code.value, code.value) for code in Currency], label="Prices in")
    page = forms.IntegerField(required=False, min_value=1, max_value=bounds.PAGE)

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data, auto_id=self.auto_id)
        self.full_clean()

    def clean(self) -> dict[str, Any]:
        """Tell of prices that contradict each other."""
        cleaned: dict[str, Any] = super().clean() or {}
        low, high = cleaned.get("minPrice"), cleaned.get("maxPrice")
        if low is not None and high is not None and low > high:
            self.add_error("maxPrice", "It is below the lowest price.")
        return cleaned

    @property
    def query(self) -> str:
        """What was typed."""
        text: str = self.cleaned_data.get("q", "")
        return text.strip()

    @property
    def order(self) -> Sort:
        """The order, in the name of the API."""
        return Sort(self.cleaned_data.get("sort") or Sort.POPULAR)

    def order_in(self, currency: Currency) -> Sort:
        """Return the order of what is shown in a currency: prices by rupees to whom they are shown, else by dollars, which all have."""
        return self.order if currency == Currency.INR else _BY_USD.get(self.order, self.order)

    @property
    def page_number(self) -> int:
        """The page's number."""
        return self.cleaned_data.get("page") or 1

    def filters(self, currency: Currency) -> dict[str, Any]:
        """Return what narrows the catalog, as the API's filters have it."""
        found = {name: self.cleaned_data[name] for name in NARROWING if self.cleaned_data.get(name) not in (None, "")}
        return found | {"currency": currency} if found.keys() & {"minPrice", "maxPrice"} else found

    def address(self, **changes: object) -> str:
        """Return the address of this state with some of it changed; None leaves a parameter out, another page begins anew."""
        state = {name: self.cleaned_data.get(name) for name in self.fields} | {"page": None} | changes
        said = [(name, value) for name, value in state.items() if value not in (None, "") and (name, value) != ("sort", Sort.POPULAR)]
        return reverse("browse") + (f"?{urlencode(said)}" if said else "")

    def chips(self, names: Names) -> list[tuple[str, str]]:
        """Return each narrowing in words with the address that goes without it."""
        chosen = {name: self.cleaned_data[name] for name in NARROWING if self.cleaned_data.get(name) not in (None, "")}
        words: dict[str, Callable[[Any], object]] = {
            "category": names.categories.get,
            "license": names.licenses.get,
            "minPrice": lambda value: f"from {value}",
            "maxPrice": lambda value: f"up to {value}",
        }
        return [(str(words.get(name, str)(value) or value), self.address(**{name: None})) for name, value in chosen.items()]
