"""A payout that bounces after its vendor left is paid in another way, or kept."""

import pytest
from django.core import mail as outbox
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from marketplace.accounts.services import delete_account
from marketplace.core.errors import InvalidTransition, Problem
from marketplace.core.models import AuditEntry
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from vendors.models import VendorProfile, VendorStatus
from wallet.admin.effects import kept_earnings_effects, manual_payout_effects
from wallet.models import Journal, LedgerAccount, VendorPayout
from wallet.reconciliation import differences
from wallet.selectors import with_ledger_balance
from wallet.services.digests import digest_ledger
from wallet.services.former_vendors import keep_earnings, pay_former_vendor
from wallet.services.vendor_payouts import bounce_payout

from .payees import account_of, earned, paid_payout, payee

pytestmark = [pytest.mark.django_db, pytest.mark.database]
SHARE = 39_920


def sold_and_paid() -> VendorPayout:
    """Return a payout that the bank made."""
    profile = payee()
    bought(on_sale(store=profile.store), funded(inr=49_900))
    return paid_payout(account_of(profile))


def platforms(kind: str) -> int:
    """Return the sum of the entries of an account of the platform."""
    return sum(account.transfers_minor for account in with_ledger_balance(LedgerAccount.objects.filter(kind=kind)))


def owed_to(payout: VendorPayout) -> int:
    """Return what the vendor of a payout has earned and not been paid."""
    assert payout.account.owner is not None
    return earned(payout.account.owner)["INR"]


def agree() -> None:
    """Check the ledger after each test."""
    list(digest_ledger(until=timezone.now()))
    assert list(differences()) == []


def bounced_after_deletion() -> VendorPayout:
    """Return a payout that bounced after its vendor deleted the account."""
    payout = sold_and_paid()
    vendor = payout.account.owner
    assert vendor is not None
    vendor.store.listings.update(status="Draft")
    delete_account(user=vendor, reason="test", actor=None)
    return bounce_payout(payout=payout, reason="account closed", actor=None)


def test_payout_that_bounces_after_the_account_was_deleted_is_paid_by_hand_once() -> None:
    payout, staff = bounced_after_deletion(), UserFactory()
    assert owed_to(payout) == SHARE
    assert manual_payout_effects(payout) == ["All earnings in the vendor's account, ₹399.20, count as paid to the vendor."]
    assert kept_earnings_effects(payout) == ["All earnings in the vendor's account, ₹399.20, become the marketplace's."]
    pay_former_vendor(payout=payout, reference="UTR 7781", reason="passport seen", actor=staff)
    assert (Journal.objects.get(kind="manual_payout").vendor_net_minor, platforms("payout")) == (-SHARE, SHARE)
    assert owed_to(payout) == 0
    entry = AuditEntry.objects.get(action="former_vendor.pay")
    assert (entry.actor, entry.reason, entry.data["reference"]) == (staff, "passport seen", "UTR 7781")
    with pytest.raises(InvalidTransition):
        pay_former_vendor(payout=payout, reference="UTR 7782", reason="again", actor=staff)
    with pytest.raises(InvalidTransition):
        keep_earnings(payout=payout, reason="again", actor=staff)
    agree()


def test_earnings_of_a_payout_bounced_after_a_suspension_can_be_retained_and_the_vendor_is_mailed(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    payout = sold_and_paid()
    VendorProfile.objects.update(status=VendorStatus.SUSPENDED)
    payout = bounce_payout(payout=payout, reason="account closed", actor=None)
    before = platforms("commission")
    with django_capture_on_commit_callbacks(execute=True):
        keep_earnings(payout=payout, reason="stolen goods", actor=UserFactory())
    assert platforms("commission") == before + SHARE
    assert payout.account.owner is not None
    assert "stolen goods" in next(message.body for message in outbox.outbox if message.to == [payout.account.owner.email])
    agree()


def test_vendor_who_can_be_paid_by_a_run_and_a_payout_that_did_not_bounce_are_refused() -> None:
    payout = sold_and_paid()
    VendorProfile.objects.update(status=VendorStatus.SUSPENDED)
    with pytest.raises(InvalidTransition):
        keep_earnings(payout=payout, reason="test", actor=UserFactory())
    bounced = bounce_payout(payout=payout, reason="account closed", actor=None)
    VendorProfile.objects.update(status=VendorStatus.APPROVED)
    with pytest.raises(InvalidTransition):
        keep_earnings(payout=bounced, reason="test", actor=UserFactory())
    assert owed_to(bounced) == SHARE


def test_earnings_are_not_settled_by_the_vendor_or_without_reference_and_reason() -> None:
    payout = bounced_after_deletion()
    staff = UserFactory()
    owner = payout.account.owner
    assert owner is not None
    for reference, reason, actor, code in (
        (" ", "test", staff, "invalid_input"),
        ("UTR 1", " ", staff, "invalid_input"),
        ("UTR 1", "test", owner, "self_review"),
    ):
        with pytest.raises(Problem) as excinfo:
            pay_former_vendor(payout=payout, reference=reference, reason=reason, actor=actor)
        assert excinfo.value.code == code
    assert earned(owner)["INR"] == SHARE
