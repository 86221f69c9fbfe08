"""The owner's pages of approvals: what is asked, the decision, and the password above a sum."""

from collections.abc import Callable

import pytest
from django.test import Client, override_settings
from django.urls import reverse

from catalog.services.submission import unpublish_listing
from developers.models import AccessToken, SpendingLimit
from tests.factories import PASSWORD
from tests.shop import funded, on_sale
from tests.wallet.approval_cases import PRICE, bounded, requested_approval
from wallet.models import Approval

from .markup import read, soup

pytestmark = pytest.mark.django_db
Browse = Callable[..., Client]


@pytest.fixture
def approval() -> Approval:
    return requested_approval(bounded(funded(inr=10 * PRICE)), on_sale(), reason="For the <b>poster</b>")


def address(approval: Approval, name: str = "approval") -> str:
    return reverse(name, args=[approval.pk])


def status_of(approval: Approval) -> str:
    return Approval.objects.get(pk=approval.pk).status


@pytest.mark.slow
def test_waiting_purchase_is_told_with_its_reason(browse: Browse, approval: Approval) -> None:
    client = browse(approval.owner)
    assert reverse("approvals") in str(soup(client.get(reverse("dashboard"))).select(".note"))
    assert address(approval) in read(client.get(reverse("approvals")))
    page = read(client.get(address(approval)))
    for shown in (approval.quote.listing.title, "₹499.00", "Shopping agent", "For the &lt;b&gt;poster&lt;/b&gt;"):
        assert shown in page


@pytest.mark.slow
def test_asset_that_left_the_catalog_is_named_without_a_link(browse: Browse, approval: Approval) -> None:
    listing, client = approval.quote.listing, browse(approval.owner)
    linked = f'href="{reverse("asset-page", args=[listing.slug])}"'
    assert linked in read(client.get(address(approval)))
    unpublish_listing(listing=listing, actor=listing.store.owner)
    assert linked not in read(client.get(address(approval)))


def test_purchase_is_allowed_once(browse: Browse, approval: Approval) -> None:
    assert browse(approval.owner).post(address(approval), {"decision": "once"}).status_code == 302
    assert status_of(approval) == "Approved"
    assert SpendingLimit.objects.get().per_purchase_minor == 100


@pytest.mark.slow
def test_higher_limit_is_said_to_allow_a_category_only_where_the_limit_names_some(browse: Browse, approval: Approval) -> None:
    client, words = browse(approval.owner), f"Purchases of {approval.quote.listing.category.name} are then allowed"
    assert words not in read(client.get(address(approval)))
    SpendingLimit.objects.update(categories=["motion"])
    assert words in read(client.get(address(approval)))


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
def test_invalid_approval_form_approves_nothing(browse: Browse, approval: Approval) -> None:
    for sent in ({}, {"decision": "raise", "password": PASSWORD, "per_purchase_minor": "", "per_day_minor": "", "total_minor": ""}):
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


def test_purchase_is_declined(browse: Browse, approval: Approval) -> None:
    client = browse(approval.owner)
    assert 'name="decision"' in read(client.get(address(approval)))
    # The second says that it is declined already.
    for _ in range(2):
        assert client.post(address(approval, "approval-decline")).status_code == 302
    assert status_of(approval) == "Declined"
    assert 'name="decision"' not in read(client.get(address(approval)))


@pytest.mark.slow
def test_purchase_of_a_revoked_token_offers_no_decision(browse: Browse, approval: Approval) -> None:
    AccessToken.objects.update(revoked_at=approval.created_at)
    assert 'name="decision"' not in read(browse(approval.owner).get(address(approval)))
