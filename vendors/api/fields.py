"""Serializer fields of the vendor API: values that only vendors send, and slugs that are resolved to the rows they name."""

import math
from typing import Any

import orjson
from django.core.validators import URLValidator
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from catalog import bounds as catalog_bounds
from catalog.models import Category, LicenseTier
from marketplace.api.fields import ADDRESS_CHARACTER, COMMON_ERRORS, BoundedList, Line, LongText, Text
from marketplace.core import bounds as core_bounds
from marketplace.core.texts import SLUG, WHITE_SPACE

from ..slugs import is_allowed

_SLUG_RULE = "Not download, search or suggest, and not in the form of an id."


@extend_schema_field(
    {"type": "string", "pattern": f"^{SLUG.pattern}$", "minLength": 1, "maxLength": core_bounds.SLUG_CHARS, "description": _SLUG_RULE}
)
class Slug(Text):
    """A new slug: lower-case words joined by hyphens, never one that is reserved as a path segment."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=core_bounds.SLUG_CHARS, trim_whitespace=False, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        slug: str = super().to_internal_value(data)
        if not SLUG.fullmatch(slug):
            raise serializers.ValidationError("Use lower-case letters, digits and single hyphens between them.", code="invalid_slug")
        if not is_allowed(slug):
            raise serializers.ValidationError("This slug is reserved.", code="reserved_slug")
        return slug


@extend_schema_field(
    {
        "type": "string",
        "format": "uri",
        "pattern": rf"^[{WHITE_SPACE}]*(?:[Hh][Tt][Tt][Pp][Ss]://{ADDRESS_CHARACTER}*)?[{WHITE_SPACE}]*$",
        "maxLength": core_bounds.URL_CHARS,
    }
)
class HttpsUrl(Line):
    """An https address."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=core_bounds.URL_CHARS, **kwargs)
        self.validators.append(URLValidator(schemes=["https"], message="An https address is required."))


@extend_schema_field({"type": "string", "pattern": f"^{SLUG.pattern}$", "minLength": 1, "maxLength": core_bounds.SLUG_CHARS})
class CategorySlug(serializers.Field[Category, Any, str, Any]):
    """The slug of an active category; the validated value is the `Category`.

    A retired category is accepted where the listing is in it already, so that its vendor can change the rest: `present`, or the category of the
    listing in the context.
    """

    default_error_messages = COMMON_ERRORS | {"invalid": "A string is required.", "unknown_category": "No active category has this slug."}

    def __init__(self, present: Category | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._present = present

    def to_internal_value(self, data: Any) -> Category:
        if not isinstance(data, str):
            self.fail("invalid")
        possible = len(data) <= core_bounds.SLUG_CHARS and SLUG.fullmatch(data)
        category = Category.objects.filter(slug=data).first() if possible else None
        listing = self.context.get("listing")
        if category is None or not (category.is_active or category == (listing.category if listing else self._present)):
            self.fail("unknown_category")
        return category


class LicenseSlugs(BoundedList):
    """Slugs of active licence tiers, at least one; null allows every active one.

    A retired tier is accepted where the listing in the context permits it already, so that a client can send back what it read.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            child=Line(max_length=40), allow_empty=False, min_length=1, allow_null=True, max_length=catalog_bounds.MAX_LICENSES, **kwargs
        )

    def to_internal_value(self, data: Any) -> list[str]:
        slugs: list[str] = super().to_internal_value(data)
        listing = self.context.get("listing")
        known = set(LicenseTier.objects.filter(is_active=True).values_list("slug", flat=True))
        known.update((listing and listing.allowed_license_slugs) or ())
        unknown = {index: ["No active licence tier has this slug."] for index, slug in enumerate(slugs) if slug not in known}
        if unknown:
            raise serializers.ValidationError(unknown, code="unknown_license")  # type: ignore[arg-type]  # keyed by index, as ListField does
        return list(dict.fromkeys(slugs))


class JsonObjectText(LongText):
    """JSON text of an object, nested at most as deep as a request body; the validated value is the object."""

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise serializers.ValidationError("This is not JSON text.", code="invalid_json") from error
        if not isinstance(value, dict):
            raise serializers.ValidationError("The JSON text must be an object.", code="not_an_object")
        if not _storable(value):
            detail = f"At most {core_bounds.MAX_JSON_DEPTH} levels deep, finite numbers, and no NUL characters."
            raise serializers.ValidationError(detail, code="invalid_json")
        return value


def _storable(value: Any, levels: int = core_bounds.MAX_JSON_DEPTH) -> bool:
    """Tell whether both SQLite and PostgreSQL can store the value."""
    if isinstance(value, str):
        return "\x00" not in value
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return levels > 0 and all("\x00" not in name and _storable(item, levels - 1) for name, item in value.items())
    if isinstance(value, list):
        return levels > 0 and all(_storable(item, levels - 1) for item in value)
    return True


class Tags(BoundedList):
    """Up to 20 distinct tags of up to 40 characters, trimmed and in lower case."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=Line(max_length=catalog_bounds.TAG_CHARS), max_length=catalog_bounds.MAX_TAGS, **kwargs)

    def to_internal_value(self, data: Any) -> list[str]:
        return list(dict.fromkeys(tag.lower() for tag in super().to_internal_value(data)))
