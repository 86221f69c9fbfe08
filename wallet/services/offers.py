"""Offers: what a buyer gets for a listing and at what price, with all rules of a purchase except the balance."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import attrgetter
from typing import Any, NoReturn
from zoneinfo import ZoneInfo

import orjson
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from catalog.models import Discount
from catalog.pricing import discounted_price, relative_price
from catalog.selectors.listings import lookup
from library.errors import AlreadyOwned
from library.licensees import Licensee
from marketplace.accounts.models import Tier, User
from marketplace.core import money
from marketplace.core.errors import NotFound
from marketplace.core.money import Currency
from vendors.models import DEFAULT_COMMISSION_BP

from .. import sql
from ..errors import (
    DiscountCodeInvalid,
    DiscountEnded,
    LicenseNotAvailable,
    OwnListing,
    PriceUnavailable,
    TierRequired,
    UpgradeCurrencyDiffers,
    UpgradeUnavailable,
)
from ..models import Order
from ..places import EUROPEAN_UNION, INDIA
from ..sql import as_id
from ..tax import Party, Rates, TaxDecision, decide_tax, tax_of
from .tax_rates import rates_in_force

LOCK_TIMEOUT = "10s"


@dataclass(frozen=True)
class PurchaseRequest:
    """A request to buy.

    Args:
        listing_id_or_slug: The listing.
        currency: INR or USD; None for the buyer's preference. Nothing is converted.
        license_slug: The licence tier; None for the first one on sale, or, for an upgrade, the next higher one.
        discount_code: The code of a discount; None for none.
        upgrade_from: The tier of the buyer's licence that the new one replaces; None for a further licence.
        licensee: Whom the buyer pays for; None for the buyer.
    """

    listing_id_or_slug: str
    currency: str | None = None
    license_slug: str | None = None
    discount_code: str | None = None
    upgrade_from: str | None = None
    licensee: Licensee | None = None


@dataclass(frozen=True)
class TierWithTerms:
    """A licence tier with its current terms and its price factor."""

    id: uuid.UUID
    terms_id: uuid.UUID
    slug: str
    name: str
    factor: Decimal


@dataclass(frozen=True)
class OwnedTier:
    """A tier of which the buyer, or the licensee where there is one, has a licence that was not revoked.

    Args:
        tier: The tier, on sale or not.
        order_id: The purchase of the licence.
        suspended: Whether its payment is disputed.
        replaced: Whether an upgrade has replaced it.
        is_for_other: Whether it was bought for a named licensee.
    """

    tier: TierWithTerms
    order_id: uuid.UUID
    suspended: bool
    replaced: bool
    is_for_other: bool


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
    ai_training: str
    tier_requirement: str
    # By currency, for the first tier on sale, before the discount.
    list_prices: dict[str, int | None]
    # The largest discount that applies now, in basis points, and the code that was given, even if a larger discount needs no code.
    discount_bp: int
    discount_code: str
    tax_rate_bp: int
    commission_rate_bp: int
    currency_preference: str
    tiers: tuple[TierWithTerms, ...]
    # What the buyer owns, or the licensee where there is one.
    owned: tuple[OwnedTier, ...]
    licensee: Licensee | None
    # The seller of record, if there is one, and the buyer's billing details, if there are any.
    seller_id: uuid.UUID | None
    seller_time_zone: str
    seller: Party | None
    buyer_details_id: uuid.UUID | None
    buyer: Party | None

    def price_of(self, tier: TierWithTerms, currency: str, *, before_discount: bool = False) -> int | None:
        """Return the current price of a tier, None if there is no price in the currency."""
        first = discounted_price(self.list_prices, currency, 0 if before_discount else self.discount_bp)
        return None if first is None else relative_price(first, tier.factor, self.tiers[0].factor)


@dataclass(frozen=True)
class Offer:
    """One tier of a listing at a price."""

    listing_offer: ListingOffer
    tier: TierWithTerms
    currency: str
    price_minor: int
    tax: TaxDecision
    # What was taken off the list price: by a discount, and for the licence that this one replaces.
    discount_minor: int = 0
    discount_code: str = ""
    upgraded: Order | None = None
    upgrade_credit_minor: int = 0
    # The quote that fixed the price.
    quote_id: uuid.UUID | None = None

    @property
    def tax_minor(self) -> int:
        """The tax included in the price."""
        return tax_of(self.price_minor, self.tax.treatment, self.tax.rate_bp)


def find_offer(*, buyer: User, purchase: PurchaseRequest) -> Offer:
    """Return the current offer for the buyer; raises what `spend` raises, except for balance and limits."""
    listing_offer = find_listing_offer(
        buyer=buyer,
        listing_id_or_slug=purchase.listing_id_or_slug,
        discount_code=(purchase.discount_code or "").upper(),
        licensee=purchase.licensee,
    )
    to_upgrade = None if purchase.upgrade_from is None else find_upgradable(listing_offer=listing_offer, license_slug=purchase.upgrade_from)
    tier = find_tier(listing_offer=listing_offer, license_slug=purchase.license_slug, to_upgrade=to_upgrade)
    upgraded = None if to_upgrade is None else Order.objects.get(pk=to_upgrade.order_id)
    currency = purchase.currency or (listing_offer.currency_preference if upgraded is None else upgraded.currency)
    if upgraded is not None and currency != upgraded.currency:
        sentence = f"The order of the {upgraded.license_slug} licence is in {upgraded.currency}, and so is its upgrade."
        raise UpgradeCurrencyDiffers(sentence, currency=upgraded.currency)
    price = listing_offer.price_of(tier, currency)
    if price is None:
        available = [code.value for code in money.WALLET_CURRENCIES if upgraded is None and listing_offer.price_of(tier, code) is not None]
        advice = f"It is sold in {' and '.join(available)}." if available else f"{UpgradeCurrencyDiffers.title}."
        raise PriceUnavailable(f"It has no price in {currency}. {advice}", availableCurrencies=available)
    upgrade_credit = 0 if upgraded is None else min(_paid_for(upgraded), price)
    return Offer(
        listing_offer,
        tier,
        currency,
        price - upgrade_credit,
        find_offer_tax(listing_offer),
        # What is free in all currencies may have no list price in this one.
        discount_minor=(listing_offer.price_of(tier, currency, before_discount=True) or price) - price,
        discount_code=listing_offer.discount_code,
        upgraded=upgraded,
        upgrade_credit_minor=upgrade_credit,
    )


def _paid_for(order: Order) -> int:
    """Return what was paid for a licence, with those that it had replaced."""
    paid = order.price_minor
    while order.upgraded_from is not None:
        order = order.upgraded_from
        paid += order.price_minor
    return paid


def find_offer_tax(listing_offer: ListingOffer) -> TaxDecision:
    """Return how a sale to the buyer is taxed today, by the date where the seller is."""
    seller, buyer = listing_offer.seller, listing_offer.buyer
    rates: Rates = {}
    # Elsewhere the listing's rate applies.
    if seller is not None and seller.country in {INDIA, *EUROPEAN_UNION}:
        countries = {seller.country, *(() if buyer is None else (buyer.country,))}
        rates = rates_in_force(countries=countries, day=timezone.now().astimezone(ZoneInfo(listing_offer.seller_time_zone)).date())
    return decide_tax(seller=seller, buyer=buyer, rates=rates, listing_rate_bp=listing_offer.tax_rate_bp)


def find_listing_offer(*, buyer: User, listing_id_or_slug: str, discount_code: str = "", licensee: Licensee | None) -> ListingOffer:
    """Return a listing that the buyer may buy, in one statement, which also sets the transaction's lock timeout.

    Its `owned` are the licensee's licences, or the buyer's if there is no licensee. A code is recorded even if another discount is larger.
    """
    ((column, value),) = lookup(listing_id_or_slug).items()
    # Set by a column, which saves a statement.
    lock_timeout = f"set_config('lock_timeout', '{LOCK_TIMEOUT}', true)" if connection.vendor == "postgresql" else "NULL"
    rows = sql.run(
        sql.OFFER.format(
            column="id" if column == "pk" else column,
            lock_timeout=lock_timeout,
            now=sql.NOW[connection.vendor],
            whose_licences=sql.OF_BUYER if licensee is None else sql.OF_LICENSEE,
        ),
        buyer=buyer.pk,
        licensee="" if licensee is None else licensee.email,
        listing=value,
        code=discount_code,
        default_commission_bp=DEFAULT_COMMISSION_BP,
        default_currency=Currency.INR.value,
    )
    if not rows:
        raise NotFound
    listing_offer = _listing_offer(rows, discount_code, licensee)
    if listing_offer.vendor_id == buyer.pk:
        raise OwnListing
    if Tier(buyer.tier).rank < Tier(listing_offer.tier_requirement).rank:
        sentence = f"This asset requires the tier {listing_offer.tier_requirement}; yours is {buyer.tier}."
        raise TierRequired(sentence, requiredTier=listing_offer.tier_requirement)
    return listing_offer


def find_tier(*, listing_offer: ListingOffer, license_slug: str | None, to_upgrade: OwnedTier | None = None) -> TierWithTerms:
    """Return the named tier, which must not be owned yet; without a name the first one, if no tier is owned.

    For an upgrade, only tiers that are higher than `to_upgrade` count: those with a larger price factor.
    """
    tiers = listing_offer.tiers
    if to_upgrade is not None and license_slug is None:
        tiers = tuple(sorted(_higher_tiers(tiers, to_upgrade), key=attrgetter("factor")))
        if not tiers:
            raise UpgradeUnavailable(f"No licence higher than {to_upgrade.tier.slug} is on sale.")
    tier = next((tier for tier in tiers if license_slug in (None, tier.slug)), None)
    if tier is None:
        names = [tier.slug for tier in tiers]
        raise LicenseNotAvailable(f"Licences on sale: {', '.join(names) or 'none'}.", availableLicenses=names)
    owned_ids = {other.tier.id for other in listing_offer.owned}
    if tier.id in owned_ids or (owned_ids and license_slug is None and to_upgrade is None):
        detail = "" if listing_offer.licensee is None else AlreadyOwned.by_licensee
        # A buyer is not told what others bought for the licensee.
        others = [] if listing_offer.licensee or tier.id in owned_ids else _current_slugs(listing_offer)
        raise AlreadyOwned(detail, assetId=str(listing_offer.listing_id), licenseSlug=next(iter(others), tier.slug))
    if to_upgrade is not None and tier not in _higher_tiers(tiers, to_upgrade):
        raise UpgradeUnavailable(f"The {tier.slug} licence is not higher than {to_upgrade.tier.slug}. Buy it as a further licence.")
    return tier


def find_upgradable(*, listing_offer: ListingOffer, license_slug: str) -> OwnedTier:
    """Return the buyer's licence that is to be upgraded.

    Raises:
        UpgradeUnavailable: the buyer has no such licence, it is suspended, or it or the new one is for someone else.
    """
    # Checked before the licensee's licences, so that the buyer does not learn of licences that others paid for.
    if listing_offer.licensee is not None:
        raise UpgradeUnavailable("A licence for someone else cannot be upgraded. Buy the higher one as a further licence.")
    owned = next((other for other in listing_offer.owned if other.tier.slug == license_slug and not other.replaced), None)
    if owned is None:
        current = ", ".join(_current_slugs(listing_offer)) or "none"
        raise UpgradeUnavailable(f"You have no such licence for this asset. Licences that you have: {current}.")
    if owned.is_for_other:
        sentence = f"The {license_slug} licence was bought for a licensee and cannot be upgraded. Buy the higher one as a further licence."
        raise UpgradeUnavailable(sentence)
    if owned.suspended:
        raise UpgradeUnavailable(f"The payment for the {license_slug} licence is disputed: wait until that is decided.")
    return owned


def _current_slugs(listing_offer: ListingOffer) -> list[str]:
    return [other.tier.slug for other in listing_offer.owned if not other.replaced]


def _higher_tiers(tiers: Sequence[TierWithTerms], to_upgrade: OwnedTier) -> list[TierWithTerms]:
    return [tier for tier in tiers if tier.factor > to_upgrade.tier.factor]


def _listing_offer(rows: Sequence[dict[str, Any]], discount_code: str, licensee: Licensee | None) -> ListingOffer:
    row = rows[0]
    if discount_code and row["code_percent"] is None:
        _refuse_code(as_id(row["listing_id"]), discount_code)
    allowed = None if row["allowed_license_slugs"] is None else orjson.loads(row["allowed_license_slugs"])
    buyer = Party(row["buyer_country"], row["buyer_region"], row["buyer_tax_id"], row["buyer_connection_country"])
    # Without tiers there is one row with NULLs; a tier without terms is not sold.
    tiers = [(_tier(each), each) for each in rows if each["terms_id"] is not None]
    return ListingOffer(
        listing_id=as_id(row["listing_id"]),
        title=row["title"],
        category_slug=row["category_slug"],
        vendor_id=as_id(row["vendor_id"]),
        store_name=row["store_name"],
        deliverable_id=as_id(row["deliverable_id"]),
        version=row["version"],
        ai_training=row["ai_training"],
        tier_requirement=row["tier_requirement"],
        list_prices={currency: row[f"price_{currency.lower()}_minor"] for currency in Currency},
        discount_bp=max(row["discount_bp"], 100 * (row["scheduled_percent"] or 0), 100 * (row["code_percent"] or 0)),
        discount_code=discount_code,
        tax_rate_bp=row["tax_rate_bp"],
        commission_rate_bp=row["commission_rate_bp"],
        currency_preference=row["currency_preference"],
        tiers=tuple(tier for tier, each in tiers if each["is_active"] and (allowed is None or tier.slug in allowed)),
        owned=tuple(
            OwnedTier(tier, as_id(each["owned_by_order"]), bool(each["suspended"]), bool(each["replaced"]), bool(each["is_for_other"]))
            for tier, each in tiers
            if each["owned_by_order"] is not None
        ),
        licensee=licensee,
        seller_id=None if row["seller_id"] is None else as_id(row["seller_id"]),
        seller_time_zone=row["seller_time_zone"] or "",
        seller=None if row["seller_id"] is None else Party(row["seller_country"], row["seller_region"]),
        buyer_details_id=None if row["buyer_details_id"] is None else as_id(row["buyer_details_id"]),
        buyer=None if row["buyer_details_id"] is None else buyer,
    )


def _tier(row: dict[str, Any]) -> TierWithTerms:
    return TierWithTerms(
        as_id(row["tier_id"]), as_id(row["terms_id"]), row["tier_slug"], row["tier_name"], Decimal(str(row["price_factor"]))
    )


def _refuse_code(listing_id: uuid.UUID, code: str) -> NoReturn:
    ended = Discount.objects.filter(listing=listing_id, code=code, ends_at__lte=Now()).order_by("-ends_at").first()
    if ended is None:
        raise DiscountCodeInvalid
    raise DiscountEnded(endsAt=ended.ends_at)
