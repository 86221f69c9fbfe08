"""Buying with wallet credit: price, debit, order, licence, split, answer, all in one transaction or not at all."""

import uuid
from dataclasses import asdict, dataclass

from django.db import IntegrityError, transaction

from catalog.models import LicenseTier, Listing
from catalog.pricing import permitted_tiers, price_of
from catalog.selectors import active_tiers, listing_for_sale
from catalog.services.popularity import record_purchase
from developers.principals import Principal
from library.errors import AlreadyOwned
from library.selectors import live_tier_ids
from library.services.licences import grant_licence
from marketplace.accounts.models import Tier, User
from marketplace.core import money
from marketplace.core.errors import NotFound, Problem
from marketplace.core.ids import new_id
from marketplace.core.request_id import current_request_id
from vendors.selectors import commission_rate_bp_for

from ..errors import InsufficientBalance, LicenseNotAvailable, OwnListing, PriceUnavailable, TierRequired
from ..models import Order
from ..models.ledger import AccountKind, JournalKind
from ..selectors import balances_of, currency_preference_of
from .idempotency import KeyedRequest, bounded_wait, keep_answer, kept_answer, keyed_request
from .ledger import Leg, debit_wallet, open_accounts, write_journal


@dataclass(frozen=True)
class Receipt:
    """The answer to a purchase; what a repeated request gets again."""

    order_id: str
    currency: str
    debited_minor: int
    balance_inr_minor: int
    balance_usd_minor: int
    tax_minor: int
    license_slug: str


@dataclass(frozen=True)
class Offer:
    """What the buyer would get now, and for how much."""

    listing: Listing
    tier: LicenseTier
    currency: str
    price_minor: int


def spend(
    *,
    buyer: User,
    listing_id_or_slug: str,
    currency: str | None = None,
    license_slug: str | None = None,
    idempotency_key: str | None = None,
    principal: Principal | None = None,
) -> tuple[Receipt, bool]:
    """Buy a listing with the buyer's credit.

    Args:
        buyer: Whose wallet and library.
        listing_id_or_slug: What to buy.
        currency: INR or USD; the buyer's preference when left out. Nothing is converted.
        license_slug: The licence tier; the first permitted one when left out.
        idempotency_key: A repeated call with the same key gets the first one's receipt.
        principal: The credential that asked; None for a page of ours.

    Returns:
        The receipt, and whether it is that of an earlier call.

    Raises:
        Problem: NotFound, AlreadyOwned, or one of `wallet.errors`; then nothing was done.
    """
    request = None
    if idempotency_key is not None:
        given = {"listing": listing_id_or_slug, "currency": currency, "license": license_slug}
        request = keyed_request(owner=buyer, key=idempotency_key, operation="wallet.spend", **given)
    if answer := kept_answer(request):
        return Receipt(**answer), True
    try:
        offer = find_offer(buyer=buyer, listing_id_or_slug=listing_id_or_slug, currency=currency, license_slug=license_slug)
        order = _priced_order(buyer, offer, principal)
        with transaction.atomic(), bounded_wait(request):
            return _settle(order, offer, request), False
    except (Problem, IntegrityError):
        # The refusal may be the doing of the same request, sent twice: then its answer is this one's too.
        if answer := kept_answer(request):
            return Receipt(**answer), True
        raise


def find_offer(*, buyer: User, listing_id_or_slug: str, currency: str | None, license_slug: str | None) -> Offer:
    """Return what the buyer would get and pay now; raises what `spend` raises, except for the balance."""
    listing = listing_for_sale(listing_id_or_slug)
    if listing.live_deliverable is None or listing.live_deliverable.blocked_at is not None:
        # A file marked as malicious is not sold, even in the moment before its listing is taken down.
        raise NotFound
    if listing.store.owner_id == buyer.pk:
        raise OwnListing
    if Tier(buyer.tier).rank < Tier(listing.tier_requirement).rank:
        sentence = f"Buying it needs the tier {listing.tier_requirement}; yours is {buyer.tier}."
        raise TierRequired(sentence, requiredTier=listing.tier_requirement)
    tiers = active_tiers()
    tier = _chosen_tier(listing, tiers, license_slug)
    owned = live_tier_ids(buyer, listing)
    if tier.id in owned or (owned and license_slug is None):
        raise AlreadyOwned(assetId=str(listing.id), licenseSlug=tier.slug)
    currency = currency or currency_preference_of(buyer)
    price = price_of(listing, tier, tiers, money.Currency(currency))
    if price is None:
        available = [code.value for code in money.WALLET_CURRENCIES if price_of(listing, tier, tiers, code) is not None]
        sentence = f"There is no price in {currency}. Send currency as one of: {', '.join(available) or 'none, it cannot be bought now'}."
        raise PriceUnavailable(sentence, availableCurrencies=available)
    return Offer(listing, tier, currency, price)


