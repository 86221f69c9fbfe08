from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from catalog.models import Deliverable, Listing, ListingReview
from catalog.services.review import approve_listing, block_deliverable, unblock_deliverable
from catalog.services.submission import withdraw_listing
from developers.models import AccessToken, ApiKey, App, Consent, ScopeReview
from developers.services.consents import withdraw_consent
from developers.services.credentials import revoke_api_key, revoke_token
from developers.services.scopes import reject_app
from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from marketplace.review.appeals import overturn_decision
from marketplace.review.service import ServiceAdmin
from tests.admin.pages import address, press, service_admins, staff, text_of
from tests.admin.subjects import APPROVAL, CASES, CLAIMABLE, SCOPES, Case, owner_of, review, scope_review
from tests.callers import signed_in
from tests.catalog.cases import add_candidate, draft, make_deliverable, open_review, published, rejected, submitted
from tests.factories import UserFactory
from tests.review.cases import appealed, taken_down

pytestmark = pytest.mark.django_db
cases = pytest.mark.parametrize("case", CASES, ids=str)
# What the second of two is told.
TOO_LATE = (
    "The state does not allow this",
    "The app does not have the scope",
    "This is not possible in its current state",
    "Select a valid choice",
)
# What owners may do outside the admin too, and the file for the bank, which moves no money.
OF_ONES_OWN = {"apikey.revoke", "consent.withdraw", "token.revoke", "webhook.disable", "payout_batch.export"}
# Jobs, and clients that describe themselves.
OF_NOBODY = {"job.retry", "app.reopen", *(f"metadata_review.{verb}" for verb in ("accept", "refuse", "claim", "take_over"))}


def _page(case: Case, subject: object) -> str:
    return address(type(subject), case.name, subject.pk)  # type: ignore[arg-type,attr-defined]  # a model's row


def _refused(case: Case, client: Client, page: str) -> str:
    """Send the decision's answers past the page, as a second browser does that had it open already."""
    return text_of(client.post(page, case.answers, follow=True))


@cases
def test_nobody_without_the_permission_decides(case: Case, client: Client) -> None:
    page = _page(case, case.make())
    for response in (client.get(page, follow=True), client.post(page, case.answers, follow=True)):
        assert response.redirect_chain[-1][0].startswith("/account/login")
    others = {other.permission for other in CASES} - {case.permission}
    for refused in (signed_in(UserFactory()), signed_in(staff(*others))):
        assert refused.get(page, follow=True).status_code == 403
        assert refused.post(page, case.answers, follow=True).status_code == 403
    assert not AuditEntry.objects.filter(action=case.audit).exists()


@cases
def test_staff_with_the_permission_decides_through_the_form(case: Case) -> None:
    subject = case.make()
    user = staff(case.permission)
    response = press(signed_in(user), _page(case, subject), case.answers)
    entries = AuditEntry.objects.filter(action=case.audit, actor=user)
    assert response.status_code == 200
    assert entries.count() == (0 if case.superuser else 1), text_of(response)
    assert all(entry.reason == case.answers.get("reason", entry.reason) for entry in entries)


@pytest.mark.parametrize("case", [case for case in CASES if case.superuser], ids=str)
def test_superuser_decides_through_the_form_what_no_permission_is_enough_for(case: Case, reviewer: User) -> None:
    subject = case.make()
    response = press(signed_in(reviewer), _page(case, subject), case.answers)
    assert AuditEntry.objects.get(action=case.audit, actor=reviewer).reason == case.answers["reason"]
    assert response.request["PATH_INFO"] == address(type(subject), "change", subject.pk)


@pytest.mark.slow
@cases
def test_decision_is_not_taken_by_opening_its_page_or_without_a_reason_and_only_once(case: Case, reviewer: User) -> None:
    subject, client = case.make(), signed_in(reviewer)
    page = _page(case, subject)
    # Some are changed past the row in hand, such as one that another is at.
    subject.refresh_from_db()
    before = AuditEntry.objects.count()
    assert client.get(page).status_code == 200
    if "reason" in case.answers:
        response = client.post(page, case.answers | {"reason": "  "})
        assert response.status_code == 400
        assert any(sentence in text_of(response) for sentence in ("This field is required", "Choose a saved reply, or write your own"))
    fresh = type(subject)._default_manager.get(pk=subject.pk)
    for name in ("status", "is_active", "is_staff", "revoked_at", "blocked_at", "claimed_by_id"):
        assert getattr(fresh, name, None) == getattr(subject, name, None)
    assert AuditEntry.objects.count() == before
    client.post(page, case.answers)
    assert AuditEntry.objects.filter(action=case.audit, actor=reviewer).count() == 1
    if not case.again:
        before = AuditEntry.objects.count()
        words = _refused(case, signed_in(UserFactory(is_staff=True, is_superuser=True)), page)
        assert any(refusal in words for refusal in TOO_LATE), words
        assert AuditEntry.objects.count() == before


