"""Purchases with wallet credit: debit, order, licence, journal and saved response in one transaction."""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from catalog.services.purchase_counts import record_purchase
from developers.principals import Principal
from library.services.licences import grant_licence, replace_licence
from marketplace.accounts.models import User
from marketplace.core import money
from marketplace.core.database import insert_rows, violates
from marketplace.core.errors import Problem
from marketplace.core.idempotency import KeyedRequest, keyed_request, lock_timeout_as_conflict, save_response, saved_response
from marketplace.core.ids import current_request_id, new_id
from marketplace.monitoring.metrics import SPENDS

from ..delivery_consent import DeliveryConsent
from ..errors import InsufficientBalance, QuoteUsed, SpendingLimitExceeded
from ..mails import announce_purchase
from ..models import Approval, LedgerAccount, Order
from ..models.ledger import AccountKind, JournalKind
from ..selectors import balances_of
from .approvals import complete_approval, refuse_ended
from .ledger import Debit, NewTransfer, VendorEntry, debit_wallet, write_journal
from .licensees import licence_recipient
from .limits import enforce_limits, spender_id_of
from .offers import Offer, PurchaseRequest
from .quotes import find_requested_offer


@dataclass(frozen=True)
class Receipt:
    """The result of a purchase, which a repeated request gets again."""

    order_id: str
    currency: str
    debited_minor: int
    balance_inr_minor: int
    balance_usd_minor: int
    tax_minor: int
    license_slug: str
    discount_minor: int = 0
    discount_code: str = ""
    upgrade_from: str = ""
    upgrade_credit_minor: int = 0
    licensee_name: str = ""
    licensee_email: str = ""


@contextmanager
def _count_refusals() -> Iterator[None]:
    try:
        yield
    except Problem as refusal:
        SPENDS.labels(refusal.code).inc()
        raise


@_count_refusals()
def spend(
    *,
    buyer: User,
    purchase: PurchaseRequest,
    quote_id: str | None = None,
    idempotency_key: str | None = None,
    principal: Principal | None = None,
    delivery_consent: DeliveryConsent | None = None,
    approval: Approval | None = None,
) -> tuple[Receipt, bool]:
    """Buy a listing with the buyer's credit.

    Args:
        buyer: The owner of the wallet, and of the library unless the purchase names another licensee.
        purchase: What is bought, in which currency, and for whom.
        quote_id: A quote, whose price, currency and licence apply.
        idempotency_key: A repeated call by the same requester with the same key returns the first one's receipt.
        principal: The credential of an API request; None for a page.
        delivery_consent: What the buyer agreed to about the delivery, at the checkout.
        approval: The owner's approval of this purchase: its price applies, and the owner's limits do not.

    Returns:
        The receipt, and whether it is from an earlier call.

    Raises:
        Problem: NotFound, AlreadyOwned, LicenseNotUpgradable, RateLimited, IdempotencyKeyReused, IdempotencyConflict, InvalidTransition of
            the approval, or one of `wallet.errors`; then nothing was changed.
    """
    request = keyed_purchase(buyer=buyer, purchase=purchase, quote_id=quote_id, key=idempotency_key, principal=principal)
    if approval is not None:
        quote_id = str(approval.quote_id)
    try:
        with transaction.atomic(), lock_timeout_as_conflict(request):
            if approval is not None:
                refuse_ended(approval=approval)
            offer = find_requested_offer(buyer=buyer, purchase=purchase, quote_id=quote_id)
            receipt = _record_sale(buyer, offer, principal, request, delivery_consent, approval)
    except (Problem, IntegrityError) as refusal:
        # A repeated request always gets here, concurrent or later: only then is the saved response looked up.
        if response := saved_response(request):
            SPENDS.labels("repeated").inc()
            return Receipt(**response), True
        # Another request may have bought the same licence meanwhile: then this raises AlreadyOwned, which is the right problem.
        if isinstance(refusal, InsufficientBalance | SpendingLimitExceeded):
            find_requested_offer(buyer=buyer, purchase=purchase, quote_id=quote_id)
        if isinstance(refusal, IntegrityError) and violates(refusal, Order, "order_quote_once"):
            raise QuoteUsed from refusal
        raise
    SPENDS.labels("sold").inc()
    return receipt, False


def keyed_purchase(
    *, buyer: User, purchase: PurchaseRequest, quote_id: str | None, key: str | None, principal: Principal | None
) -> KeyedRequest | None:
    """Return the purchase as a request that is executed once; None without a key."""
    if key is None:
        return None
    requester_id = None if principal is None else principal.requester_id
    return keyed_request(owner=buyer, requester_id=requester_id, key=key, operation="wallet.spend", **asdict(purchase), quote=quote_id)


def _record_sale(
    buyer: User,
    offer: Offer,
    principal: Principal | None,
    request: KeyedRequest | None,
    delivery_consent: DeliveryConsent | None,
    approval: Approval | None,
) -> Receipt:
    """Write the purchase in the caller's transaction. Of the locks the wallet's is first, or the buyer's if it is for someone else; rows that many buyers share are last."""
    columns = _order_columns(buyer, offer, principal, delivery_consent)
    recipient = licence_recipient(buyer=buyer, licensee=offer.listing_offer.licensee)
    debit = _debit(buyer, offer) if offer.price_minor else None
    if debit is not None:
        enforce_limits(offer=offer, principal=principal, approved=approval is not None)
    insert_rows(Order, columns)
    if approval is not None:
        complete_approval(approval=approval, order_id=columns["id"])
    grant_licence(
        **recipient,
        listing_id=offer.listing_offer.listing_id,
        tier_id=offer.tier.id,
        terms_id=offer.tier.terms_id,
        license_slug=offer.tier.slug,
        deliverable_id=offer.listing_offer.deliverable_id,
        order_id=columns["id"],
        title=offer.listing_offer.title,
        store_name=offer.listing_offer.store_name,
        version=offer.listing_offer.version,
        ai_training=offer.listing_offer.ai_training,
        replaces_id=None if offer.upgraded is None else replace_licence(order_id=offer.upgraded.pk),
    )
    if debit is not None:
        _write_sale_journal(columns, buyer, debit)
    receipt = _receipt(columns["id"], offer, balances_of(buyer) if debit is None else debit.balances)
    if request is not None:
        save_response(request, asdict(receipt))
    record_purchase(listing_id=offer.listing_offer.listing_id)
    announce_purchase.enqueue(str(columns["id"]))
    return receipt


