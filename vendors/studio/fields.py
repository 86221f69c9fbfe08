"""Form fields of the studio. They validate with the API's serializer fields, so that each rule is defined once."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.utils.text import Truncator
from rest_framework import serializers

from catalog import bounds as catalog_bounds
from catalog.models import Category, Listing, Store
from catalog.selectors.taxonomy import category_names
from marketplace.api.fields import Line, LongText
from marketplace.core import bounds
from marketplace.ui.forms import Prose

from ..api.fields import CategorySlug, HttpsUrl, Slug, Tags
from ..slugs import slug_from

ApiField = serializers.Field[Any, Any, Any, Any]
# Arguments of `HundredthsField`.
PRICE = {"maximum": bounds.MAX_PRICE_MINOR}
PERCENT = {"maximum": bounds.WHOLE_BP, "empty_value": 0}


def validated(field: ApiField, value: Any) -> Any:
    """Return the value as validated by the API's field.

    Raises:
        forms.ValidationError: it refuses it.
    """
    try:
        return field.run_validation(value)
    except serializers.ValidationError as error:
        raise forms.ValidationError(_sentences(error.detail)) from error


def _sentences(detail: Any) -> list[str]:
    """Return the distinct messages of an error detail, which may be nested."""
    if not isinstance(detail, dict | list):
        return [str(detail)]
    parts = detail.values() if isinstance(detail, dict) else detail
    return list(dict.fromkeys(sentence for part in parts for sentence in _sentences(part)))


class SeenForm(forms.Form):
    """Has hashes of the values that its page showed in the hidden field `seen`, to detect changes made elsewhere in the meantime."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=2000)

    def add_conflict(self, name: str, current: str) -> None:
        """Add an error with the current value to a field that was changed elsewhere."""
        text = Truncator(current).chars(60)
        message = f"It was changed to “{text}” in the meantime, in another window or by a program. Save again to replace it with yours."
        self.add_error(name, message)

    def mark_seen(self, seen: str) -> None:
        """Say that these values have been seen, so that the form replaces them when it is sent again."""
        sent: Any = self.data
        changed = sent.copy()
        changed["seen"] = seen
        self.data = changed


class ApiValidatedField(forms.CharField):
    """Text that is validated by a field of the API."""

    def __init__(self, field: ApiField, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._field = field

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return validated(self._field, text) if text else text


class LineField(ApiValidatedField):
    """One line of text."""

    def __init__(self, *, max_length: int, **kwargs: Any) -> None:
        super().__init__(Line(max_length=max_length), max_length=max_length, **kwargs)


class TextField(ApiValidatedField, Prose):
    """Text of several lines, often Markdown."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(LongText(), strip=False, max_length=None, **kwargs)


class SlugField(ApiValidatedField):
    """A new slug."""

    def __init__(self, **kwargs: Any) -> None:
        attributes = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}
        super().__init__(Slug(), max_length=bounds.SLUG_CHARS, widget=forms.TextInput(attrs=attributes), **kwargs)


class HttpsField(ApiValidatedField):
    """An https address."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.URLInput(attrs={"placeholder": "https://"})
        super().__init__(HttpsUrl(), max_length=bounds.URL_CHARS, widget=widget, **kwargs)


class CategoryField(forms.ChoiceField):
    """An active category; `None` where none is chosen and the field is not required."""

    # The present category of a listing, which is offered also where it is retired.
    present: Category | None = None

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=lambda: [("", "Choose a category"), *category_names()], **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return value.slug if isinstance(value, Category) else value

    def clean(self, value: Any) -> Any:
        return validated(CategorySlug(present=self.present), super().clean(value))

    def offer(self, category: Category) -> None:
        """Offer the present category of a listing."""
        self.present = category
        self.choices = list(dict.fromkeys([("", "Choose a category"), *category_names(), (category.slug, category.name)]))


class HundredthsField(forms.DecimalField):
    """A price or a percentage, typed with up to two decimals. Its value, its `maximum` and its `empty_value` are integers of hundredths."""

    default_error_messages: ClassVar[dict[str, Any]] = {
        "invalid": "A number is required.",
        "min_value": "It cannot be negative.",
        "max_value": "At most %(limit_value)s.",
        "max_decimal_places": "At most two decimals.",
    }

    def __init__(self, *, maximum: int, empty_value: int | None = None, **kwargs: Any) -> None:
        self._empty_value = empty_value
        widget = forms.NumberInput(attrs={"inputmode": "decimal"})
        super().__init__(min_value=Decimal(0), max_value=Decimal(maximum) / 100, decimal_places=2, widget=widget, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Return hundredths as a decimal, whole numbers without decimals."""
        if not isinstance(value, int):
            return value
        return str(value // 100) if value % 100 == 0 else f"{value // 100}.{value % 100:02}"

    def clean(self, value: Any) -> Any:
        amount = super().clean(value)
        return self._empty_value if amount is None else int(amount * 100)


class TagsField(forms.CharField):
    """Tags, separated by commas or lines."""

    # Existing tags, which are not split: tags that were set by the API may contain commas.
    known: frozenset[str] = frozenset()

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 4, "autocapitalize": "none"})
        super().__init__(max_length=catalog_bounds.MAX_TAGS * (catalog_bounds.TAG_CHARS + 2), required=False, widget=widget, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        lines = [line.strip() for line in super().clean(value).splitlines()]
        tags = [tag for line in lines for tag in ([line] if line in self.known else line.split(","))]
        return validated(Tags(), [tag.strip() for tag in tags if tag.strip()])


@dataclass(frozen=True)
class SlugCheck:
    """The result of checking a slug: the path of its page, or why it cannot be used; both empty where nothing was typed yet."""

    path: str = ""
    refusal: str = ""


def check_slug(slug: str, title: str, *, prefix: str, model: type[Listing | Store]) -> SlugCheck:
    """Check the typed slug, or the one derived from the title, for a new row; return the path of its page below `prefix`."""
    # `SlugField` limits the length.
    wanted = slug.strip() or slug_from(title)
    if not wanted:
        return SlugCheck()
    try:
        wanted = SlugField().clean(wanted)
    except forms.ValidationError as error:
        return SlugCheck(refusal=" ".join(error.messages))
    return SlugCheck(refusal="It is taken.") if model.objects.filter(slug=wanted).exists() else SlugCheck(prefix + wanted)
