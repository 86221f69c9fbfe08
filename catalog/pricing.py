"""Prices of listings by currency and licence tier: after the discount, tax included."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Now

from marketplace.core import bounds, money
from marketplace.core.money import Currency

from .models import Discount, LicenseTier, Listing


class Prices(NamedTuple):
    """Prices in minor units, in the order of `Currency`; None where the vendor set none. Current prices of a free listing are 0 in all."""

    usd: int | None
    inr: int | None
    eur: int | None

    @property
    def by_currency(self) -> dict[str, int | None]:
        return dict(zip(map(str, Currency), self, strict=True))


def with_running_discount(listings: QuerySet[Listing]) -> QuerySet[Listing]:
    """Annotate listings with `running_percent` and `running_ends_at`, which `current_discount_bp` reads, by the database's clock."""
    running = Discount.objects.filter(listing=OuterRef("pk"), code="", starts_at__lte=Now(), ends_at__gt=Now()).order_by()
    return listings.annotate(
        running_percent=Subquery(running.values("percent")[:1]), running_ends_at=Subquery(running.values("ends_at")[:1])
    )


def list_prices(listing: Listing) -> Prices:
    """Return the prices before the discount."""
    return Prices(listing.base_price_minor, listing.price_inr_minor, listing.price_eur_minor)


def is_free(listing: Listing) -> bool:
    """Tell whether the listing is free: a price of zero in one currency makes it free in all."""
    return listing.current_discount_bp == bounds.WHOLE_BP or 0 in list_prices(listing)


def current_price(listing: Listing, currency: Currency, *, discounted: bool = True) -> int | None:
    """Return the current price of the first permitted tier, or the one before the discount."""
    return discounted_price(list_prices(listing).by_currency, currency, listing.current_discount_bp if discounted else 0)


def discounted_price(prices: Mapping[str, int | None], currency: str, discount_bp: int) -> int | None:
    """Return a price less a discount in basis points, None where there is none; 0 in one currency makes it free in all."""
    price = prices[currency]
    if discount_bp == bounds.WHOLE_BP or 0 in prices.values():
        return 0
    return None if price is None else money.discounted(price, discount_bp)


def permitted_tiers(listing: Listing, tiers: Sequence[LicenseTier]) -> list[LicenseTier]:
    """Return the active tiers that the vendor permits, in their order."""
    allowed = listing.allowed_license_slugs
    return [tier for tier in tiers if tier.is_active and (allowed is None or tier.slug in allowed)]


def price_of(
    listing: Listing, tier: LicenseTier, tiers: Sequence[LicenseTier], currency: Currency, *, discounted: bool = True
) -> int | None:
    """Return the current price of a permitted tier, or the one before the discount; None where the vendor set none in the currency.

    The listing's price is that of its first permitted tier; the prices of the others are in proportion to their factors.
    """
    price = current_price(listing, currency, discounted=discounted)
    if price is None:
        return None
    first = permitted_tiers(listing, tiers)[0]
    return relative_price(price, tier.price_factor, first.price_factor)


def relative_price(first_minor: int, factor: Decimal, first_factor: Decimal) -> int:
    """Return the price of a tier with `factor` if the first permitted tier, with `first_factor`, costs `first_minor`."""
    return money.scaled(first_minor, _ratio(factor, first_factor))


@lru_cache(maxsize=64)
def _ratio(factor: Decimal, first_factor: Decimal) -> Fraction:
    """Return the ratio of two factors; cached, because fractions are slow and tiers few."""
    return Fraction(factor) / Fraction(first_factor)


def prices_of(listing: Listing, tier: LicenseTier, tiers: Sequence[LicenseTier], *, discounted: bool = True) -> Prices:
    """Return the current prices of a permitted tier, or those before the discount."""
    return Prices(*(price_of(listing, tier, tiers, currency, discounted=discounted) for currency in Currency))


def current_prices(listing: Listing) -> Prices:
    """Return the current prices of the listing."""
    return Prices(*(current_price(listing, currency) for currency in Currency))