def _chosen_tier(listing: Listing, tiers: list[LicenseTier], license_slug: str | None) -> LicenseTier:
    permitted = permitted_tiers(listing, tiers)
    if license_slug is None and permitted:
        return permitted[0]
    for tier in permitted:
        if tier.slug == license_slug:
            return tier
    names = [tier.slug for tier in permitted]
    raise LicenseNotAvailable(f"Licences on sale: {', '.join(names) or 'none'}.", availableLicenses=names)


def _settle(order: Order, offer: Offer, request: KeyedRequest | None) -> Receipt:
    """Do it all in the caller's transaction: the wallet first, what many buyers share last."""
    legs = _charge(order, offer) if order.price_minor else []
    order.save(force_insert=True)
    grant_licence(buyer=order.buyer, listing=offer.listing, tier=offer.tier, deliverable=order.deliverable, order_id=order.id)
    if legs:
        write_journal(kind=JournalKind.SALE, legs=legs, currency=order.currency, reason="purchase", actor=order.buyer, order=order)
    receipt = _receipt(order)
    if request is not None:
        keep_answer(request, asdict(receipt))
    record_purchase(listing_id=offer.listing.id)
    return receipt


def _charge(order: Order, offer: Offer) -> list[Leg]:
    """Debit the wallet and return how the price is split."""
    owners = {
        AccountKind.WALLET: order.buyer_id,
        AccountKind.VENDOR: offer.listing.store.owner_id,
        AccountKind.COMMISSION: None,
        AccountKind.TAX: None,
    }
    accounts = open_accounts(order.currency, owners)
    wallet = accounts[AccountKind.WALLET]
    if not debit_wallet(wallet, order.price_minor):
        raise _insufficient(order)
    return [
        Leg(wallet, accounts[AccountKind.TAX], order.tax_minor),
        Leg(wallet, accounts[AccountKind.COMMISSION], order.commission_minor),
        Leg(wallet, accounts[AccountKind.VENDOR], order.vendor_share_minor),
    ]


def _priced_order(buyer: User, offer: Offer, principal: Principal | None) -> Order:
    """Return the order, not saved yet, with its price split: tax, commission on the rest, what remains to the vendor."""
    listing = offer.listing
    tax = money.tax_inside(offer.price_minor, listing.tax_rate_bp)
    commission = money.share(offer.price_minor - tax, commission_rate_bp_for(listing.store_id))
    credential: uuid.UUID | None = None if principal is None else principal.credential.id
    return Order(
        id=new_id(),
        buyer=buyer,
        listing=listing,
        tier=offer.tier,
        license_slug=offer.tier.slug,
        deliverable=listing.live_deliverable,
        version=listing.version,
        currency=offer.currency,
        price_minor=offer.price_minor,
        tax_minor=tax,
        commission_minor=commission,
        vendor_share_minor=offer.price_minor - tax - commission,
        app=None if principal is None else principal.app,
        credential_kind="" if principal is None else principal.kind,
        credential_id=credential,
        request_id=current_request_id(),
    )


def _insufficient(order: Order) -> InsufficientBalance:
    price = money.to_number(order.price_minor)
    balance = money.to_number(balances_of(order.buyer).get(order.currency, 0))
    sentence = f"It costs {price:.2f} {order.currency}; the wallet holds {balance:.2f} {order.currency}."
    return InsufficientBalance(sentence, price=price, currency=order.currency, balance=balance)


def _receipt(order: Order) -> Receipt:
    balances = balances_of(order.buyer)
    return Receipt(
        order_id=str(order.id),
        currency=order.currency,
        debited_minor=order.price_minor,
        balance_inr_minor=balances.get(money.Currency.INR, 0),
        balance_usd_minor=balances.get(money.Currency.USD, 0),
        tax_minor=order.tax_minor,
        license_slug=order.license_slug,
    )
