"""Payouts to vendors: a batch is prepared, exported for the bank, and each of its payouts recorded as paid or bounced.

Preparing takes the earnings out of the vendor's balance; a payout that bounces or is cancelled returns them by a new journal.
Locks are always taken in this order: batch, payout, account.
"""

import re
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from marketplace.accounts.models import MailTopic, User
from marketplace.core import audit, texts
from marketplace.core.database import violates
from marketplace.core.errors import InvalidTransition, SelfReview
from marketplace.core.money import Currency
from marketplace.core.transitions import TransitionTable, lock, lock_for_decision
from marketplace.ui.mail import mail
from vendors.models import PayoutDetails

from .. import bounds
from ..errors import PayoutBatchOpen
from ..models import LedgerAccount, PayoutBatch, VendorPayout
from ..models.ledger import AccountKind, JournalKind
from ..models.vendor_payouts import BatchStatus, PayoutStatus
from ..payout_files import BankFile, bank_file
from ..selectors import unpaid_earnings, vendor_payouts
from .due_payouts import SkippedPayout, SkippedReason, due_payout, refusal_of
from .ledger import NewTransfer, VendorEntry, open_account, write_journal

_RUN = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{bounds.PAYOUT_RUN_CHARS - 1}}}")
# EUR for one unit of the earnings' currency: no currency is worth so much. A rate for US dollars entered in per cent is above it.
MAXIMUM_RATE = 10
_PREPARED = {PayoutStatus.PREPARED.value}
_EXPORTED = {PayoutStatus.EXPORTED.value}
BATCH_TRANSITIONS = TransitionTable(
    "payout_batch",
    {
        "export": ({BatchStatus.PREPARED.value}, BatchStatus.EXPORTED.value),
        "cancel": ({BatchStatus.PREPARED.value}, BatchStatus.CANCELLED.value),
    },
)
# Banks return transfers days after they made them, so a payout that is paid may still bounce.
VENDOR_PAYOUT_TRANSITIONS = TransitionTable(
    "payout",
    {
        "export": (_PREPARED, PayoutStatus.EXPORTED.value),
        "pay": (_EXPORTED, PayoutStatus.PAID.value),
        "bounce": ({PayoutStatus.EXPORTED.value, PayoutStatus.PAID.value}, PayoutStatus.BOUNCED.value),
        "cancel": (_PREPARED, PayoutStatus.CANCELLED.value),
    },
)


def check_run(*, run: str) -> None:
    """Check the name of a run.

    Raises:
        InvalidInput: it is not a valid name.
    """
    if not _RUN.fullmatch(run):
        sentence = f"Letters, digits, dots, underscores and hyphens, at most {bounds.PAYOUT_RUN_CHARS}, such as 2026-11."
        raise texts.invalid("run", "invalid", sentence)


def new_batch(*, run: str, currency: str, euro_rate: Decimal | None = None) -> PayoutBatch:
    """Return the batch of a new run, unsaved.

    With a `euro_rate` it pays in EUR; the rate is how many EUR one unit of the earnings' currency is worth.

    Raises:
        InvalidInput: not a valid name of a run, or not a valid rate.
    """
    check_run(run=run)
    if euro_rate is not None and not (euro_rate.is_finite() and 0 < euro_rate < MAXIMUM_RATE and euro_rate == round(euro_rate, 6)):
        raise texts.invalid("rate", "invalid", f"A number above 0 and below {MAXIMUM_RATE}, with at most six decimals.")
    return PayoutBatch(run=run, currency=currency, transfer_currency=currency if euro_rate is None else Currency.EUR.value, rate=euro_rate)


@transaction.atomic
def open_batch(*, run: str, currency: str, actor: User | None, euro_rate: Decimal | None = None) -> PayoutBatch:
    """Return the batch of a run that is being prepared, creating it as `new_batch` does if it does not exist.

    Raises:
        InvalidInput: as of `new_batch`.
        InvalidTransition: the run was exported or cancelled already, or pays in another currency or at another rate.
        PayoutBatchOpen: another run in this currency is being prepared.
    """
    new = new_batch(run=run, currency=currency, euro_rate=euro_rate)
    batch = PayoutBatch.objects.filter(run=run, currency=currency).first()
    if batch is None:
        try:
            with transaction.atomic():
                new.save()
                batch = new
                audit.record("payout_batch.open", batch, actor=actor, run=run, currency=currency, rate=str(euro_rate or ""))
        except IntegrityError as error:
            if not violates(error, PayoutBatch, "payoutbatch_one_open") and not violates(error, PayoutBatch, "payoutbatch_once_in_run"):
                raise
            batch = PayoutBatch.objects.filter(currency=currency, status=BatchStatus.PREPARED).first()
            if batch is None or batch.run != run:
                other = "" if batch is None else batch.run
                raise PayoutBatchOpen(other and f"Export or cancel run {other} first.", run=other) from error
    if batch.status != BatchStatus.PREPARED:
        raise InvalidTransition(f"Run {run} in {currency} is {batch.status} already; a new run needs a new name.")
    if (batch.transfer_currency, batch.rate) != (new.transfer_currency, euro_rate):
        raise InvalidTransition(f"Run {run} was begun with other terms: cancel it, then begin a new one.")
    return batch


