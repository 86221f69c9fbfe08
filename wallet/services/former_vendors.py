"""Earnings of vendors whom no run pays any more: once a payout has bounced, staff pay out all earnings in another way, or keep them."""

from typing import Any

from django.db import transaction

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition
from marketplace.core.transitions import lock, lock_for_decision
from marketplace.ui.mail import mail
from vendors.models import VendorProfile, VendorStatus

from .. import bounds
from ..models import LedgerAccount, VendorPayout
from ..models.ledger import AccountKind, JournalKind
from ..models.vendor_payouts import PayoutStatus
from ..selectors import unpaid_earnings, vendor_payouts
from .ledger import NewTransfer, VendorEntry, open_account, write_journal


def can_be_settled_by_hand(*, payout: VendorPayout) -> bool:
    """Tell whether a payout bounced, and no run pays its vendor now.

    The vendor's account is deleted or deactivated, or the store is not approved any more, for good or for a while.
    """
    paid_by_runs = VendorProfile.objects.filter(user=payout.account.owner_id, user__is_active=True, status=VendorStatus.APPROVED)
    return payout.status == PayoutStatus.BOUNCED and not paid_by_runs.exists()


@transaction.atomic
def pay_former_vendor(*, payout: VendorPayout, reference: str, reason: str, actor: User) -> None:
    """Record that the earnings of a former vendor were paid outside of the service: all that the account holds.

    `payout` is one of the vendor's that bounced, `reason` says how the recipient was verified.

    Raises:
        InvalidTransition: it did not bounce, runs still pay the vendor, or nothing is left.
        InvalidInput: no reference, or no reason.
        SelfReview: the actor is the vendor.
        NotFound: there is no such payout.
    """
    reference = texts.clean_line(reference, "reference", maximum=bounds.PAYMENT_REFERENCE_CHARS)
    reason = texts.clean_text(reason, "reason")
    _move_earnings(payout, JournalKind.MANUAL_PAYOUT, reason, actor, reference=reference)


@transaction.atomic
def keep_earnings(*, payout: VendorPayout, reason: str, actor: User) -> None:
    """Keep the earnings of a former vendor: all that the account holds becomes the marketplace's.

    Raises:
        InvalidTransition: it did not bounce, runs still pay the vendor, or nothing is left.
        InvalidInput: no reason.
        SelfReview: the actor is the vendor.
        NotFound: there is no such payout.
    """
    _move_earnings(payout, JournalKind.KEPT_EARNINGS, texts.clean_text(reason, "reason"), actor)


def _move_earnings(payout: VendorPayout, kind: JournalKind, reason: str, actor: User, *, reference: str = "") -> None:
    payout = lock_for_decision(vendor_payouts(), pk=payout.pk, owner="account.owner_id", actor=actor)
    if not can_be_settled_by_hand(payout=payout):
        raise InvalidTransition("It did not bounce, or runs still pay its vendor.")
    account = lock(LedgerAccount.objects.filter(kind=AccountKind.VENDOR), pk=payout.account_id)
    amount = unpaid_earnings(account.pk)
    if amount < 1:
        raise InvalidTransition("Nothing of the earnings is left.")
    to = AccountKind.PAYOUT if kind == JournalKind.MANUAL_PAYOUT else AccountKind.COMMISSION
    write_journal(
        kind=kind,
        transfers=[NewTransfer(account.pk, open_account(account.currency, to, None), amount)],
        currency=account.currency,
        reason=reason,
        actor=actor,
        vendor_entry=VendorEntry(account.pk, -amount),
    )
    verb = "pay" if kind == JournalKind.MANUAL_PAYOUT else "keep"
    facts: dict[str, Any] = {"reference": reference} if reference else {}
    audit.record(f"former_vendor.{verb}", payout, actor=actor, reason=reason, currency=account.currency, amountMinor=amount, **facts)
    vendor = account.owner
    if vendor is not None and not vendor.deleted:
        context: dict[str, Any] = {"amount_minor": amount, "currency": account.currency, "reason": reason, "reference": reference}
        mail(vendor, "wallet/former_vendor_settled", store=vendor.store, **context)
