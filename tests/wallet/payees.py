"""Vendors who can be paid."""

from tests.vendors.cases import make_vendor
from vendors.models import VendorProfile, VendorStatus


def payee(status: VendorStatus = VendorStatus.APPROVED, payout_method: str | None = "IBAN DE02 1203") -> VendorProfile:
    """Return a vendor with a way to be paid."""
    profile = make_vendor(status)
    profile.payout_method = payout_method
    profile.save()
    return profile