@transaction.atomic
def prepare_payout(*, account: LedgerAccount, batch: PayoutBatch, minimum_minor: int, actor: User | None) -> VendorPayout | SkippedPayout:
    """Take a vendor's earnings out of the balance, to be paid in this batch. A batch pays an account once, even if this is repeated.

    Concurrent calls lock the batch and the account, so that nothing is paid twice. Sales do not wait.

    Raises:
        InvalidTransition: the batch is exported or cancelled.
        NotFound: not a vendor's account in this currency.
    """
    batch = lock(PayoutBatch.objects.all(), pk=batch.pk)
    account = lock(LedgerAccount.objects.filter(kind=AccountKind.VENDOR, currency=batch.currency), pk=account.pk)
    if batch.status != BatchStatus.PREPARED:
        raise InvalidTransition(f"It is {batch.status} already.")
    existing = vendor_payouts().filter(batch=batch, account=account).first()
    if existing is not None:
        return existing
    due = due_payout(account=account, batch=batch, minimum_minor=minimum_minor)
    if isinstance(due, SkippedPayout):
        return due
    journal_id = write_journal(
        kind=JournalKind.PAYOUT,
        transfers=[NewTransfer(account.pk, open_account(account.currency, AccountKind.PAYOUT, None), due.amount_minor)],
        currency=account.currency,
        reason=f"payout run {batch.run}",
        actor=actor,
        vendor_entry=VendorEntry(account.pk, -due.amount_minor),
    )
    payout = VendorPayout.objects.create(batch=batch, account=account, journal_id=journal_id, details=due.details)
    audit.record("payout.prepare", payout, actor=actor, run=batch.run, currency=account.currency, amountMinor=due.amount_minor)
    return vendor_payouts().get(pk=payout.pk)


@transaction.atomic
def export_batch(*, batch: PayoutBatch, actor: User | None) -> PayoutBatch:
    """Close a batch for the bank. Payouts that can no longer be made are cancelled, such as one to an account that was withdrawn.

    A payout that exceeds what the vendor has earned by now, because sales were refunded since it was prepared, is cancelled too: the next
    run pays what is left.

    Raises:
        InvalidTransition: it was exported or cancelled before, or no payout is left.
        NotFound: there is none.
    """
    batch = lock(PayoutBatch.objects.all(), pk=batch.pk)
    BATCH_TRANSITIONS.apply(batch, "export", actor=actor, changes={"exported_at": timezone.now(), "exported_by": actor})
    exported = 0
    for payout in _lock_payouts(batch, PayoutStatus.PREPARED):
        refusal = refusal_of(profile=payout.details.profile, details=payout.details)
        if refusal is None and unpaid_earnings(payout.account_id) < 0:
            refusal = SkippedReason.REFUNDED
        if refusal is None:
            VENDOR_PAYOUT_TRANSITIONS.apply(payout, "export", actor=actor)
            exported += 1
        else:
            _give_back(payout, "cancel", reason=refusal.label, actor=actor)
    if not exported:
        raise InvalidTransition("None of its payouts can be made; cancel the batch.")
    return batch


@transaction.atomic
def download_bank_file(*, batch: PayoutBatch, actor: User | None) -> BankFile:
    """Return the file of an exported batch for the bank, and record who got it.

    Raises:
        InvalidTransition: as of `bank_file`.
    """
    file = bank_file(batch=batch)
    audit.record("payout_batch.download", batch, actor=actor)
    return file


@transaction.atomic
def cancel_batch(*, batch: PayoutBatch, reason: str, actor: User | None) -> PayoutBatch:
    """Cancel a batch before it is exported, and return the amounts to the vendors' balances.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: it was exported or cancelled before.
        SelfReview: one of its payouts is the actor's.
        NotFound: there is none.
    """
    reason = texts.clean_text(reason, "reason")
    batch = lock(PayoutBatch.objects.all(), pk=batch.pk)
    BATCH_TRANSITIONS.apply(batch, "cancel", actor=actor, reason=reason)
    for payout in _lock_payouts_for_decision(batch, PayoutStatus.PREPARED, actor):
        _give_back(payout, "cancel", reason=reason, actor=actor)
    return batch


@transaction.atomic
def mark_batch_paid(*, batch: PayoutBatch, actor: User | None) -> int:
    """Record that the bank made all transfers of a batch that were not recorded yet; return their number.

    Raises:
        InvalidTransition: there are none.
        SelfReview: one of them is the actor's.
        NotFound: there is no such batch.
    """
    batch = lock(PayoutBatch.objects.all(), pk=batch.pk)
    paid = [_pay(payout, actor) for payout in _lock_payouts_for_decision(batch, PayoutStatus.EXPORTED, actor)]
    if not paid:
        raise InvalidTransition("No payout of it waits to be recorded as paid.")
    return len(paid)


