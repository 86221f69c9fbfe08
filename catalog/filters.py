r"""The filters of the catalog, declared once for the API, the storefront's form and the tools' arguments.

A value that begins with `!` excludes, `\!` at its beginning is a literal `!`; a repeated parameter means any of its values.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

import django_filters
from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import DecimalValidator
from django.db.models import Q, QuerySet

from marketplace.accounts.models import Tier
from marketplace.core import bounds as core_bounds
from marketplace.core import money
from marketplace.core.money import Currency
from marketplace.core.texts import WHITE_SPACE

from . import bounds
from .labels import normalised
from .models import LabelKind, ListingIndex, ListingLabel, ListingPrice
from .models.listing_index import NO_PRICE
from .models.listings import AiOrigin, AiTraining

IndexRows = QuerySet[ListingIndex, Any]
# The column for each currency; listings without a price in the currency are above `NO_PRICE`.
PRICE_COLUMNS = {Currency.USD: "price_usd", Currency.INR: "inr_ascending", Currency.EUR: "eur_ascending"}
MAX_VALUES = 20
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?")
# A value that is not blank after the `!` and contains no NUL, in a syntax that Python and ECMA-262 share.
NOT_BLANK = rf"^(?:!|(?!!))[^\u0000]*[^{WHITE_SPACE}\u0000][^\u0000]*$"


class Values(NamedTuple):
    """The values of a filter: listings must have one of `wanted`, if there are any, and none of `excluded`."""

    wanted: tuple[str, ...]
    excluded: tuple[str, ...] = ()

    @property
    def single(self) -> str | None:
        """The wanted value, if it is the only value."""
        return self.wanted[0] if len(self.wanted) == 1 and not self.excluded else None

    @property
    def as_sent(self) -> list[str]:
        """The values in the syntax of the query string."""
        return [
            *(f"\\{value}" if value.startswith(("!", "\\!")) else value for value in self.wanted),
            *(f"!{value}" for value in self.excluded),
        ]


class ValuesInput(forms.TextInput):
    """Widget that reads all values of a repeated parameter."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        sent = data.getlist(name) if hasattr(data, "getlist") else data.get(name, ())
        return [sent] if isinstance(sent, str) else list(sent)


