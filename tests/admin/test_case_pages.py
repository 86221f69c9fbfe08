"""Review pages outside the catalog: claims, saved replies, the way to the next, and figures before what cannot be undone."""

from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse

from catalog.models import Listing
from developers.models import App, DeveloperApplication, ScopeReview
from developers.services.apps import reinstate_app, suspend_app
from developers.services.credentials import issue_api_key
from developers.services.scopes import request_scopes
from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.models import AuditEntry
from marketplace.core.scopes import Scope
from marketplace.review.models import SavedReply, SavedReplyUse
from marketplace.ui.formatting import money
from tests.admin import subjects
from tests.admin.pages import address, press, staff, text_of
from tests.callers import signed_in
from tests.factories import AppFactory, UserFactory
from tests.review.cases import developer
from tests.shop import bought, funded, on_sale, store_keeping
from tests.vendors.cases import make_vendor
from tests.wallet.licensee_cases import bought_for
from vendors.models import VendorProfile, VendorStatus
from vendors.services.profiles import approve_vendor
from wallet.models import Order

pytestmark = pytest.mark.django_db
DECIDE = subjects.DECIDE_APPLICATION


@pytest.fixture
def browser() -> Client:
    return signed_in(staff(DECIDE))


def page_of(row: Any) -> str:
    return address(type(row), "change", row.pk)


def test_saved_reply_for_another_decision_is_refused(browser: Client) -> None:
    case, other = subjects.application(), SavedReply.objects.filter(use=SavedReplyUse.APPLICATION_APPROVE)[0]
    assert browser.post(address(DeveloperApplication, "reject", case.pk), {"reply": str(other.pk)}).status_code == 400


@pytest.mark.slow
def test_saved_reply_and_own_text_become_one_reason(browser: Client) -> None:
    case, reply = subjects.application(), SavedReply.objects.filter(use=SavedReplyUse.APPLICATION_REJECT)[0]
    answers = {"reply": str(reply.pk), "reason": "Sorry."}
    press(browser, page_of(case), answers, action=address(DeveloperApplication, "reject", case.pk))
    case.refresh_from_db()
    assert case.decision_reason == f"{reply.text}\n\nSorry."


def test_saved_replies_are_kept_by_staff_with_the_permission_and_put_out_of_use() -> None:
    add, answers = address(SavedReply, "add"), {"use": "vendor.approve", "text": "Lovely work.", "is_active": "on"}
    assert signed_in(staff(DECIDE)).post(add, answers).status_code == 403
    keeper = staff("review.add_savedreply", "review.change_savedreply", "review.view_savedreply")
    client = signed_in(keeper)
    assert client.post(add, answers | {"text": "two\nlines"}).status_code == 200
    client.post(add, answers)
    reply = SavedReply.objects.get(text="Lovely work.")
    assert AuditEntry.objects.get(action="savedreply.create").actor == keeper
    client.post(address(SavedReply, "change", reply.pk), {"use": "vendor.approve", "text": "Lovely work."})
    assert "Lovely work." not in text_of(signed_in(staff(subjects.DECIDE_VENDOR)).get(page_of(subjects.vendor())))
    assert client.post(address(SavedReply, "delete", reply.pk), {"post": "yes"}).status_code == 403


def test_staff_who_may_only_look_get_no_forms(browser: Client) -> None:
    case, forms = subjects.application(), '.subject-decide form, .subject-bar form[method="post"]'
    assert BeautifulSoup(browser.get(page_of(case)).content, "html.parser").select(forms)
    page = BeautifulSoup(signed_in(staff("developers.view_developerapplication")).get(page_of(case)).content, "html.parser")
    assert not page.select(forms)


