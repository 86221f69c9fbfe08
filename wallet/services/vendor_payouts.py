"""Payouts to vendors: one journal for each vendor, currency and run."""

import re
from dataclasses import dataclass

from django.db import transaction

from marketplace.accounts.models import User
from marketplace.core import audit
from marketplace.core.errors import InvalidInput
from marketplace.core.transitions import lock
from marketplace.ui.mail import mail
from vendors.models import VendorProfile, VendorStatus

from .. import bounds
from ..models import LedgerAccount, VendorPayout
from ..models.ledger import AccountKind, JournalKind
from ..selectors import with_earnings
from .ledger import Leg, VendorEntry, open_accounts, write_journal

_RUN = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{bounds.PAYOUT_RUN_CHARS - 1}}}")


@dataclass(frozen=True)
class WithheldPayout:
    """Earnings that are not paid, and the reason."""

    amount_minor: int
    why: str


@dataclass(frozen=True)
class DuePayout:
    """Earnings to be paid, and the payout method."""

    amount_minor: int
    payout_method: str


def check_run(*, run: str) -> None:
    """Check the name of a run.

    Raises:
        InvalidInput: it is not a valid name.
    """
    if not _RUN.fullmatch(run):
        sentence = f"Letters, digits, dots, underscores and hyphens, at most {bounds.PAYOUT_RUN_CHARS}, such as 2026-11."
        raise InvalidInput(sentence, errors=[{"pointer": "run", "code": "invalid", "detail": sentence}])


def due_payouts(*, account: LedgerAccount, run: str, minimum_minor: int) -> VendorPayout | DuePayout | WithheldPayout:
    """Return what a run would pay to a vendor's account, or the payout that it has made already."""
    paid = VendorPayout.objects.filter(run=run, account=account).first()
    if paid is not None:
        return paid
    amount = with_earnings(LedgerAccount.objects.filter(pk=account.pk)).get().earned_minor
    profile = VendorProfile.objects.filter(user=account.owner_id).first()
    if amount < max(minimum_minor, 1):
        return WithheldPayout(amount, "less than the minimum")
    if profile is None:
        return WithheldPayout(amount, "there is no vendor profile")
    if profile.status != VendorStatus.APPROVED:
        return WithheldPayout(amount, f"the vendor is {profile.status}")
    return DuePayout(amount, profile.payout_method) if profile.payout_method else WithheldPayout(amount, "no payout method is set")


@transaction.atomic
def pay_out(*, account: LedgerAccount, run: str, minimum_minor: int) -> VendorPayout | WithheldPayout:
    """Record a payout of a vendor's earnings. A run pays an account once, even if it is repeated.

    Concurrent runs lock the account, so that nothing is paid twice. Sales do not wait.

    Args:
        account: A vendor's account.
        run: The name of the run, such as 2026-11.
        minimum_minor: The smallest amount that is paid.

    Raises:
        InvalidInput: not a valid name of a run.
        NotFound: not a vendor's account.
    """
    check_run(run=run)
    account = lock(LedgerAccount.objects.filter(kind=AccountKind.VENDOR), pk=account.pk)
    due = due_payouts(account=account, run=run, minimum_minor=minimum_minor)
    if not isinstance(due, DuePayout):
        return due
    accounts = open_accounts(account.currency, {AccountKind.PAYOUT: None})
    legs = [Leg(account.pk, accounts[AccountKind.PAYOUT], due.amount_minor)]
    reason = f"payout run {run}"
    journal_id = write_journal(
        kind=JournalKind.PAYOUT,
        legs=legs,
        currency=account.currency,
        reason=reason,
        actor_id=None,
        vendor=VendorEntry(account.pk, -due.amount_minor),
    )
    payout = VendorPayout.objects.create(run=run, account=account, journal_id=journal_id, payout_method=due.payout_method)
    audit.record("payout.make", payout, actor=None, run=run, currency=account.currency, amountMinor=due.amount_minor)
    _notify(payout, due.amount_minor)
    return payout


def _notify(payout: VendorPayout, amount_minor: int) -> None:
    vendor = User.objects.select_related("store").get(ledger_accounts=payout.account)
    facts = {"payout": payout, "run": payout.run, "amount_minor": amount_minor, "currency": payout.account.currency}
    mail(vendor, "wallet/paid_out", store=vendor.store, **facts)
