"""Offers: what a buyer gets for a listing and at what price, with all rules of a purchase except the balance."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson
from django.db import connection

from catalog.pricing import relative_price
from catalog.selectors.listings import lookup
from library.errors import AlreadyOwned
from marketplace.accounts.models import Tier, User
from marketplace.core import money
from marketplace.core.errors import NotFound
from marketplace.core.money import Currency
from vendors.models import DEFAULT_COMMISSION_BP

from .. import statements
from ..errors import LicenseNotAvailable, OwnListing, PriceUnavailable, TierRequired
from ..statements import as_id
from ..tax import Party, TaxDecision, tax_of
from .tax_rates import find_tax

LOCK_TIMEOUT = "10s"


@dataclass(frozen=True)
class PurchaseRequest:
    """A request to buy.

    Args:
        listing_id_or_slug: The listing.
        currency: INR or USD; None for the buyer's preference. Nothing is converted.
        license_slug: The licence tier; None for the first permitted one.
    """

    listing_id_or_slug: str
    currency: str | None = None
    license_slug: str | None = None


@dataclass(frozen=True)
class TierOnSale:
    """A licence tier that the listing is sold under.

    Args:
        id: Its id.
        slug: Its slug.
        name: Its name.
        factor: Its price factor.
    """

    id: uuid.UUID
    slug: str
    name: str
    factor: Decimal


@dataclass(frozen=True)
class ListingOffer:
    """A listing on sale, as offered to one buyer."""

    listing_id: uuid.UUID
    title: str
    category_slug: str
    vendor_id: uuid.UUID
    store_name: str
    deliverable_id: uuid.UUID
    version: str
    tier_requirement: str
    # By currency, for the first tier on sale.
    prices: dict[str, int | None]
    tax_rate_bp: int
    commission_rate_bp: int
    currency_preference: str
    tiers: tuple[TierOnSale, ...]
    owned_tier_ids: frozenset[uuid.UUID]
    # The seller of record, if there is one, and the buyer's billing details, if there are any.
    seller_id: uuid.UUID | None
    seller_time_zone: str
    seller: Party | None
    buyer_details_id: uuid.UUID | None
    buyer: Party | None

    def price_of(self, tier: TierOnSale, currency: str) -> int | None:
        """Return the current price of a tier, None if there is no price in the currency."""
        first = self.prices[currency]
        return None if first is None else relative_price(first, tier.factor, self.tiers[0].factor)


@dataclass(frozen=True)
class Offer:
    """One tier of a listing at a price."""

    listing_offer: ListingOffer
    tier: TierOnSale
    currency: str
    price_minor: int
    tax: TaxDecision
    # The quote that fixed the price.
    quote_id: uuid.UUID | None = None

    @property
    def tax_minor(self) -> int:
        """The tax included in the price."""
        return tax_of(self.price_minor, self.tax.treatment, self.tax.rate_bp)


def find_offer(*, buyer: User, purchase: PurchaseRequest) -> Offer:
    """Return the current offer for the buyer; raises what `spend` raises, except for balance and limits."""
    listing_offer = find_listing_offer(buyer=buyer, listing_id_or_slug=purchase.listing_id_or_slug)
    tier = find_tier(listing_offer=listing_offer, license_slug=purchase.license_slug)
    currency = purchase.currency or listing_offer.currency_preference
    price = listing_offer.price_of(tier, currency)
    if price is None:
        available = [code.value for code in money.WALLET_CURRENCIES if listing_offer.price_of(tier, code) is not None]
        sentence = f"It has no price in {currency}. Send currency as one of: {', '.join(available) or 'none, it cannot be bought now'}."
        raise PriceUnavailable(sentence, availableCurrencies=available)
    return Offer(listing_offer, tier, currency, price, find_offer_tax(listing_offer, listing_offer.tax_rate_bp))


def find_offer_tax(listing_offer: ListingOffer, listing_rate_bp: int) -> TaxDecision:
    """Return how a sale to the buyer is taxed now."""
    return find_tax(
        seller=listing_offer.seller, time_zone=listing_offer.seller_time_zone, buyer=listing_offer.buyer, listing_rate_bp=listing_rate_bp
    )


def find_listing_offer(*, buyer: User, listing_id_or_slug: str) -> ListingOffer:
    """Return a listing that the buyer may buy, in one statement, which also sets the transaction's lock timeout."""
    ((column, value),) = lookup(listing_id_or_slug).items()
    rows = statements.run(
        statements.OFFER.format(column="id" if column == "pk" else column, lock_timeout=_lock_timeout()),
        buyer=buyer.pk,
        listing=value,
        default_commission_bp=DEFAULT_COMMISSION_BP,
        default_currency=Currency.INR.value,
    )
    if not rows:
        raise NotFound
    listing_offer = _listing_offer(rows)
    if listing_offer.vendor_id == buyer.pk:
        raise OwnListing
    if Tier(buyer.tier).rank < Tier(listing_offer.tier_requirement).rank:
        sentence = f"This asset requires the tier {listing_offer.tier_requirement}; yours is {buyer.tier}."
        raise TierRequired(sentence, requiredTier=listing_offer.tier_requirement)
    return listing_offer


