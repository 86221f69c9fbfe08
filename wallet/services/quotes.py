"""Quotes: prices and terms that are guaranteed until they expire."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from library.licensees import Licensee
from marketplace.accounts.models import User
from marketplace.core.errors import NotFound
from marketplace.core.ids import parse_id
from marketplace.core.transitions import lock

from .. import bounds
from ..errors import QuoteExpired, QuoteMismatch, QuoteUsed, TooManyQuotes, UpgradeUnavailable
from ..models import Order, Quote
from ..tax import tax_of
from .offers import Offer, PurchaseRequest, find_listing_offer, find_offer, find_offer_tax, find_tier, find_upgradable

KEPT_AFTER_EXPIRY = timedelta(days=1)


class QuotedTax(NamedTuple):
    """The tax in the price of a quote, and whether the sale has a seller of record, who issues an invoice."""

    amount_minor: int
    has_seller: bool


@transaction.atomic
def make_quote(*, buyer: User, purchase: PurchaseRequest) -> Quote:
    """Make a quote, which the buyer may use once.

    Raises:
        Problem: the problems of a purchase, except for balance and limits, or TooManyQuotes.
    """
    # Serialises concurrent requests of the user, and the deletion of the account.
    lock(User.objects.filter(is_active=True), pk=buyer.pk)
    offer = find_offer(buyer=buyer, purchase=purchase)
    now = timezone.now()
    open_quotes = Quote.objects.filter(owner=buyer, orders__isnull=True, approval__isnull=True, expires_at__gt=now)
    if open_quotes.count() >= bounds.MAX_OPEN_QUOTES:
        raise TooManyQuotes(maximum=bounds.MAX_OPEN_QUOTES)
    return save_quote(buyer=buyer, offer=offer, now=now, expires_at=now + timedelta(minutes=bounds.QUOTE_MINUTES))


def save_quote(*, buyer: User, offer: Offer, now: datetime, expires_at: datetime) -> Quote:
    """Save an offer, whose price is guaranteed until it expires, in the caller's transaction."""
    licensee = offer.listing_offer.licensee
    return Quote.objects.create(
        owner=buyer,
        listing_id=offer.listing_offer.listing_id,
        tier_id=offer.tier.id,
        license_slug=offer.tier.slug,
        terms_id=offer.tier.terms_id,
        ai_training=offer.listing_offer.ai_training,
        currency=offer.currency,
        price_minor=offer.price_minor,
        tax_rate_bp=offer.listing_offer.tax_rate_bp,
        tax_minor=offer.tax_minor,
        discount_minor=offer.discount_minor,
        discount_code=offer.discount_code,
        upgraded_order_id=None if offer.upgraded is None else offer.upgraded.pk,
        upgrade_from="" if offer.upgraded is None else offer.upgraded.license_slug,
        upgrade_credit_minor=offer.upgrade_credit_minor,
        licensee_name="" if licensee is None else licensee.name,
        licensee_email="" if licensee is None else licensee.email,
        created_at=now,
        expires_at=expires_at,
    )


def find_requested_offer(*, buyer: User, purchase: PurchaseRequest, quote_id: str | None) -> Offer:
    """Return the quoted offer, or the current one without a quote; raises what `find_quoted_offer` and `find_offer` raise."""
    if quote_id is None:
        return find_offer(buyer=buyer, purchase=purchase)
    return find_quoted_offer(buyer=buyer, purchase=purchase, quote_id=quote_id)


def find_quoted_offer(*, buyer: User, purchase: PurchaseRequest, quote_id: str) -> Offer:
    """Return the quoted offer, if it is still available and matches the request.

    Raises:
        NotFound: the buyer has no such quote, or the listing is no longer on sale.
        QuoteUsed: the quote was used.
        QuoteExpired: the quote has expired.
        QuoteMismatch: the quote is for another listing, currency, licence, discount code, upgrade or licensee.
        Problem: one that `find_offer` raises.
    """
    row_id = parse_id(quote_id)
    quotes = Quote.objects.annotate(used_by=F("orders__pk")).filter(owner=buyer)
    quote = None if row_id is None else quotes.filter(pk=row_id).first()
    if quote is None:
        raise NotFound("You have no such quote.")
    if quote.used_by is not None:
        raise QuoteUsed(orderId=str(quote.used_by))
    if quote.expires_at <= timezone.now():
        raise QuoteExpired
    licensee = Licensee(quote.licensee_name, quote.licensee_email) if quote.licensee_email else None
    listing_offer = find_listing_offer(buyer=buyer, listing_id_or_slug=purchase.listing_id_or_slug, licensee=licensee)
    asked = (
        ("assetId", "asset", listing_offer.listing_id, quote.listing_id),
        ("currency", "currency", purchase.currency or quote.currency, quote.currency),
        ("licenseSlug", "licence", purchase.license_slug or quote.license_slug, quote.license_slug),
        ("discountCode", "discount code", (purchase.discount_code or quote.discount_code).upper(), quote.discount_code),
        ("upgradeFrom", "upgrade of the licence", purchase.upgrade_from or quote.upgrade_from, quote.upgrade_from),
        ("licensee", "licensee", purchase.licensee or licensee or "", licensee or ""),
    )
    for name, label, wanted, quoted in asked:
        if wanted != quoted:
            raise QuoteMismatch(f"The quote is for the {label} {quoted or '(none)'}.", field=name, quoted=str(quoted))
    to_upgrade = find_upgradable(listing_offer=listing_offer, license_slug=quote.upgrade_from) if quote.upgrade_from else None
    tier = find_tier(listing_offer=listing_offer, license_slug=quote.license_slug)
    if to_upgrade is not None and to_upgrade.order_id != quote.upgraded_order_id:
        raise UpgradeUnavailable("The licence was refunded and bought again since. Get a new quote.")
    # Price, terms and upgrade are those of the quote, even if the listing's price or the tier's factor has changed; how much is tax depends on the buyer's billing details now.
    listing_offer = replace(listing_offer, ai_training=quote.ai_training, tax_rate_bp=quote.tax_rate_bp)
    return Offer(
        listing_offer,
        replace(tier, terms_id=quote.terms_id),
        quote.currency,
        quote.price_minor,
        find_offer_tax(listing_offer),
        discount_minor=quote.discount_minor,
        discount_code=quote.discount_code,
        upgraded=None if to_upgrade is None else Order.objects.get(pk=to_upgrade.order_id),
        upgrade_credit_minor=quote.upgrade_credit_minor,
        quote_id=quote.pk,
    )


def tax_of_quote(*, buyer: User, quote: Quote) -> QuotedTax:
    """Return how much of a quoted price is tax by the buyer's present billing details, as in the purchase.

    Raises:
        Problem: the buyer may not buy the listing any more, as of `find_listing_offer`.
    """
    listing_offer = find_listing_offer(buyer=buyer, listing_id_or_slug=str(quote.listing_id), licensee=None)
    tax = find_offer_tax(replace(listing_offer, tax_rate_bp=quote.tax_rate_bp))
    return QuotedTax(tax_of(quote.price_minor, tax.treatment, tax.rate_bp), listing_offer.seller is not None)


def expired_quotes() -> QuerySet[Quote]:
    """Return the unused quotes that expired a day ago; until then a late request gets a specific error."""
    return Quote.objects.filter(orders__isnull=True, expires_at__lte=timezone.now() - KEPT_AFTER_EXPIRY)
