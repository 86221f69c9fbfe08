"""Vendors who can be paid, their earnings, and their payouts."""

from datetime import timedelta
from typing import Any
from unittest.mock import patch

from django.db.models import F

from marketplace.accounts.models import User
from marketplace.core.money import WALLET_CURRENCIES
from tests.shop import bought, funded, on_sale
from tests.vendors.cases import make_vendor
from vendors.models import PayoutDetails, VendorProfile, VendorStatus
from vendors.services.payout_details import change_payout_details
from wallet.models import LedgerAccount, VendorPayout
from wallet.selectors import earnings_of, vendor_accounts
from wallet.services.due_payouts import SkippedPayout
from wallet.services.vendor_payouts import export_batch, mark_payout_paid, open_batch, prepare_payout

IBAN, BIC = "DE89370400440532013000", "COBADEFFXXX"
NUMBER, IFSC = "000123456789", "SBIN0000300"
ACCOUNTS = {"USD": {"number": IBAN, "bank": BIC}, "INR": {"number": NUMBER, "bank": IFSC}}
HOLDER = "Asha Rao"


def payee(status: VendorStatus = VendorStatus.APPROVED) -> VendorProfile:
    """Return a vendor with bank accounts that are old enough."""
    profile = make_vendor()
    for currency in WALLET_CURRENCIES:
        with patch("vendors.services.payout_details.mail"):
            changed_bank_account(profile, currency)
    end_waiting_time(profile)
    VendorProfile.objects.filter(pk=profile.pk).update(status=status)
    profile.refresh_from_db()
    return profile


def changed_bank_account(profile: VendorProfile, currency: str = "USD", **account: Any) -> PayoutDetails:
    given: dict[str, Any] = {"holder": HOLDER, **ACCOUNTS[currency], "actor": profile.user, "password_confirmed": True, **account}
    return change_payout_details(profile=profile, currency=currency, **given)


def end_waiting_time(profile: VendorProfile, hours: float = 73) -> None:
    PayoutDetails.objects.filter(profile=profile).update(created_at=F("created_at") - timedelta(hours=hours))


def earned(user: User) -> dict[str, int]:
    """Return what a vendor has earned and not been paid, in each currency."""
    held = {account.currency: account.unpaid_minor for account in earnings_of(user)}
    return {code.value: held.get(code, 0) for code in WALLET_CURRENCIES}


def account_of(profile: VendorProfile, currency: str = "INR") -> LedgerAccount:
    return vendor_accounts(currency=currency).get(owner=profile.user_id)


def earning(currency: str = "INR") -> LedgerAccount:
    """Return the account of a vendor who has sold something."""
    profile = payee()
    bought(on_sale(store=profile.store), funded(inr=49_900, usd=10_000), currency=currency)
    return account_of(profile, currency)


def prepared_payout(account: LedgerAccount, run: str = "a", minimum_minor: int = 1, **terms: Any) -> VendorPayout | SkippedPayout:
    batch = open_batch(run=run, currency=account.currency, actor=None, **terms)
    return prepare_payout(account=account, batch=batch, minimum_minor=minimum_minor, actor=None)


def payout_of(account: LedgerAccount, run: str = "a", minimum_minor: int = 1, **terms: Any) -> VendorPayout:
    payout = prepared_payout(account, run, minimum_minor, **terms)
    assert isinstance(payout, VendorPayout)
    return payout


def skipped(account: LedgerAccount, run: str = "a", minimum_minor: int = 1, **terms: Any) -> SkippedPayout:
    kept = prepared_payout(account, run, minimum_minor, **terms)
    assert isinstance(kept, SkippedPayout)
    return kept


def exported_payout(account: LedgerAccount, run: str = "a", **terms: Any) -> VendorPayout:
    payout = payout_of(account, run, **terms)
    export_batch(batch=payout.batch, actor=None)
    payout.refresh_from_db()
    return payout


def paid_payout(account: LedgerAccount, run: str = "a") -> VendorPayout:
    return mark_payout_paid(payout=exported_payout(account, run), actor=None)
