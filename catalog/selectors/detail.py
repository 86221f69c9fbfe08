"""The rows of a listing's detail page, read by plain SQL: building the ORM query would take half of the response time."""

import uuid
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import orjson
from django.db import connection, models

from marketplace.core.errors import NotFound

from ..models import Category, Deliverable, Listing, Preview, Store
from .arms import parameter
from .listings import lookup

# What the page is made of. Other fields of these objects are read when someone asks for them.
_LISTING = (
    *("id", "slug", "title", "short_description", "description", "tags", "file_type", "supported_platforms", "version", "video_url"),
    *("base_price_minor", "price_inr_minor", "price_eur_minor", "discount_bp", "tax_rate_bp", "allowed_license_slugs", "tier_requirement"),
    *("updated_at", "published_at"),
)
Shape = tuple[tuple[type[models.Model], tuple[str, ...]], ...]
_SHOP: Shape = (
    (Listing, _LISTING),
    (Category, ("id", "slug", "name")),
    (Store, ("id", "slug", "name")),
    (Deliverable, ("id", "file_size", "sha256", "technical")),
)
# The previews, as JSON.
_SAMPLES = {
    "postgresql": "(SELECT CAST(json_agg(json_build_array({columns})) AS text) FROM catalog_preview WHERE listing_id = catalog_listing.id)",
    "sqlite": "(SELECT json_group_array(json_array({columns})) FROM catalog_preview WHERE listing_id = catalog_listing.id)",
}
_SAMPLE = ("id", "kind", "slot", "alt_text")
_JOINED = (
    "FROM catalog_listing JOIN catalog_category ON catalog_category.id = catalog_listing.category_id "
    "JOIN catalog_store ON catalog_store.id = catalog_listing.store_id "
    "JOIN catalog_deliverable ON catalog_deliverable.id = catalog_listing.live_deliverable_id "
    "LEFT JOIN catalog_listingstats ON catalog_listingstats.listing_id = catalog_listing.id "
    "WHERE catalog_listing.status = 'Published' AND catalog_store.is_open"
)


class Detail(NamedTuple):
    """A listing for sale with its category, store and reviewed file, and what else its page shows."""

    listing: Listing
    popularity: int
    previews: list[Preview]


def detail_for_sale(id_or_slug: str) -> Detail:
    """Return what `listing_for_sale` finds, as far as it is shown, and its previews, in one query.

    Raises:
        NotFound: there is none, or it is not for sale now.
    """
    [(by, value)] = lookup(id_or_slug).items()
    column = "id" if by == "pk" else "slug"
    with connection.cursor() as cursor:
        cursor.execute(_sql(column), [parameter(value)])
        row = cursor.fetchone()
    if row is None:
        raise NotFound
    *values, popularity, samples = row
    listing, category, store, file = _objects(_SHOP, values)
    listing.category, listing.store, listing.live_deliverable = category, store, file
    return Detail(listing, popularity, _previews(listing, orjson.loads(samples or "[]")))


def _previews(listing: Listing, samples: list[tuple[str, str, int, str]]) -> list[Preview]:
    """Return the previews as far as they are shown, in order."""
    samples.sort(key=lambda sample: sample[1:])
    names = ["id", "listing_id", *_SAMPLE[1:]]
    return [Preview.from_db(connection.alias, names, [uuid.UUID(pk), listing.pk, *values]) for pk, *values in samples]


def _objects(shape: Shape, row: Sequence[Any]) -> list[Any]:
    """Return a row's objects, their values converted as the ORM converts them."""
    made, start = [], 0
    for model, names in shape:
        columns = _columns(model, names)
        values = row[start : start + len(columns)]
        converted = [_converted(value, column, converters) for value, (column, converters) in zip(values, columns, strict=True)]
        made.append(model.from_db(connection.alias, [column.target.attname for column, _ in columns], converted))
        start += len(columns)
    return made


def _converted(value: Any, column: Any, converters: list[Any]) -> Any:
    for converter in converters:
        value = converter(value, column, connection)
    return value


@cache
def _columns(model: type[models.Model], names: tuple[str, ...]) -> list[tuple[Any, list[Any]]]:
    """Return each column, in the model's order, with what turns its values into those of the field; a process has one engine."""
    columns = [field.get_col(model._meta.db_table) for field in model._meta.concrete_fields if field.attname in names]
    return [(column, [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]) for column in columns]


@cache
def _sql(key: str) -> str:
    """Return the statement for a listing by this column."""
    # Put together from the names above.
    shown = [f"{model._meta.db_table}.{column.target.column}" for model, names in _SHOP for column, _ in _columns(model, names)]
    samples = _SAMPLES[connection.vendor].format(columns=", ".join(_SAMPLE))
    return f"SELECT {', '.join(shown)}, COALESCE(purchases, 0), {samples} {_JOINED} AND catalog_listing.{key} = %s"