def test_reviewer_who_opens_a_decision_too_late_sees_who_decided_and_why(reviewer: User) -> None:
    first = UserFactory()
    takedown = taken_down(first).reviews.get(kind="Takedown")
    shown = text_of(signed_in(reviewer).get(address(ListingReview, "approve", takedown.pk)))
    for words in ("Rejected", first.email, takedown.findings[0]["message"]):
        assert words in shown
    review = open_review(submitted(add_candidate(published())))
    approve_listing(review=review, actor=reviewer, note="Well drawn.")
    shown = text_of(signed_in(UserFactory(is_staff=True, is_superuser=True)).get(address(ListingReview, "approve", review.pk)))
    for words in ("This is not possible in its current state", reviewer.email, "Well drawn."):
        assert words in shown


def test_decision_on_a_file_that_was_blocked_or_unblocked_meanwhile_names_that(reviewer: User) -> None:
    file = make_deliverable(draft())
    block_deliverable(deliverable=file, reason="It phones home.", actor=UserFactory())
    assert "It phones home." in text_of(signed_in(reviewer).get(address(Deliverable, "block", file.pk)))
    unblock_deliverable(deliverable=file, reason="A false alarm.", actor=draft().store.owner)
    shown = text_of(signed_in(reviewer).get(address(Deliverable, "unblock", file.pk)))
    assert "Last change Deliverable: unblock" in shown
    assert "A false alarm." in shown
    assert "It phones home." not in shown


def test_review_that_was_reopened_and_withdrawn_was_ended_by_its_vendor(reviewer: User) -> None:
    listing = rejected()
    overturn_decision(appeal=appealed(listing), reason="It is licensed.", actor=UserFactory())
    review = open_review(listing)
    withdraw_listing(listing=listing, actor=listing.store.owner)
    shown = text_of(signed_in(reviewer).get(address(ListingReview, "approve", review.pk)))
    assert "Withdrawn" in shown
    assert listing.store.owner.email in shown
    assert "It is licensed." not in shown


@pytest.mark.parametrize("case", [case for case in CASES if case.audit not in OF_ONES_OWN | OF_NOBODY], ids=str)
def test_nobody_decides_on_their_own(case: Case) -> None:
    subject = case.make()
    owner = owner_of(subject)
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True, is_active=True)
    owner.refresh_from_db()
    before = AuditEntry.objects.count()
    assert "You cannot review your own work" in _refused(case, signed_in(owner), _page(case, subject))
    assert AuditEntry.objects.count() == before


def test_decision_table_has_every_decision_except_those_about_money() -> None:
    money = {"WalletAdmin", "OrderAdmin"}
    known = {
        (settings.permission, name)
        for model_admin in service_admins()
        if type(model_admin).__name__ not in money
        for name, settings in model_admin.decisions().items()
    }
    # Releasing a claim needs one of one's own: it has its own test.
    assert {(permission, name) for permission, name in known if name != "release"} == {(case.permission, case.name) for case in CASES}


CLAIMS = pytest.mark.parametrize(
    ("make", "permission"),
    [*(claim[1:] for claim in CLAIMABLE), (review, "catalog.review_listing")],
    ids=lambda each: getattr(each, "__name__", each),
)


@CLAIMS
def test_claim_is_released_by_its_holder_and_nobody_else(make: Callable[[], Any], permission: str) -> None:
    row, holder = make(), staff(permission)
    claim, release = (address(type(row), step, row.pk) for step in ("claim", "release"))
    press(signed_in(holder), claim, {})
    assert signed_in(staff()).post(release).status_code == 403
    signed_in(staff(permission)).post(release)
    row.refresh_from_db()
    assert row.claimed_by == holder
    press(signed_in(holder), release, {})
    row.refresh_from_db()
    assert row.claimed_by is None


