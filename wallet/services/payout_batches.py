"""Prepares the payouts of a batch for many vendors at once."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from marketplace.accounts.models import User
from marketplace.core.money import Currency
from vendors.bounds import PAYOUT_WAIT
from vendors.models import PayoutDetails, VendorProfile, VendorStatus
from vendors.services.payout_details import bank_account_of, is_readable

from ..models import LedgerAccount, PayoutBatch, VendorPayout
from ..selectors import accounts_due
from .due_payouts import SkippedPayout
from .vendor_payouts import prepare_payout

# The most vendors that one call of `prepare_batch` handles.
PREPARED_AT_ONCE = 200


@dataclass(frozen=True)
class PreparedBatch:
    """The result of preparing a batch.

    Args:
        prepared: The number of payouts that were prepared.
        skipped: The accounts that were handled and are not paid, and why.
        remaining: The number of accounts that can be paid and were not handled.
    """

    prepared: int
    skipped: list[tuple[LedgerAccount, SkippedPayout]]
    remaining: int


def prepare_batch(*, batch: PayoutBatch, minimum_minor: int, actor: User | None) -> PreparedBatch:
    """Prepare the payouts of up to `PREPARED_AT_ONCE` vendors, first of those who can be paid; repeat it while any of them remain.

    Each is prepared in a transaction of its own.

    Raises:
        InvalidTransition: the batch is exported or cancelled.
    """
    prepared_before = VendorPayout.objects.filter(batch=batch).values("account")
    due = accounts_due(currency=batch.currency, minimum_minor=minimum_minor).exclude(pk__in=prepared_before)
    prepared, skipped = 0, []
    vendors = VendorProfile.objects.filter(user=OuterRef("owner"), user__is_active=True, status=VendorStatus.APPROVED, payouts_held_at=None)
    bank_accounts = PayoutDetails.objects.filter(profile__user=OuterRef("owner"), currency=batch.currency, withdrawn_at=None)
    # The newest one applies, so that no other matters while it is too new.
    too_new = bank_accounts.filter(created_at__gt=Now() - PAYOUT_WAIT)
    reached = ~Q(owner__in=_unreachable_vendors(batch, due))
    due = due.annotate(payable=Exists(vendors) & Exists(bank_accounts) & ~Exists(too_new) & reached)
    remaining = max(due.filter(payable=True).count() - PREPARED_AT_ONCE, 0)
    for account in due.order_by("-payable", "owner__store__slug")[:PREPARED_AT_ONCE]:
        outcome = prepare_payout(account=account, batch=batch, minimum_minor=minimum_minor, actor=actor)
        if isinstance(outcome, SkippedPayout):
            skipped.append((account, outcome))
        else:
            prepared += 1
    return PreparedBatch(prepared, skipped, remaining)


def _unreachable_vendors(batch: PayoutBatch, due: QuerySet[Any]) -> list[uuid.UUID]:
    """Return the vendors to whose bank account no transfer of a batch can be made: it is not readable, or outside of the area that SEPA transfers reach."""
    rows = PayoutDetails.objects.filter(profile__user__in=due.order_by().values("owner"), currency=batch.currency, withdrawn_at=None)
    # Of each vendor the newest one.
    applicable = {details.profile.user_id: details for details in rows.select_related("profile").order_by("created_at", "id")}
    in_euros = batch.transfer_currency == Currency.EUR
    return [
        vendor_id
        for vendor_id, details in applicable.items()
        if not is_readable(details=details) or (in_euros and not bank_account_of(details=details).in_sepa_area)
    ]
