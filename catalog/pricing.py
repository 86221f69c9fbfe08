"""What a listing costs: by currency and licence tier, after the discount, tax included."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from marketplace.core import bounds, money
from marketplace.core.money import Currency

from .models import LicenseTier, Listing


@dataclass(frozen=True)
class Prices:
    """Minor units in each currency; None where the vendor set no price."""

    usd: int | None
    inr: int | None
    eur: int | None


def list_price(listing: Listing, currency: Currency) -> int | None:
    """Return the vendor's price before the discount, None where the vendor set none."""
    match currency:
        case Currency.USD:
            return listing.base_price_minor
        case Currency.INR:
            return listing.price_inr_minor
        case Currency.EUR:
            return listing.price_eur_minor


def list_prices(listing: Listing) -> Prices:
    """Return the vendor's prices before the discount."""
    return Prices(listing.base_price_minor, listing.price_inr_minor, listing.price_eur_minor)


def is_free(listing: Listing) -> bool:
    """Tell whether the listing costs nothing: a price of zero in one currency means free in all."""
    return listing.discount_bp == bounds.WHOLE_BP or 0 in (listing.base_price_minor, listing.price_inr_minor, listing.price_eur_minor)


def sale_price(listing: Listing, currency: Currency) -> int | None:
    """Return what the first permitted tier costs now. The `sale_*_minor` columns hold the same for browsing."""
    if is_free(listing):
        return 0
    price = list_price(listing, currency)
    return None if price is None else money.discounted(price, listing.discount_bp)


def permitted_tiers(listing: Listing, tiers: Sequence[LicenseTier]) -> list[LicenseTier]:
    """Return those of the active tiers that the vendor allows, in the tiers' own order."""
    allowed = listing.allowed_license_slugs
    return [tier for tier in tiers if tier.is_active and (allowed is None or tier.slug in allowed)]


def price_of(listing: Listing, tier: LicenseTier, tiers: Sequence[LicenseTier], currency: Currency) -> int | None:
    """Return what a permitted tier costs now, None where the vendor set no price in the currency.

    The listing's price is that of its first permitted tier; the others cost their factor relative to that one's.
    """
    price = sale_price(listing, currency)
    if price is None:
        return None
    first = permitted_tiers(listing, tiers)[0]
    return relative_price(price, tier.price_factor, first.price_factor)


def relative_price(first_minor: int, factor: Decimal, first_factor: Decimal) -> int:
    """Return what a tier of this factor costs where the first permitted tier costs `first_minor`."""
    return money.scaled(first_minor, _ratio(factor, first_factor))


@lru_cache(maxsize=64)
def _ratio(factor: Decimal, first_factor: Decimal) -> Fraction:
    """Return one factor relative to another: of few tiers, and fractions take their time."""
    return Fraction(factor) / Fraction(first_factor)


def prices_of(listing: Listing, tier: LicenseTier, tiers: Sequence[LicenseTier]) -> Prices:
    """Return what a permitted tier costs now in each currency."""
    return Prices(*(price_of(listing, tier, tiers, currency) for currency in (Currency.USD, Currency.INR, Currency.EUR)))


def sale_prices(listing: Listing) -> Prices:
    """Return what the listing costs now in each currency."""
    return Prices(*(sale_price(listing, currency) for currency in (Currency.USD, Currency.INR, Currency.EUR)))