class ValuesField(forms.Field):
    """The values of a filter: each has a maximum length, and is one of `allowed` if there are any."""

    widget = ValuesInput

    def __init__(self, *, max_length: int, allowed: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.max_length, self.allowed = max_length, allowed
        self._text = forms.CharField(required=False)

    def to_python(self, value: Any) -> Values | None:
        """Return the values; empty ones are ignored."""
        sent = [text for text in value if text != ""]
        if len(sent) > MAX_VALUES:
            raise ValidationError(f"At most {MAX_VALUES} values.", code="max_length")
        if any(len(text) > self.max_length for text in sent):
            raise ValidationError(f"At most {self.max_length} characters.", code="max_length")
        wanted = tuple(self._clean(text.removeprefix("\\") if text.startswith("\\!") else text) for text in sent if text[0] != "!")
        excluded = tuple(self._clean(text[1:]) for text in sent if text[0] == "!")
        return Values(wanted, excluded) if sent else None

    def _clean(self, text: str) -> str:
        cleaned: str = self._text.clean(text)
        if not cleaned:
            raise ValidationError("It may not be blank.", code="blank")
        if self.allowed and cleaned not in self.allowed:
            params = {"value": cleaned[:40], "allowed": ", ".join(self.allowed)}
            raise ValidationError("There is no %(value)r. Use one of: %(allowed)s.", code="invalid_choice", params=params)
        return cleaned


class ValuesFilter(django_filters.Filter):  # type: ignore[misc]  # django-filter ships no types
    """Filters listings by a column of the index.

    Args:
        condition: Returns the condition for having one of these values; by default a lookup on the column.
    """

    field_class = ValuesField

    def __init__(self, *args: Any, condition: Callable[[Sequence[str]], Q] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.condition = condition or (lambda values: Q(**{f"{self.field_name}__in": values}))

    def filter(self, queryset: IndexRows, values: Values | None) -> IndexRows:
        """Return the listings with one of the wanted values and none of the excluded ones."""
        if values is None:
            return queryset
        if values.wanted:
            queryset = queryset.filter(self.condition(values.wanted))
        return queryset.filter(~self.condition(values.excluded)) if values.excluded else queryset


class PriceField(forms.DecimalField):
    """A price with at most two decimals."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=Decimal(core_bounds.MAX_PRICE_MINOR) / 100, **kwargs)

    def to_python(self, value: Any) -> Any:
        """Return the price; raise the first error only."""
        if isinstance(value, str) and value and not NUMBER.fullmatch(value):
            raise ValidationError(self.error_messages["invalid"], code="invalid")
        price: Decimal | None = super().to_python(value)
        if price is not None:
            DecimalValidator(max_digits=8, decimal_places=2)(price)
        return price


class PriceFilter(django_filters.Filter):  # type: ignore[misc]  # django-filter ships no types
    """A bound of the price; `ListingFilter.matching` applies both together."""

    field_class = PriceField


def clean_prices(form: forms.Form) -> dict[str, Any]:
    """Refuse a minimum above the maximum (`Form.clean`)."""
    cleaned = form.cleaned_data
    low, high = cleaned.get("minPrice"), cleaned.get("maxPrice")
    if low is not None and high is not None and low > high:
        form.add_error("maxPrice", ValidationError("It is below minPrice.", code="below_minimum"))
    return cleaned


def has_label(kind: LabelKind) -> Callable[[Sequence[str]], Q]:
    """Return the condition for labels of a kind, as a subquery: with a join, SQLite would look up each listing for each value."""
    return lambda values: Q(pk__in=ListingLabel.objects.filter(kind=kind, value__in=list(map(normalised, values))).values("listing"))


def is_licensed(slugs: Sequence[str], **price_lookups: int) -> Q:
    """Return the condition for being sold under one of these licence tiers, at a price that matches the lookups."""
    return Q(pk__in=ListingPrice.objects.filter(license__in=slugs, **price_lookups).values("listing"))


class ListingFilter(django_filters.FilterSet):  # type: ignore[misc]  # django-filter ships no types
    """The filters of listings. An unknown category, store, licence, tag, platform or file type matches nothing."""

    category = ValuesFilter(
        field_name="category_slug", max_length=core_bounds.SLUG_CHARS, help_text="A category's slug; an unknown one returns nothing."
    )
    tier = ValuesFilter(field_name="tier", max_length=8, allowed=Tier.values, help_text="The account tier that a buyer needs.")
    vendor = ValuesFilter(field_name="store_slug", max_length=core_bounds.SLUG_CHARS, help_text="A store's slug.")
    license = ValuesFilter(
        condition=is_licensed, max_length=40, help_text="The slug of a licence tier that it is sold under.", label="Licence"
    )
    tag = ValuesFilter(condition=has_label(LabelKind.TAG), max_length=bounds.TAG_CHARS, help_text="One of its tags, in any case.")
    platform = ValuesFilter(
        condition=has_label(LabelKind.PLATFORM),
        max_length=bounds.PLATFORMS_CHARS,
        help_text="A host tool that it supports, in any case, without a version.",
    )
    fileType = ValuesFilter(  # noqa: N815 - the parameter's name
        condition=lambda values: Q(file_type__in=[normalised(value) for value in values]),
        max_length=bounds.FILE_TYPE_CHARS,
        help_text="Its file type, in any case; of an archive, the type of what it holds, such as `ttf` or `lottie`.",
        label="File type",
    )
    aiTraining = ValuesFilter(  # noqa: N815 - the parameter's name
        field_name="ai_training",
        max_length=20,
        allowed=AiTraining.values,
        help_text="Whether it may be used to train AI models.",
        label="AI training",
    )
    aiOrigin = ValuesFilter(  # noqa: N815 - the parameter's name
        field_name="ai_origin",
        max_length=20,
        allowed=AiOrigin.values,
        help_text="Whether its vendor declares that parts were made with AI; `undeclared` is not `none`.",
        label="Made with AI",
    )
    minPrice = PriceFilter(label="From", help_text="The lowest price, under the licence asked for, else of the first one on sale.")  # noqa: N815 - the parameter's name
    maxPrice = PriceFilter(label="To", help_text="The highest price, under the same licence.")  # noqa: N815 - the parameter's name
    currency = django_filters.ChoiceFilter(
        choices=[(currency.value, currency.value) for currency in Currency],
        initial=Currency.INR.value,
        label="Prices in",
        help_text="The currency of minPrice, maxPrice and orders by price. A price range excludes assets without a price in that currency.",
    )

    @classmethod
    @cache
    def form_class(cls) -> type[forms.Form]:
        """Return the form of the filters; cached, because building the class takes longer than using it."""
        fields = {name: declared.field for name, declared in cls.base_filters.items()}
        form: type[forms.Form] = type("ListingFilterForm", (forms.Form,), fields | {"clean": clean_prices})
        return form

    @classmethod
    def json_schema(cls) -> dict[str, dict[str, Any]]:
        """Return the JSON Schema of each parameter."""
        return {name: field_schema(field) for name, field in cls.form_class().base_fields.items()}

    @classmethod
    def matching(cls, listings: IndexRows, given: Mapping[str, Any]) -> IndexRows:
        """Return the listings that match all `given_filters`; with several licences, any of their prices may be within the bounds."""
        for name, value in given.items():
            # The wanted licences are applied together with the prices.
            if name not in {"minPrice", "maxPrice", "currency"}:
                listings = cls.base_filters[name].filter(listings, value._replace(wanted=()) if name == "license" else value)
        column = PRICE_COLUMNS[currency_of(given)]
        price_lookups = {}
        if "minPrice" in given:
            price_lookups[f"{column}__gte"] = money.to_minor(given["minPrice"])
        if price_lookups or "maxPrice" in given:
            price_lookups[f"{column}__lte"] = money.to_minor(given["maxPrice"]) if "maxPrice" in given else NO_PRICE - 1
        licenses = given["license"].wanted if "license" in given else ()
        if not price_lookups and not licenses:
            return listings
        return listings.filter(is_licensed(licenses, **price_lookups) if licenses else Q(**price_lookups))


def field_schema(field: forms.Field) -> dict[str, Any]:
    """Return the JSON Schema of a filter's field."""
    shape: dict[str, Any] = {"type": "string", "description": str(field.help_text)}
    match field:
        case ValuesField():
            shape |= (
                {"pattern": f"^!?({'|'.join(field.allowed)})$"} if field.allowed else {"maxLength": field.max_length, "pattern": NOT_BLANK}
            )
            value = {keyword: constraint for keyword, constraint in shape.items() if keyword != "description"}
            shape |= {"type": ["string", "array"], "items": value, "maxItems": MAX_VALUES}
            shape["description"] += r" `!` before a value excludes it (`\!` begins one with a literal `!`); of several values, any will do."
        case forms.DecimalField():
            shape |= {"type": "number", "minimum": 0, "maximum": core_bounds.MAX_PRICE_MINOR / 100}
            shape["description"] += " At most two decimals."
        case forms.ChoiceField():
            choices: Any = field.choices
            shape |= {"enum": [value for value, _ in choices if value], "default": field.initial}
    return shape


def given_filters(cleaned: Mapping[str, Any]) -> dict[str, Any]:
    """Return the non-empty filters among validated values."""
    return {name: cleaned[name] for name in ListingFilter.base_filters if cleaned.get(name) not in (None, "")}


def currency_of(given: Mapping[str, Any]) -> Currency:
    """Return the currency of the price filters."""
    return Currency(given.get("currency", Currency.INR))


def license_of(given: Mapping[str, Any]) -> str | None:
    """Return the licence by whose price listings are sorted: the only wanted one, whatever is excluded, else None."""
    wanted = set(given["license"].wanted) if "license" in given else set()
    return wanted.pop() if len(wanted) == 1 else None
