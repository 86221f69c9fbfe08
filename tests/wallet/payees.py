"""Vendors who can be paid, and what they are owed."""

from marketplace.accounts.models import User
from marketplace.core.money import WALLET_CURRENCIES
from tests.vendors.cases import make_vendor
from vendors.models import VendorProfile, VendorStatus
from wallet.selectors import earnings_of


def payee(status: VendorStatus = VendorStatus.APPROVED, payout_method: str | None = "IBAN DE02 1203") -> VendorProfile:
    """Return a vendor with a way to be paid."""
    profile = make_vendor(status)
    profile.payout_method = payout_method
    profile.save()
    return profile


def earned(user: User) -> dict[str, int]:
    """Return what a vendor has earned and not been paid, in each currency."""
    held = {account.currency: account.earned_minor for account in earnings_of(user)}
    return {code.value: held.get(code, 0) for code in WALLET_CURRENCIES}
