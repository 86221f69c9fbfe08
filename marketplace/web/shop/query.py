"""The query parameters of the storefront: they are its only state."""

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.urls import reverse

from catalog import bounds as catalog_bounds
from catalog.file_types import file_type_label
from catalog.filters import ListingFilter, Values, ValuesField, given_filters
from catalog.models.listings import AiOrigin, AiTraining
from catalog.selectors.browse import Sort
from catalog.selectors.cards import FilterNames
from marketplace.core import bounds

# Filters that have a control for a single value on the page.
CONTROLS = ("category", "license", "fileType", "aiTraining", "aiOrigin")
# Filters of one value that have a place of their own in the panel.
PLACED = ("minPrice", "maxPrice", "currency")
# How a value begins that is excluded, or that begins with a `!` itself.
_SIGNS = ("!", "\\!")
Choices = list[tuple[str, str]]


class ShopForm(ListingFilter.form_class()):  # type: ignore[misc]  # made of the filters
    """The filters of the API, a search, an order, a page. An invalid field shows an error and is ignored."""

    # The default ids would be those of the search box beside it.
    auto_id = "shop_%s"
    q = forms.CharField(required=False, max_length=catalog_bounds.SEARCH_QUERY_CHARS, label="Search")
    sort = forms.ChoiceField(required=False, choices=Sort.choices, label="Order")
    page = forms.IntegerField(required=False, min_value=1, max_value=bounds.MAX_PAGE)

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data, auto_id=self.auto_id)
        self.full_clean()

    @property
    def query(self) -> str:
        """The search text."""
        text: str = self.cleaned_data.get("q", "")
        return text.strip()

    @property
    def order(self) -> Sort:
        """The order, by its name in the API."""
        return Sort(self.cleaned_data.get("sort") or Sort.POPULAR)

    @property
    def page_number(self) -> int:
        return self.cleaned_data.get("page") or 1

    @property
    def given(self) -> dict[str, Any]:
        return given_filters(self.cleaned_data)

    @property
    def chosen(self) -> dict[str, str]:
        """The value of each filter that has only one."""
        return {name: value.single for name, value in self.given.items() if isinstance(value, Values) and value.single}

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The filters that no control of the page shows, by name and value."""
        chosen = self.chosen
        return [(name, value) for name, values in self._filter_values() for value in values if name not in CONTROLS or name not in chosen]

    @property
    def unplaced(self) -> list[forms.BoundField]:
        """The fields of the other filters of one value, such as one that is added later; the panel shows them by itself."""
        return [self[name] for name in ListingFilter.base_filters if name not in PLACED and not isinstance(self.fields[name], ValuesField)]

    @property
    def ai_statements(self) -> list[tuple[forms.BoundField, Choices, str | None]]:
        """The filters by a vendor's statements about AI: the field, its choices and the chosen one."""
        choices = {"aiTraining": AiTraining.choices, "aiOrigin": AiOrigin.choices}
        return [(self[name], each, self.chosen.get(name)) for name, each in choices.items()]

    def address(self, **changes: object) -> str:
        """Return the address of this state with some parameters changed; None removes one, and the page starts over."""
        return _address(urlencode([pair]) for pair in self._parameters(**changes))

    def chips(self, names: FilterNames) -> list[tuple[str, str]]:
        """Return the label of each filter with the address that removes it."""
        labels: dict[str, Callable[[str], str | None]] = {
            "category": names.categories.get,
            "license": names.licenses.get,
            "fileType": lambda value: None if value.startswith(_SIGNS) else file_type_label(value),
            **{field.name: _statement_chips(field, choices).get for field, choices, _ in self.ai_statements},
        }
        # Encoded once: the address for each value contains all the others.
        encoded = {(name, value): urlencode([(name, value)]) for name, value in self._parameters()}
        chips = [
            (
                labels.get(name, _in_words)(value) or _in_words(value),
                _address(text for pair, text in encoded.items() if pair != (name, value)),
            )
            for name, values in self._filter_values()
            for value in values
        ]
        single = {name: value for name, value in self.given.items() if name != "currency" and not isinstance(value, Values)}
        return chips + [
            (f"{'up to' if name == 'maxPrice' else self[name].label.lower()} {value}", self.address(**{name: None}))
            for name, value in single.items()
        ]

    def _parameters(self, **changes: object) -> list[tuple[str, object]]:
        """Return the parameters of this state, with some of it changed, each value by itself."""
        state: dict[str, object] = {name: self.cleaned_data.get(name) for name in self.fields} | {"page": None}
        state |= {**dict(self._filter_values()), **changes}
        parameters = [(name, each) for name, value in state.items() for each in (value if isinstance(value, list) else [value])]
        return [(name, value) for name, value in parameters if value not in (None, "") and (name, value) != ("sort", Sort.POPULAR)]

    def _filter_values(self) -> list[tuple[str, list[str]]]:
        """Return the values of filters as an address has them."""
        return [(name, value.as_sent) for name, value in self.given.items() if isinstance(value, Values)]


def _in_words(value: str) -> str:
    """Return a value of a filter without the signs of the query string."""
    return value.replace("!", "not ", 1) if value.startswith("!") else value.removeprefix("\\") if value.startswith(_SIGNS) else value


def _statement_chips(field: forms.BoundField, choices: Choices) -> dict[str, str]:
    """Return the labels of the values of a filter, also where they are excluded."""
    signs = (("", ""), ("!", "not "))
    return {f"{sign}{value}": f"{field.label}: {said}{label.lower()}" for value, label in choices for sign, said in signs}


def _address(parameters: Iterable[str]) -> str:
    query = "&".join(parameters)
    return reverse("browse") + (f"?{query}" if query else "")
