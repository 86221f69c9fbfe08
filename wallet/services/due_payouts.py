"""The payout of a vendor that is due now, and the next one for the vendor's pages."""

import calendar
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from marketplace.core.money import Currency
from vendors.bounds import PAYOUT_WAIT
from vendors.models import PayoutDetails, VendorProfile, VendorStatus
from vendors.selectors import has_waited, payout_details_of
from vendors.services.payout_details import bank_account_of, is_readable

from ..models import LedgerAccount, PayoutBatch
from ..models.quotes import CURRENCIES
from ..selectors import unpaid_earnings


class SkippedReason(models.TextChoices):
    """The reasons for which earnings are not paid out."""

    BELOW_MINIMUM = "below_minimum", "less than the minimum"
    NO_PROFILE = "no_vendor_profile", "there is no vendor profile"
    INACTIVE = "account_deactivated", "the vendor's account is deactivated"
    NOT_APPROVED = "vendor_not_approved", "the vendor is not approved"
    HELD = "payouts_held", "the vendor's payouts are held"
    NO_BANK_ACCOUNT = "no_bank_account", "there is no bank account"
    NEW_BANK_ACCOUNT = "new_bank_account", "the bank account is too new"
    OUTSIDE_SEPA = "outside_sepa", "the bank account is outside of the SEPA area"
    REFUNDED = "refunded", "sales were refunded after it was prepared; the next run pays what is left"


@dataclass(frozen=True)
class SkippedPayout:
    """Earnings that are not paid out, and the reason."""

    amount_minor: int
    reason: SkippedReason


@dataclass(frozen=True)
class DuePayout:
    """Earnings that can be paid out, and the bank account."""

    amount_minor: int
    details: PayoutDetails


def due_payout(*, account: LedgerAccount, batch: PayoutBatch, minimum_minor: int) -> DuePayout | SkippedPayout:
    """Return what a batch, which need not be saved, can pay out of a vendor's account now."""
    amount = unpaid_earnings(account.pk)
    profile = VendorProfile.objects.select_related("user").filter(user=account.owner_id).first()
    if profile is None:
        return SkippedPayout(amount, SkippedReason.NO_PROFILE)
    due = _due(amount, minimum_minor, profile, payout_details_of(profile).get(account.currency))
    if isinstance(due, SkippedPayout):
        return due
    if batch.transfer_minor(amount) < 1:
        return SkippedPayout(amount, SkippedReason.BELOW_MINIMUM)
    if batch.transfer_currency == Currency.EUR and not bank_account_of(details=due.details).in_sepa_area:
        return SkippedPayout(amount, SkippedReason.OUTSIDE_SEPA)
    return due


def _due(amount: int, minimum: int, profile: VendorProfile, details: PayoutDetails | None) -> DuePayout | SkippedPayout:
    if amount < max(minimum, 1):
        return SkippedPayout(amount, SkippedReason.BELOW_MINIMUM)
    refusal = refusal_of(profile=profile, details=details)
    if details is None or refusal is not None:
        return SkippedPayout(amount, refusal or SkippedReason.NO_BANK_ACCOUNT)
    return DuePayout(amount, details)


def refusal_of(*, profile: VendorProfile, details: PayoutDetails | None) -> SkippedReason | None:
    """Return why nothing is paid to a vendor's bank account, None if it can be paid."""
    if not profile.user.is_active:
        return SkippedReason.INACTIVE
    if profile.status != VendorStatus.APPROVED:
        return SkippedReason.NOT_APPROVED
    if profile.payouts_held_at is not None:
        return SkippedReason.HELD
    if details is None or details.withdrawn_at is not None or not is_readable(details=details):
        return SkippedReason.NO_BANK_ACCOUNT
    return None if has_waited(details) else SkippedReason.NEW_BANK_ACCOUNT


@dataclass(frozen=True)
class NextPayout:
    """The next payout of a vendor in one currency.

    Args:
        currency: The currency of the earnings.
        amount_minor: The earnings that are not paid out.
        label: The shortened bank account; empty without one.
        on: The day of the first run that can pay it.
        reason: Why it is not paid; empty if it is.
        minimum_minor: The smallest amount that is paid.
    """

    currency: str
    amount_minor: int
    label: str
    on: dt.date
    reason: str
    minimum_minor: int


def next_payouts(*, profile: VendorProfile, accounts: Sequence[Any]) -> list[NextPayout]:
    """Return the vendor's next payout in each currency: when, how much, and why not; `accounts` are those of `earnings_of`."""
    earned, applicable = {account.currency: account.unpaid_minor for account in accounts}, payout_details_of(profile)
    minimum, now = settings.PAYOUT_MINIMUM * 100, timezone.now()
    found = []
    for currency in CURRENCIES:
        details = applicable.get(currency)
        due = _due(earned.get(currency, 0), minimum, profile, details)
        reason = due.reason.value if isinstance(due, SkippedPayout) else ""
        waits = details is not None and reason == SkippedReason.NEW_BANK_ACCOUNT
        on = next_run(after=details.created_at + PAYOUT_WAIT if details is not None and waits else now)
        label = "" if details is None else details.label
        found.append(NextPayout(currency, due.amount_minor, label, on, reason, minimum))
    return found


def next_run(*, after: dt.datetime) -> dt.date:
    """Return the day of the first run after a time, by `settings.PAYOUT_DAY`; the last day of a shorter month."""
    month = after.date().replace(day=1)
    while (day := month.replace(day=min(settings.PAYOUT_DAY, calendar.monthrange(month.year, month.month)[1]))) <= after.date():
        month += dt.timedelta(days=31)
    return day
