"""What buyers pay for a listing, and how the price is split between tax, platform and vendor."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from catalog.models import LicenseTier, Listing
from catalog.pricing import is_free, list_price, permitted_tiers, price_of, sale_price
from marketplace.core.money import Currency, Split, split_sale


@dataclass(frozen=True)
class Proceeds:
    """The price of one licence in one currency, and its split.

    Args:
        currency: Of every amount.
        list_minor: The price before the discount; for the first permitted licence only.
        price_minor: The price that a buyer pays.
        split: Its split into tax, commission and proceeds.
    """

    currency: Currency
    list_minor: int | None
    price_minor: int
    split: Split


@dataclass(frozen=True)
class LicenceProceeds:
    """One licence in each currency in which it is sold."""

    name: str
    amounts: list[Proceeds]


@dataclass(frozen=True)
class ListingProceeds:
    """The licences that buyers can choose; the price of the first one is the listing's price.

    Args:
        free: Whether the listing is free.
        discount_bp: The discount in basis points.
        tax_rate_bp: The included tax in basis points.
        commission_rate_bp: The platform's commission on the rest, in basis points.
        licences: In their order; empty where no permitted licence is active.
        not_in: The currencies without a price.
    """

    free: bool
    discount_bp: int
    tax_rate_bp: int
    commission_rate_bp: int
    licences: list[LicenceProceeds]
    not_in: list[str]


def proceeds_of(listing: Listing, tiers: Sequence[LicenseTier]) -> ListingProceeds:
    """Return the split of each sale of a listing, which must be loaded with its vendor's profile."""
    rate = listing.store.vendor_profile.commission_rate_bp
    permitted = permitted_tiers(listing, tiers)
    sold_in = [currency for currency in Currency if sale_price(listing, currency) is not None]
    licences = [
        LicenceProceeds(tier.name, [_proceeds(listing, tier, tiers, currency, first=tier is permitted[0]) for currency in sold_in])
        for tier in permitted
    ]
    not_in = [currency.value for currency in Currency if currency not in sold_in]
    return ListingProceeds(is_free(listing), listing.discount_bp, listing.tax_rate_bp, rate, licences, not_in)


def repriced(listing: Listing, prices: Mapping[str, int | None]) -> Listing:
    """Return an unsaved copy of the listing with other prices."""
    other = copy(listing)
    for name, value in prices.items():
        setattr(other, name, value)
    return other


def _proceeds(listing: Listing, tier: LicenseTier, tiers: Sequence[LicenseTier], currency: Currency, *, first: bool) -> Proceeds:
    price = price_of(listing, tier, tiers, currency) or 0
    commission_rate_bp = listing.store.vendor_profile.commission_rate_bp
    split = split_sale(price, tax_rate_bp=listing.tax_rate_bp, commission_rate_bp=commission_rate_bp)
    return Proceeds(currency, list_price(listing, currency) if first else None, price, split)
