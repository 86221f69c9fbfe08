"""Listings as the pages show them in rows: a picture, a few words, a price; as many as there are in one query."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, F, FilteredRelation, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Coalesce

from marketplace.core.errors import NotFound

from ..labels import label
from ..models import Category, LicenseTier, Listing, ShelfCount, ShelfItem, Store
from ..models.files import PreviewKind
from ..pricing import Prices
from .browse import Sort, ordering
from .facets import VALUES
from .listings import listings_for_sale
from .matching import Matching

CARD = "card"
_FIELDS = (
    *("id", "slug", "title", "short_description", "store__name", "store__slug", "category__slug", "category__name"),
    *("tier_requirement", "discount_bp", "sale_usd_minor", "sale_inr_minor", "sale_eur_minor"),
    *("base_price_minor", "price_inr_minor", "price_eur_minor", "picture__id", "picture__details", "picture__renditions"),
)


@dataclass(frozen=True)
class Picture:
    """An image of a gallery: where it is, and how large, so that the page does not move when it arrives."""

    url: str
    width: int
    height: int


@dataclass(frozen=True)
class Card:
    """A listing for sale.

    Args:
        id: Its id.
        slug: Its name in addresses.
        title: Its title.
        summary: One sentence.
        store: Name and slug of its store.
        category: Name and slug of its category.
        tier: What a buyer must have.
        discount_bp: The discount in basis points.
        prices: What it costs now.
        list_prices: What it costs without the discount.
        picture: The image of slot 0, in the size of a card.
    """

    id: uuid.UUID
    slug: str
    title: str
    summary: str
    store: tuple[str, str]
    category: tuple[str, str]
    tier: str
    discount_bp: int
    prices: Prices
    list_prices: Prices
    picture: Picture | None


def cards_of(ids: Iterable[uuid.UUID]) -> list[Card]:
    """Return the cards of these listings in this order; what is no longer for sale is left out."""
    wanted = list(ids)
    found = {card.id: card for card in _cards(listings_for_sale().filter(pk__in=wanted))}
    return [found[listing_id] for listing_id in wanted if listing_id in found]


def cards_on_shelf(*, limit: int, sort: Sort = Sort.POPULAR, category: str | None = None, without: uuid.UUID | None = None) -> list[Card]:
    """Return the first listings of an order, of one category where it is named, in one query."""
    items = ShelfItem.objects.all() if category is None else ShelfItem.objects.filter(category__slug=category)
    ids = items.order_by(*ordering(sort)).values("pk")[: limit + 1]
    order = [f"{'-' if column.startswith('-') else ''}shelf_item__{column.removeprefix('-')}" for column in ordering(sort)]
    cards = _cards(listings_for_sale().filter(pk__in=ids).order_by(*order))
    return [card for card in cards if card.id != without][:limit]


def open_store(slug: str) -> Store:
    """Return a store that sells.

    Raises:
        NotFound: there is none of this slug, or it is closed.
    """
    store = Store.objects.filter(slug=slug, is_open=True).first()
    if store is None:
        raise NotFound
    return store


def newest_addresses(limit: int) -> list[tuple[str, datetime]]:
    """Return slug and last change of the newest listings for sale."""
    newest = ShelfItem.objects.order_by(*ordering(Sort.NEWEST))
    return list(newest.values_list("listing__slug", "listing__updated_at")[:limit])


def slugs_for_sale(start: int, limit: int) -> list[tuple[str, datetime]]:
    """Return slug and last change of so many listings for sale from a position on, the oldest first."""
    ids = ShelfItem.objects.order_by("pk").values("pk")[start : start + limit]
    return list(ShelfItem.objects.filter(pk__in=ids).order_by("pk").values_list("listing__slug", "listing__updated_at"))


def items_of_store(store: Store) -> Matching:
    """Return what a store has for sale."""
    return Matching.of(ShelfItem.objects.filter(store=store))


def picture_of(preview_id: Any, details: dict[str, Any], renditions: dict[str, Any], *, small: bool = True) -> Picture | None:
    """Return an image of a gallery, its smaller copy where there is one and that will do."""
    copy = renditions.get(CARD) if small else None
    shown = copy or details
    if "width" not in shown or "height" not in shown:
        return None
    return Picture(f"/api/v1/previews/{preview_id}" + (f"?size={CARD}" if copy else ""), shown["width"], shown["height"])


@dataclass(frozen=True)
class Names:
    """The names of what one chooses from: categories and licence tiers by their slugs, in their order."""

    categories: dict[str, str]
    licenses: dict[str, str]


def names_to_choose_from() -> Names:
    """Return the active categories and licence tiers in one query."""
    columns = ("sort_order", "slug", "name")
    categories: QuerySet[Any, Any] = Category.objects.filter(is_active=True).order_by().values_list(Value("category"), *columns)
    licenses: QuerySet[Any, Any] = LicenseTier.objects.filter(is_active=True).order_by().values_list(Value("license"), *columns)
    rows = sorted(categories.union(licenses, all=True))
    names = {kind: {slug: name for of, _, slug, name in rows if of == kind} for kind in ("category", "license")}
    return Names(names["category"], names["license"])


@dataclass(frozen=True)
class Counts:
    """How many listings for sale there are in each category, and of each file type in those chosen."""

    categories: dict[str, int]
    file_types: dict[str, int]


def counts_to_choose_from(category: str | None, tier: str | None) -> Counts:
    """Return the counts that the shelf keeps, in one query.

    Args:
        category: The category whose file types are counted; all when None.
        tier: Count only this tier; all when None.
    """
    kind = label("type", "")
    types = Q(label__startswith=kind) if category is None else Q(label__startswith=kind, category__slug=category)
    counted = ShelfCount.objects.filter(Q(label="") | types, **({} if tier is None else {"tier": tier}))
    of_category = Case(When(label="", then=F("category__slug")), default=Value(""))
    rows = counted.order_by().values("label", of=of_category).annotate(n=Coalesce(Sum("listings"), 0))
    first = rows.filter(n__gt=0).order_by(Case(When(label="", then=0), default=1), "-n", "label")[: 2 * VALUES]
    return Counts(
        {row["of"]: row["n"] for row in first if not row["label"]},
        {row["label"].removeprefix(kind): row["n"] for row in first if row["label"]},
    )


def _cards(listings: QuerySet[Listing]) -> list[Card]:
    picture = FilteredRelation("previews", condition=Q(previews__kind=PreviewKind.GALLERY, previews__slot=0))
    return [_card(*row) for row in listings.annotate(picture=picture).values_list(*_FIELDS)]


def _card(*row: Any) -> Card:
    listing_id, slug, title, summary, store, store_slug, category_slug, category, tier, discount, *rest = row
    *amounts, picture_id, details, renditions = rest
    return Card(
        id=listing_id,
        slug=slug,
        title=title,
        summary=summary,
        store=(store, store_slug),
        category=(category, category_slug),
        tier=tier,
        discount_bp=discount,
        prices=Prices(*amounts[:3]),
        list_prices=Prices(*amounts[3:]),
        picture=None if picture_id is None else picture_of(picture_id, details, renditions),
    )
