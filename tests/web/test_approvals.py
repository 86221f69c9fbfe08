"""The owner's pages of approvals: what is asked, the decision, and the password above a sum."""

from collections.abc import Callable

import pytest
from django.test import Client, override_settings
from django.urls import reverse

from developers.models import AccessToken, SpendingLimit
from tests.factories import PASSWORD
from tests.shop import funded, on_sale
from tests.wallet.approval_cases import PRICE, approved_purchase, bounded, requested_approval
from wallet.models import Approval

from .markup import read

pytestmark = pytest.mark.django_db
Browse = Callable[..., Client]


@pytest.fixture
def approval() -> Approval:
    """A purchase that waits."""
    return requested_approval(bounded(funded(inr=10 * PRICE)), on_sale(title="Halden Grotesk"), reason="For the <b>poster</b>")


def address(approval: Approval, name: str = "approval") -> str:
    """Return the address of a page of it."""
    return reverse(name, args=[approval.pk])


def status_of(approval: Approval) -> str:
    """Return its status now."""
    return Approval.objects.get(pk=approval.pk).status


@pytest.mark.slow
def test_waiting_purchase_is_shown_with_the_app_and_the_reason(browse: Browse, approval: Approval) -> None:
    client = browse(approval.owner)
    assert "approve a purchase" in read(client.get(reverse("dashboard")))
    assert address(approval) in read(client.get(reverse("approvals")))
    page = read(client.get(address(approval)))
    for shown in ("Halden Grotesk", "₹499.00", "Shopping agent", "For the &lt;b&gt;poster&lt;/b&gt;", "Personal"):
        assert shown in page


def test_purchase_is_allowed_once(browse: Browse, approval: Approval) -> None:
    assert browse(approval.owner).post(address(approval), {"decision": "once"}).status_code == 302
    assert status_of(approval) == "Approved"
    assert SpendingLimit.objects.get().per_purchase_minor == 100


@pytest.mark.slow
def test_purchase_is_allowed_with_a_higher_limit(browse: Browse, approval: Approval) -> None:
    sent = {"decision": "raise", "per_purchase_minor": "600", "per_day_minor": "", "total_minor": "5000"}
    for password in ({}, {"password": "wrong"}):
        read(browse(approval.owner).post(address(approval), sent | password), 400)
    assert (SpendingLimit.objects.get().per_purchase_minor, status_of(approval)) == (100, "Waiting")
    assert browse(approval.owner).post(address(approval), sent | {"password": PASSWORD}).status_code == 302
    limit = SpendingLimit.objects.get()
    assert (limit.per_purchase_minor, limit.per_day_minor, limit.total_minor) == (60_000, None, 500_000)
    assert status_of(approval) == "Approved"


@pytest.mark.slow
@pytest.mark.parametrize("sent", [{}, {"decision": "raise"}, {"decision": "raise", "total_minor": "-1"}], ids=str)
def test_invalid_approval_form_approves_nothing(browse: Browse, approval: Approval, sent: dict[str, str]) -> None:
    read(browse(approval.owner).post(address(approval), sent), 400)
    assert status_of(approval) == "Waiting"


@override_settings(APPROVAL_PASSWORD_ABOVE={"INR": PRICE - 1})
def test_approval_above_the_amount_of_the_settings_needs_the_right_password(browse: Browse, approval: Approval) -> None:
    client = browse(approval.owner)
    for password in ({}, {"password": "wrong"}):
        read(client.post(address(approval), {"decision": "once", **password}), 400)
    assert status_of(approval) == "Waiting"
    assert client.post(address(approval), {"decision": "once", "password": PASSWORD}).status_code == 302
    assert status_of(approval) == "Approved"


@pytest.mark.parametrize("make", [requested_approval, approved_purchase])
def test_purchase_is_declined_before_and_after_it_was_approved(browse: Browse, make: Callable[..., Approval]) -> None:
    approval = make(bounded(funded(inr=10 * PRICE)))
    client = browse(approval.owner)
    assert client.post(address(approval, "approval-decline")).status_code == 302
    assert status_of(approval) == "Declined"
    assert "decision" not in read(client.get(address(approval)))


@pytest.mark.slow
def test_purchase_of_a_revoked_token_offers_no_decision(browse: Browse, approval: Approval) -> None:
    assert 'name="decision"' in read(browse(approval.owner).get(address(approval)))
    AccessToken.objects.update(revoked_at=approval.created_at)
    assert 'name="decision"' not in read(browse(approval.owner).get(address(approval)))