def find_tier(*, listing_offer: ListingOffer, license_slug: str | None) -> TierOnSale:
    """Return the named tier, or the first one; refuse a tier that the buyer owns."""
    tier = next((tier for tier in listing_offer.tiers if license_slug in (None, tier.slug)), None)
    if tier is None:
        names = [tier.slug for tier in listing_offer.tiers]
        raise LicenseNotAvailable(f"Licences on sale: {', '.join(names) or 'none'}.", availableLicenses=names)
    owned = listing_offer.owned_tier_ids
    if tier.id in owned or (owned and license_slug is None):
        raise AlreadyOwned(assetId=str(listing_offer.listing_id), licenseSlug=tier.slug)
    return tier


def _lock_timeout() -> str:
    # Set by a column, which saves a statement.
    return f"set_config('lock_timeout', '{LOCK_TIMEOUT}', true)" if connection.vendor == "postgresql" else "NULL"


def _listing_offer(rows: Sequence[tuple[Any, ...]]) -> ListingOffer:
    (_, listing_id, title, category, vendor_id, store_name, file_id, version, requirement, allowed, *rest) = rows[0]
    inr, usd, tax, commission, preference, seller_id, time_zone, *parties = rest[:14]
    slugs = None if allowed is None else orjson.loads(allowed)
    # Without tiers there is one row with NULLs.
    tiers = [(as_id(row[-6]), *row[-5:]) for row in rows if row[-6] is not None]
    return ListingOffer(
        listing_id=as_id(listing_id),
        title=title,
        category_slug=category,
        vendor_id=as_id(vendor_id),
        store_name=store_name,
        deliverable_id=as_id(file_id),
        version=version,
        tier_requirement=requirement,
        prices={Currency.INR: inr, Currency.USD: usd},
        tax_rate_bp=tax,
        commission_rate_bp=commission,
        currency_preference=preference,
        tiers=tuple(
            TierOnSale(tier_id, slug, name, Decimal(str(factor)))
            for tier_id, slug, name, factor, active, _ in tiers
            if active and (slugs is None or slug in slugs)
        ),
        owned_tier_ids=_owned(tiers),
        seller_id=None if seller_id is None else as_id(seller_id),
        seller_time_zone=time_zone or "",
        seller=None if seller_id is None else Party(*parties[:2]),
        buyer_details_id=None if parties[2] is None else as_id(parties[2]),
        buyer=None if parties[2] is None else Party(*parties[3:]),
    )


def _owned(tiers: Sequence[tuple[Any, ...]]) -> frozenset[uuid.UUID]:
    return frozenset(tier_id for tier_id, *_, owned in tiers if owned)