def _debit(buyer: User, offer: Offer) -> Debit:
    debit = debit_wallet(
        buyer_id=buyer.pk, vendor_id=offer.listing_offer.vendor_id, currency=offer.currency, amount_minor=offer.price_minor
    )
    if debit is None:
        raise _insufficient(buyer, offer)
    return debit


def _write_sale_journal(order: Mapping[str, Any], buyer: User, debit: Debit) -> None:
    """Write the journal, which divides the price between tax, commission and vendor; `order` has the order's columns."""
    wallet_id, earnings_id = debit.wallet_entry.account_id, debit.account_ids[AccountKind.VENDOR]
    write_journal(
        kind=JournalKind.SALE,
        transfers=[
            NewTransfer(wallet_id, debit.account_ids[AccountKind.TAX], order["tax_minor"]),
            NewTransfer(wallet_id, debit.account_ids[AccountKind.COMMISSION], order["commission_minor"]),
            NewTransfer(wallet_id, earnings_id, order["vendor_share_minor"]),
        ],
        currency=order["currency"],
        reason="purchase",
        actor=buyer,
        order_id=order["id"],
        wallet_entry=debit.wallet_entry,
        vendor_entry=VendorEntry(earnings_id, order["vendor_share_minor"]),
    )


def _order_columns(buyer: User, offer: Offer, principal: Principal | None, delivery_consent: DeliveryConsent | None) -> dict[str, Any]:
    """Return the order's columns, with the price split into tax, commission on the rest, and the vendor's share."""
    split = money.split_sale(offer.price_minor, tax_minor=offer.tax_minor, commission_rate_bp=offer.listing_offer.commission_rate_bp)
    return {
        "id": new_id(),
        "buyer_id": buyer.pk,
        "listing_id": offer.listing_offer.listing_id,
        "tier_id": offer.tier.id,
        "terms_id": offer.tier.terms_id,
        "title": offer.listing_offer.title,
        "store_name": offer.listing_offer.store_name,
        "license_slug": offer.tier.slug,
        "license_name": offer.tier.name,
        "deliverable_id": offer.listing_offer.deliverable_id,
        "version": offer.listing_offer.version,
        "currency": offer.currency,
        "price_minor": offer.price_minor,
        "tax_rate_bp": offer.tax.rate_bp,
        "tax_minor": split.tax_minor,
        "tax_treatment": offer.tax.treatment.value,
        "seller_id": offer.listing_offer.seller_id,
        "buyer_details_id": offer.listing_offer.buyer_details_id,
        "discount_minor": offer.discount_minor,
        "discount_code": offer.discount_code,
        "upgraded_from_id": None if offer.upgraded is None else offer.upgraded.pk,
        "upgrade_credit_minor": offer.upgrade_credit_minor,
        "commission_minor": split.commission_minor,
        "vendor_share_minor": split.vendor_share_minor,
        "app_id": None if principal is None else principal.app_id,
        "credential_kind": "" if principal is None else principal.kind.value,
        "credential_id": None if principal is None else principal.credential.id,
        "spender_id": None if principal is None else spender_id_of(principal),
        "request_id": current_request_id(),
        "consent_version": "" if delivery_consent is None else delivery_consent.version,
        "consent_text": "" if delivery_consent is None else delivery_consent.text,
        "quote_id": offer.quote_id,
        "created_at": timezone.now(),
    }


def _insufficient(buyer: User, offer: Offer) -> InsufficientBalance:
    price = money.to_number(offer.price_minor)
    wallets = LedgerAccount.objects.filter(kind=AccountKind.WALLET, owner=buyer, currency=offer.currency)
    balance = money.to_number(wallets.values_list("balance_minor", flat=True).first() or 0)
    sentence = f"It costs {price:.2f} {offer.currency}; the wallet holds {balance:.2f} {offer.currency}."
    return InsufficientBalance(sentence, price=price, currency=offer.currency, balance=balance)


def _receipt(order_id: uuid.UUID, offer: Offer, balances: Mapping[str, int]) -> Receipt:
    licensee = offer.listing_offer.licensee
    return Receipt(
        order_id=str(order_id),
        currency=offer.currency,
        debited_minor=offer.price_minor,
        balance_inr_minor=balances.get(money.Currency.INR, 0),
        balance_usd_minor=balances.get(money.Currency.USD, 0),
        tax_minor=offer.tax_minor,
        license_slug=offer.tier.slug,
        discount_minor=offer.discount_minor,
        discount_code=offer.discount_code,
        upgrade_from="" if offer.upgraded is None else offer.upgraded.license_slug,
        upgrade_credit_minor=offer.upgrade_credit_minor,
        licensee_name="" if licensee is None else licensee.name,
        licensee_email="" if licensee is None else licensee.email,
    )