def test_decision_page_takes_only_get_and_post_with_a_csrf_token_for_a_row_that_is_there(reviewer: User) -> None:
    client, page = signed_in(reviewer, checked=True), address(ListingReview, "approve", review().pk)
    assert client.get(page).status_code == 200
    assert client.post(page, APPROVAL).status_code == 403
    assert [ask(page).status_code for ask in (signed_in(reviewer).put, signed_in(reviewer).delete, signed_in(reviewer).patch)] == [405] * 3
    for object_id in ("0198c0de-0000-7000-8000-000000000000", "nonsense"):
        assert client.get(address(ListingReview, "approve", object_id)).status_code == 404


@pytest.mark.slow
def test_scopes_are_decided_one_by_one_on_the_page_of_the_request(reviewer: User) -> None:
    case, client = scope_review(), signed_in(reviewer)
    page, action = address(ScopeReview, "change", case.pk), address(ScopeReview, "decide_scopes", case.pk)
    undecided = {"decision:catalog:read": "grant"}
    for answers in (undecided, undecided | {"decision:wallet:spend": "refuse"}):
        # A scope is left out, or refused without a note.
        assert press(client, page, answers, action=action).status_code == 400
        case.refresh_from_db()
        assert case.status == "Pending"
    press(client, page, SCOPES, action=action)
    app = App.objects.get(pk=case.app_id)
    assert app.granted_scopes == "catalog:read"
    assert {row.scope: (row.granted, row.note) for row in app.scope_rows.all()} == {
        "catalog:read": (True, ""),
        "wallet:spend": (False, "Not needed to browse."),
    }


def test_scopes_are_not_granted_with_redirect_uris_that_nobody_saw(reviewer: User) -> None:
    case, client = scope_review(), signed_in(reviewer)
    App.objects.update(redirect_uris="https://elsewhere.example/back")
    for name in ("change", "decide_scopes"):
        assert "https://elsewhere.example/back" in text_of(client.get(address(ScopeReview, name, case.pk)))
    for name, answers in (("grant_all", {}), ("decide_scopes", SCOPES)):
        press(client, address(ScopeReview, name, case.pk), {**answers, "redirect_uris": "https://app.example/back"})
        case.refresh_from_db()
        assert case.status == "Pending"


@pytest.mark.parametrize("case", [case for case in CASES if case.name in {"revoke", "decide_scopes", "limit"}], ids=str)
def test_decision_taken_since_the_page_was_opened_is_reported(case: Case, reviewer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = case.make()
    read = ServiceAdmin.get_object

    def overtaken(self: ServiceAdmin, *args: Any) -> Any:
        row = read(self, *args)
        match subject:
            case ScopeReview(app=app):
                reject_app(app=app, reason="Not now.", actor=UserFactory())
            case ApiKey():
                revoke_api_key(key=subject, actor=None)
            case AccessToken():
                revoke_token(token=subject, actor=None)
            case Consent():
                withdraw_consent(user=subject.user, app=subject.app, actor=subject.user)
        monkeypatch.setattr(ServiceAdmin, "get_object", read)
        return row

    monkeypatch.setattr(ServiceAdmin, "get_object", overtaken)
    words = _refused(case, signed_in(reviewer), _page(case, subject))
    assert "The state does not allow this" in words
    assert not AuditEntry.objects.filter(actor=reviewer).exists()


def test_staff_who_is_no_superuser_cannot_touch_a_superuser(reviewer: User) -> None:
    words = text_of(press(signed_in(staff("accounts.deactivate_user")), address(User, "deactivate", reviewer.pk), {"reason": "Coup."}))
    reviewer.refresh_from_db()
    assert reviewer.is_active
    assert "Only a superuser" in words


@pytest.mark.slow
def test_review_queue_lists_waiting_listings_first_and_oldest_on_top(reviewer: User) -> None:
    done = review()
    press(signed_in(reviewer), address(ListingReview, "approve", done.pk), APPROVAL)
    older, newer = submitted(), submitted()
    words = text_of(signed_in(reviewer).get(address(ListingReview, "changelist"), {"status__exact": "all"}))
    positions = [words.index(title) for title in (older.title, newer.title, done.listing.title)]
    assert positions == sorted(positions)


def test_approval_costs_at_most_forty_queries(reviewer: User, django_assert_max_num_queries: Any) -> None:
    case = review()
    Listing.objects.filter(pk=case.listing_id).update(tags=["serif", "display", "print"], file_type="otf")
    client = signed_in(reviewer)
    with django_assert_max_num_queries(40):
        response = client.post(address(ListingReview, "approve", case.pk), APPROVAL)
    case.refresh_from_db()
    assert (response.status_code, case.status) == (302, "Approved")