@transaction.atomic
def mark_payout_paid(*, payout: VendorPayout, actor: User | None) -> VendorPayout:
    """Record that the bank made a transfer, and tell the vendor.

    Raises:
        InvalidTransition: it is not exported, or recorded already.
        SelfReview: the actor is the vendor.
        NotFound: there is none.
    """
    return _pay(_lock_payout(payout, actor), actor)


@transaction.atomic
def bounce_payout(*, payout: VendorPayout, reason: str, actor: User | None) -> VendorPayout:
    """Record that the bank returned a transfer: return the amount to the vendor's balance, and mail the reason.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: it is not exported, or returned already.
        SelfReview: the actor is the vendor.
        NotFound: there is none.
    """
    reason = texts.clean_text(reason, "reason")
    payout = _give_back(_lock_payout(payout, actor), "bounce", reason=reason, actor=actor)
    _notify(payout, "wallet/payout_bounced")
    return payout


@transaction.atomic
def cancel_payout(*, payout: VendorPayout, reason: str, actor: User | None) -> VendorPayout:
    """Cancel a payout whose batch is not exported yet; this run does not pay the vendor any more. The amount is in the balance again.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: it is exported or cancelled already.
        SelfReview: the actor is the vendor.
        NotFound: there is none.
    """
    reason = texts.clean_text(reason, "reason")
    return _give_back(_lock_payout(payout, actor), "cancel", reason=reason, actor=actor)


def expired_bank_accounts() -> QuerySet[PayoutDetails]:
    """Return the bank accounts that were replaced or withdrawn long ago, and that no payout needs any more."""
    long_ago = Now() - bounds.BANK_DETAILS_AGE
    newer = PayoutDetails.objects.filter(
        profile=OuterRef("profile"), currency=OuterRef("currency"), withdrawn_at__isnull=True, created_at__gt=OuterRef("created_at")
    )
    needed = VendorPayout.objects.filter(details=OuterRef("pk")).filter(
        Q(status__in=(PayoutStatus.PREPARED, PayoutStatus.EXPORTED)) | Q(settled_at__gt=long_ago)
    )
    replaced = Exists(newer.filter(created_at__lte=long_ago)) | Q(withdrawn_at__lte=long_ago)
    return PayoutDetails.objects.filter(replaced, ~Exists(needed)).exclude(encrypted="")


def _lock_payout(payout: VendorPayout, actor: User | None) -> VendorPayout:
    """Return the locked payout; staff may not decide on their own."""
    if actor is None:
        return lock(vendor_payouts(), pk=payout.pk)
    return lock_for_decision(vendor_payouts(), pk=payout.pk, owner="account.owner_id", actor=actor)


def _lock_payouts(batch: PayoutBatch, status: PayoutStatus) -> list[VendorPayout]:
    rows = vendor_payouts().filter(batch=batch, status=status).select_related("details__profile__user")
    return list(rows.select_for_update(of=("self",), no_key=True).order_by("id"))


def _lock_payouts_for_decision(batch: PayoutBatch, status: PayoutStatus, actor: User | None) -> list[VendorPayout]:
    rows = _lock_payouts(batch, status)
    if actor is not None and any(payout.account.owner_id == actor.pk for payout in rows):
        raise SelfReview("One of its payouts is yours: someone else must decide on the batch.")
    return rows


def _pay(payout: VendorPayout, actor: User | None) -> VendorPayout:
    VENDOR_PAYOUT_TRANSITIONS.apply(payout, "pay", actor=actor, changes={"settled_at": timezone.now()})
    _notify(payout, "wallet/paid_out", MailTopic.PAYOUT)
    return payout


def _give_back(payout: VendorPayout, verb: str, *, reason: str, actor: User | None) -> VendorPayout:
    """Return the amount of a locked payout to the vendor's balance."""
    if not VENDOR_PAYOUT_TRANSITIONS.allows(payout, verb):
        raise InvalidTransition(f"It is {payout.status}.")
    payout_account_id = open_account(payout.account.currency, AccountKind.PAYOUT, None)
    return_journal_id = write_journal(
        kind=JournalKind.PAYOUT_RETURN,
        transfers=[NewTransfer(payout_account_id, payout.account_id, payout.amount_minor)],
        currency=payout.account.currency,
        reason=reason,
        actor=actor,
        undoes_id=payout.journal_id,
        vendor_entry=VendorEntry(payout.account_id, payout.amount_minor),
    )
    changes = {"return_journal_id": return_journal_id, "reason": reason, "settled_at": timezone.now()}
    VENDOR_PAYOUT_TRANSITIONS.apply(payout, verb, actor=actor, reason=reason, changes=changes)
    return payout


def _notify(payout: VendorPayout, template: str, topic: str = "") -> None:
    """Mail the vendor; the bank account is shortened in mails."""
    vendor = payout.account.owner
    if vendor is not None and not vendor.deleted:
        facts: dict[str, Any] = {"payout": payout, "amount_minor": payout.amount_minor, "currency": payout.account.currency}
        mail(vendor, template, topic=topic, store=vendor.store, **facts)