@pytest.mark.slow
def test_request_of_a_suspended_app_is_not_offered_because_nobody_can_decide_it() -> None:
    reviewer, app = staff("developers.decide_app"), AppFactory(user=developer().user, granted_scopes="catalog:read")
    review = request_scopes(app=app, scopes={Scope.WALLET_SPEND: "To buy fonts"}, actor=app.developer)
    browser, page = signed_in(reviewer), address(ScopeReview, "change", review.pk)
    assert address(ScopeReview, "grant_all", review.pk) in browser.get(page).content.decode()
    suspend_app(app=app, reason="Too many calls.", actor=UserFactory())
    assert "For you to review in this list: 0," in text_of(browser.get(address(ScopeReview, "changelist")))
    shown = browser.get(page).content.decode()
    assert not any(address(ScopeReview, name, review.pk) in shown for name in ("grant_all", "claim"))
    assert "Scopes to decide on 0" in text_of(browser.get(reverse("admin:index")))
    reinstate_app(app=app, reason="Explained.", actor=UserFactory())
    assert "For you to review in this list: 1," in text_of(browser.get(address(ScopeReview, "changelist")))
    assert "Scopes to decide on 1" in text_of(browser.get(reverse("admin:index")))


def test_vendor_whose_account_was_deleted_was_suspended_by_nobody(root: Client) -> None:
    approver = UserFactory()
    vendor = approve_vendor(profile=make_vendor(VendorStatus.PENDING), reason="Fine.", actor=approver)
    page = address(VendorProfile, "change", vendor.pk)
    assert f"Approved by {approver.email}" in text_of(root.get(page))
    delete_account(user=vendor.user, reason="Asked for.", actor=None)
    assert f"Suspended by {approver.email}" not in text_of(root.get(page))


@pytest.mark.slow
def test_ways_to_the_next_to_the_previous_and_back_keep_the_filter(browser: Client) -> None:
    first, second = subjects.application(), subjects.application()
    kept = "?_changelist_filters=status__exact%3DPending"
    response = press(browser, page_of(first) + kept, {}, action=address(DeveloperApplication, "next"))
    assert response.redirect_chain[-1][0] == page_of(second) + kept
    page = BeautifulSoup(response.content, "html.parser")
    ways = {str(link["data-key"]): link["href"] for link in page.select(".ways a[data-key]")}
    assert (ways["p"], ways["b"]) == (page_of(first) + kept, f"{address(DeveloperApplication, 'changelist')}?status__exact=Pending")


@pytest.mark.slow
def test_confirmations_show_the_effects_in_numbers(root: Client) -> None:
    app = subjects.approved_app()
    for name in ("one", "two"):
        issue_api_key(app=app, name=name, actor=app.developer)
    words = text_of(root.get(address(App, "suspend", app.pk)))
    assert "Active keys that will stop working: 2. Active tokens that will stop working: 0." in words
    listing, buyer = on_sale(store=store_keeping(2_000)), funded(inr=100_000)
    order = bought(listing, buyer)
    assert "Purchases that remain valid: 1." in text_of(root.get(address(Listing, "takedown", listing.pk)))
    words = text_of(root.get(address(Order, "refund", order.pk)))
    for expected in (f"is returned to the wallet of {buyer.email}", "from the vendor's share", "licence for", "is revoked"):
        assert expected in words
    # Amounts have their currency.
    words = text_of(root.get(address(Order, "change", order.pk)))
    assert money(order.price_minor, order.currency) in words
    assert str(order.price_minor) not in words
    vendor = VendorProfile.objects.get(store=listing.store)
    assert "Published listings that leave the catalog: 1." in text_of(root.get(address(VendorProfile, "suspend", vendor.pk)))
    owner = listing.store.owner
    issue_api_key(app=AppFactory(user=owner), name="production", actor=owner)
    words = text_of(root.get(address(User, "deactivate", owner.pk)))
    for sentence in (
        "Active keys that will stop working: 1.",
        "Active tokens that will stop working: 0.",
        "Listings that stay on sale: 1.",
    ):
        assert sentence in words
    words = text_of(root.get(address(User, "delete_account", owner.pk)))
    assert "Licences that can no longer be used to download: 0." in words
    assert "lost unless they claim them" not in words
    bought_for(listing, buyer)
    words = text_of(root.get(address(User, "delete_account", buyer.pk)))
    assert "lost unless they claim them before the link expires, as nobody can send a new one: 1." in words
    words = text_of(root.get(address(User, "delete_account", owner.pk)))
    assert "This is not possible at the moment. The user reads: Some listings are on sale or in review" in words
