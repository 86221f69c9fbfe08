"""A payout that bounces after its vendor left is paid in another way, or kept."""

import pytest

from marketplace.accounts.services import delete_account
from marketplace.core.errors import InvalidInput, InvalidTransition
from marketplace.core.models import AuditEntry
from tests.eager import sent_mails
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from vendors.models import VendorProfile, VendorStatus
from wallet import bounds
from wallet.admin import VendorPayoutAdmin
from wallet.models import Journal, VendorPayout
from wallet.services.former_vendors import keep_earnings, pay_former_vendor
from wallet.services.vendor_payouts import bounce_payout

from .payees import account_of, earned, paid_payout, payee
from .test_disputes import accounts

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("digested_books_agree")]
SHARE = 39_920


def sold_and_paid() -> VendorPayout:
    profile = payee()
    bought(on_sale(store=profile.store), funded(inr=49_900))
    return paid_payout(account_of(profile))


def test_payout_that_bounces_after_the_account_was_deleted_is_paid_by_hand_once_with_reference_and_reason() -> None:
    payout, staff = sold_and_paid(), UserFactory()
    vendor = payout.account.owner
    assert vendor is not None
    vendor.store.listings.update(status="Draft")
    delete_account(user=vendor, reason="test", actor=None)
    payout = bounce_payout(payout=payout, reason="account closed", actor=None)
    for settle in (VendorPayoutAdmin.pay_former_vendor, VendorPayoutAdmin.keep_earnings):
        assert "All earnings in the vendor's account, ₹399.20" in settle.decision.effects(payout)[0]
    for reference, reason in ((" ", "test"), ("x" * (bounds.PAYMENT_REFERENCE_CHARS + 1), "test"), ("UTR 1", " ")):
        with pytest.raises(InvalidInput):
            pay_former_vendor(payout=payout, reference=reference, reason=reason, actor=staff)
    assert earned(vendor)["INR"] == SHARE
    pay_former_vendor(payout=payout, reference="UTR 7781", reason="passport seen", actor=staff)
    assert (Journal.objects.get(kind="manual_payout").vendor_net_minor, accounts("payout")) == (-SHARE, SHARE)
    assert earned(vendor)["INR"] == 0
    entry = AuditEntry.objects.get(action="former_vendor.pay")
    assert (entry.actor, entry.reason, entry.data["reference"]) == (staff, "passport seen", "UTR 7781")
    with pytest.raises(InvalidTransition):
        pay_former_vendor(payout=payout, reference="UTR 7782", reason="again", actor=staff)
    with pytest.raises(InvalidTransition):
        keep_earnings(payout=payout, reason="again", actor=staff)


def test_earnings_of_a_payout_that_bounced_can_be_retained_while_the_vendor_is_suspended_and_the_vendor_is_mailed() -> None:
    payout = sold_and_paid()
    vendor = payout.account.owner
    assert vendor is not None
    VendorProfile.objects.update(status=VendorStatus.SUSPENDED)
    with pytest.raises(InvalidTransition, match="did not bounce"):
        keep_earnings(payout=payout, reason="stolen goods", actor=UserFactory())
    payout = bounce_payout(payout=payout, reason="account closed", actor=None)
    VendorProfile.objects.update(status=VendorStatus.APPROVED)
    with pytest.raises(InvalidTransition):
        keep_earnings(payout=payout, reason="stolen goods", actor=UserFactory())
    assert earned(vendor)["INR"] == SHARE
    VendorProfile.objects.update(status=VendorStatus.SUSPENDED)
    before = accounts("commission")
    keep_earnings(payout=payout, reason="stolen goods", actor=UserFactory())
    assert accounts("commission") == before + SHARE
    assert any("stolen goods" in message.body for message in sent_mails() if message.to == [vendor.email])
