"""Appeals: who may appeal what, who decides, and what a reversal restores."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from catalog.admin.values import changes_since_approval
from catalog.errors import DeliverableBlocked
from catalog.manifests import manifest_of
from catalog.models import Deliverable, Listing, ListingReview
from catalog.models.reviews import ReviewKind
from catalog.selectors.reviews import wait_of_review
from catalog.services.review import approve_listing, block_deliverable, reject_listing, takedown_listing
from catalog.services.submission import unpublish_listing, withdraw_listing
from developers.models import App, AppScope
from developers.selectors import wait_of_application
from developers.services.applications import submit_application, withdraw_approval
from developers.services.apps import suspend_app
from developers.services.credentials import issue_api_key
from developers.services.scopes import ScopeDecision, decide_scopes
from marketplace.core import audit
from marketplace.core.errors import InvalidInput, InvalidTransition, NotFound, SelfReview
from marketplace.core.models import AuditEntry
from marketplace.core.scopes import Scope
from marketplace.review.appeals import appealable_decision, may_decide, overturn_decision, submit_appeal, uphold_decision, wait_of_appeal
from marketplace.review.errors import AppealExists, AppealUnavailable
from marketplace.review.models import Appeal
from marketplace.review.waiting import Wait
from tests.admin.pages import staff
from tests.catalog.cases import FINDING, add_candidate, draft, make_deliverable, open_review, published, rejected, submitted
from tests.eager import sent_mails
from tests.factories import AppFactory, PreviewFactory, UserFactory
from tests.review.cases import (
    APPEALABLE,
    appealed,
    application,
    decision_on,
    developer,
    owner_of,
    suspended_app,
    suspended_vendor,
    taken_down,
    update_rejected,
    withdrawn_approval,
)
from tests.vendors.cases import make_vendor
from vendors.models import VendorStatus
from vendors.selectors import wait_of_profile
from vendors.services.files import remove_preview
from vendors.services.listings import update_listing
from vendors.services.manifests import generate_manifest
from vendors.services.profiles import approve_vendor, reinstate_vendor, suspend_vendor

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]
WHY = {"reason": "It is licensed."}


def reverse(appeal: Appeal) -> Appeal:
    return overturn_decision(appeal=appeal, **WHY, actor=UserFactory())


@pytest.mark.parametrize("action", APPEALABLE)
def test_decision_is_appealed_by_whom_it_is_about_and_nobody_else(action: str) -> None:
    subject = APPEALABLE[action][0]()
    decision = decision_on(subject)
    with pytest.raises(NotFound):
        submit_appeal(decision=decision, text="It is my own work.", actor=UserFactory())
    with pytest.raises(InvalidInput):
        submit_appeal(decision=decision, text=" \n\t", actor=owner_of(subject))
    assert submit_appeal(decision=decision, text="It is my own work.", actor=owner_of(subject)).decision.action == action
    with pytest.raises(AppealExists):
        appealed(subject)


@pytest.mark.slow
@pytest.mark.parametrize("action", APPEALABLE)
def test_overturned_decision_restores_what_it_was_about(action: str, django_capture_on_commit_callbacks: Any) -> None:
    make, status = APPEALABLE[action]
    subject = make()
    appeal = appealed(subject)
    with django_capture_on_commit_callbacks(execute=True):
        assert reverse(appeal).status == "Accepted"
    subject.refresh_from_db()
    assert subject.status == status
    assert [each.to for each in mail.outbox] == [[owner_of(subject).email]]
    assert "It is licensed." in mail.outbox[0].body
    assert AuditEntry.objects.filter(action="appeal.accept", subject_id=str(appeal.pk)).exists()


@pytest.mark.slow
def test_upheld_decision_changes_nothing_and_is_final(django_capture_on_commit_callbacks: Any) -> None:
    profile = suspended_vendor()
    appeal = appealed(profile)
    with django_capture_on_commit_callbacks(execute=True):
        uphold_decision(appeal=appeal, **WHY, actor=UserFactory())
    profile.refresh_from_db()
    assert profile.status == "Suspended"
    assert [each.to for each in mail.outbox] == [[profile.user.email]]
    with pytest.raises(InvalidTransition):
        reverse(appeal)
    with pytest.raises(AppealExists):
        appealed(profile)


def test_approval_cannot_be_appealed() -> None:
    listing = published()
    approval = AuditEntry.objects.get(action="listing.approve")
    assert appealable_decision(listing) is None
    with pytest.raises(NotFound):
        submit_appeal(decision=approval, text="Too early.", actor=owner_of(listing))


def test_decision_that_another_followed_cannot_be_appealed() -> None:
    profile = suspended_vendor()
    decision = decision_on(profile)
    reinstate_vendor(profile=profile, reason="Explained.", actor=UserFactory())
    with pytest.raises(AppealUnavailable):
        submit_appeal(decision=decision, text="It is my own work.", actor=profile.user)


def test_decision_that_another_followed_is_not_overturned() -> None:
    profile = suspended_vendor()
    appeal = appealed(profile)
    reinstate_vendor(profile=profile, reason="Explained.", actor=UserFactory())
    suspend_vendor(profile=profile, reason="Copied again.", actor=UserFactory())
    with pytest.raises(InvalidTransition):
        reverse(appeal)
    profile.refresh_from_db()
    assert profile.status == "Suspended"
    appeal.refresh_from_db()
    assert uphold_decision(appeal=appeal, **WHY, actor=UserFactory()).status == "Dismissed"


def test_appellant_cannot_decide_even_as_a_superuser() -> None:
    appeal = appealed()
    appeal.appellant.is_superuser = appeal.appellant.is_staff = True
    appeal.appellant.save()
    for decide in (overturn_decision, uphold_decision):
        with pytest.raises(SelfReview):
            decide(appeal=appeal, **WHY, actor=appeal.appellant)


def test_staff_who_took_the_decision_cannot_decide_on_its_appeal() -> None:
    decider = staff("review.decide_appeal")
    appeal = appealed(taken_down(decider))
    with pytest.raises(SelfReview):
        uphold_decision(appeal=appeal, **WHY, actor=decider)
    appeal.refresh_from_db()
    assert appeal.status == "Pending"


def test_superuser_decides_on_an_appeal_against_the_own_decision_only_if_nobody_else_can() -> None:
    alone = UserFactory(is_staff=True, is_superuser=True)
    appeal = appealed(taken_down(alone))
    assert may_decide(appeal, alone)
    staff("catalog.review_listing")
    assert may_decide(appeal, alone)
    other = staff("review.decide_appeal")
    assert not may_decide(appeal, alone)
    other.is_active = False
    other.save()
    assert uphold_decision(appeal=appeal, **WHY, actor=alone).status == "Dismissed"


@pytest.mark.slow
def test_restored_listing_has_the_file_that_was_on_sale(client: Client) -> None:
    listing = taken_down()
    on_sale = listing.approved_deliverable
    add_candidate(listing)
    reverse(appealed(listing))
    listing.refresh_from_db()
    assert (listing.status, listing.approved_deliverable, listing.update_status) == ("Published", on_sale, "")
    last = ListingReview.objects.filter(listing=listing).latest("id")
    assert last.status == "Approved"
    assert on_sale is not None
    assert last.snapshot["file"]["id"] == str(on_sale.pk)
    client.force_login(owner_of(listing))
    page = client.get(f"/dashboard/studio/listings/{listing.slug}/reviews").content.decode()
    assert page.count("Put on sale again after your appeal") == 1


@pytest.mark.slow
def test_update_that_waited_at_the_takedown_waits_again() -> None:
    listing = submitted(add_candidate(published()))
    waited = open_review(listing)
    takedown_listing(listing=listing, reason="Copied.", actor=UserFactory())
    reverse(appealed(Listing.objects.get(pk=listing.pk)))
    listing.refresh_from_db()
    review = open_review(listing)
    assert (listing.status, listing.update_status) == ("Published", "PendingReview")
    assert (review.kind, review.submitted_at, review.snapshot) == (ReviewKind.UPDATE, waited.submitted_at, waited.snapshot)
    approve_listing(review=review, actor=UserFactory())


def test_listing_that_was_never_on_sale_goes_back_to_its_place_in_the_queue() -> None:
    listing = rejected()
    before = ListingReview.objects.get(listing=listing)
    submitted()
    reverse(appealed(listing))
    review = open_review(listing)
    assert Listing.objects.get(pk=listing.pk).published_at is None
    assert (review.submitted_at, review.snapshot, review.submitted_by) == (before.submitted_at, before.snapshot, before.submitted_by)
    approve_listing(review=review, actor=UserFactory())
    assert Listing.objects.get(pk=listing.pk).status == "Published"


@pytest.mark.slow
def test_listing_with_the_file_that_was_on_sale_and_no_newer_one_is_published_again() -> None:
    listing = unpublish_listing(listing=(was := published()), actor=was.store.owner)
    listing = submitted(Listing.objects.get(pk=listing.pk))
    reject_listing(review=open_review(listing), findings=[FINDING], actor=UserFactory())
    listing.refresh_from_db()
    appeal = appealed(listing)
    add_candidate(listing)
    with pytest.raises(InvalidTransition):
        reverse(appeal)
    Listing.objects.filter(pk=listing.pk).update(candidate_deliverable=None)
    reverse(appeal)
    listing.refresh_from_db()
    assert (listing.status, listing.approved_deliverable) == ("Published", was.approved_deliverable)


@pytest.mark.slow
def test_file_that_was_taken_down_since_goes_to_the_queue_and_not_on_sale() -> None:
    listing = submitted(taken_down())
    reject_listing(review=open_review(listing), findings=[FINDING], actor=UserFactory())
    reverse(appealed(Listing.objects.get(pk=listing.pk)))
    assert Listing.objects.get(pk=listing.pk).status == "PendingReview"


@pytest.mark.slow
def test_file_whose_takedown_was_overturned_is_published_again() -> None:
    listing = taken_down()
    reverse(appealed(listing))
    listing = submitted(unpublish_listing(listing=Listing.objects.get(pk=listing.pk), actor=owner_of(listing)))
    reject_listing(review=open_review(listing), findings=[FINDING], actor=UserFactory())
    reverse(appealed(Listing.objects.get(pk=listing.pk)))
    assert Listing.objects.get(pk=listing.pk).status == "Published"


@pytest.mark.slow
@pytest.mark.parametrize("make", [taken_down, rejected, update_rejected])
def test_overturned_decision_restores_neither_a_file_that_was_replaced_nor_a_blocked_one(make: Callable[[], Listing]) -> None:
    listing = make()
    appeal, reviewed = appealed(listing), listing.candidate_deliverable
    if reviewed is not None:
        listing.candidate_deliverable = make_deliverable(listing)
        listing.save()
        with pytest.raises(InvalidTransition):
            reverse(appeal)
        listing.candidate_deliverable = reviewed
        listing.save()
    Deliverable.objects.filter(listing=listing).update(blocked_at=appeal.submitted_at)
    with pytest.raises(DeliverableBlocked):
        reverse(appeal)
    assert not ListingReview.objects.filter(listing=listing, status="Pending").exists()


def test_restored_listing_has_the_manifest_of_its_file_and_not_of_a_newer_one() -> None:
    listing = taken_down()
    listing.candidate_deliverable = make_deliverable(listing, technical={"format": "otf", "glyphCount": 777})
    listing.save()
    generate_manifest(listing=listing, actor=owner_of(listing))
    reverse(appealed(listing))
    assert manifest_of(Listing.objects.get(pk=listing.pk)).body["technical"]["glyphCount"] == 0


def test_listing_whose_cover_picture_was_removed_is_neither_restored_nor_reopened() -> None:
    on_sale, sent = published(), draft()
    covers = [PreviewFactory(listing=listing) for listing in (on_sale, sent)]
    takedown_listing(listing=on_sale, reason="Copied.", actor=UserFactory())
    reject_listing(review=open_review(submitted(sent)), findings=[FINDING], actor=UserFactory())
    for cover in covers:
        listing = Listing.objects.get(pk=cover.listing_id)
        remove_preview(listing=listing, preview_id=cover.pk, actor=owner_of(listing))
        with pytest.raises(InvalidTransition, match="cover picture"):
            reverse(appealed(listing))
        listing.refresh_from_db()
        assert listing.status == "Rejected"


def test_update_that_was_withdrawn_before_a_second_takedown_does_not_wait_again() -> None:
    listing, reviewer = submitted(add_candidate(published())), UserFactory()
    for _ in range(2):
        takedown_listing(listing=listing, reason="Copied.", actor=reviewer)
        taken_down()
        reverse(appealed(Listing.objects.get(pk=listing.pk)))
        listing.refresh_from_db()
        if listing.update_status:
            withdraw_listing(listing=listing, actor=owner_of(listing))
    assert not ListingReview.objects.filter(listing=listing, status="Pending").exists()
    assert ListingReview.objects.filter(listing=listing, status="Withdrawn").count() == 1


@pytest.mark.parametrize("change", ["blocked", "replaced"])
def test_update_whose_file_was_blocked_or_replaced_since_the_takedown_does_not_wait_again(change: str) -> None:
    listing = submitted(add_candidate(published()))
    takedown_listing(listing=listing, reason="Copied.", actor=UserFactory())
    listing = Listing.objects.get(pk=listing.pk)
    assert listing.candidate_deliverable is not None
    if change == "blocked":
        block_deliverable(deliverable=listing.candidate_deliverable, reason="A virus.", actor=UserFactory())
    else:
        add_candidate(listing)
    reverse(appealed(listing))
    listing.refresh_from_db()
    assert (listing.status, listing.update_status) == ("Published", "")


def test_reopened_submission_that_was_edited_since_is_recorded_as_it_is() -> None:
    listing = rejected()
    update_listing(listing=listing, actor=owner_of(listing), title="Another title")
    reverse(appealed(listing))
    approve_listing(review=open_review(listing), actor=UserFactory())
    assert changes_since_approval(Listing.objects.get(pk=listing.pk)) == []


def test_suspended_app_gets_back_its_scopes_and_keys_as_they_were() -> None:
    app = AppFactory(user=developer().user)
    key, _ = issue_api_key(app=app, name="server", actor=app.developer)
    before = app.granted_scopes
    suspend_app(app=app, reason="Too many calls.", actor=UserFactory())
    reverse(appealed(app))
    app.refresh_from_db()
    key.refresh_from_db()
    assert (app.status, app.granted_scopes, key.revoked_at) == ("Approved", before, None)


@pytest.mark.slow
def test_rejected_app_is_reviewed_again_with_the_scopes_that_it_asked_for() -> None:
    app = APPEALABLE["app.reject"][0]()
    assert app.status_reason
    reasons = dict(AppScope.objects.filter(app=app).values_list("scope", "reason"))
    reverse(appealed(app))
    app.refresh_from_db()
    assert app.status_reason == ""
    assert dict(AppScope.objects.filter(app=app, granted=None).values_list("scope", "reason")) == reasons
    granted = {Scope(scope): ScopeDecision(granted=True) for scope in reasons}
    decide_scopes(review=app.scope_reviews.get(status="Pending"), decisions=granted, note="", actor=UserFactory())
    app.refresh_from_db()
    assert app.status == "Approved"


def test_apps_suspended_with_an_approval_come_back_with_it_and_no_others() -> None:
    approved = developer()
    with_it, before_it = AppFactory(user=approved.user), AppFactory(user=approved.user)

    suspend_app(app=before_it, reason="Too many calls.", actor=UserFactory())
    withdraw_approval(application=approved, reason="No contact.", actor=UserFactory())
    # What is not about its status does not hide why it is suspended; and another developer has applied since.
    audit.record("app.change_logo", with_it, actor=approved.user, bytes=0)
    developer()
    sent_mails().clear()
    reviewer = UserFactory()
    overturn_decision(appeal=appealed(approved), **WHY, actor=reviewer)
    found = {app.pk: (app.status, app.status_reason) for app in App.objects.filter(user=approved.user)}
    assert found == {with_it.pk: ("Approved", WHY["reason"]), before_it.pk: ("Suspended", "Too many calls.")}
    approved.refresh_from_db()
    assert (approved.decision_reason, approved.decided_by) == (WHY["reason"], reviewer)
    assert approved.decided_at is not None
    assert approved.decided_at > timezone.now() - timedelta(minutes=1)
    (told,) = [str(message.body) for message in sent_mails() if message.to == [approved.user.email]]
    assert (with_it.name in told, before_it.name in told) == (True, False)


def test_withdrawn_approval_is_not_restored_if_the_developer_applied_again() -> None:
    withdrawn = withdrawn_approval()
    appeal = appealed(withdrawn)

    submit_application(user=withdrawn.user, what="A font browser", why="Again", actor=withdrawn.user)
    with pytest.raises(InvalidTransition):
        reverse(appeal)


@pytest.mark.slow
def test_waiting_appeal_has_a_position_and_the_usual_time(django_assert_num_queries: Any) -> None:
    first, second = appealed(), appealed(suspended_app())
    with django_assert_num_queries(2):
        wait = wait_of_appeal(second)
    assert wait is not None
    assert (wait.position, wait.usual_text) == (2, "")
    uphold_decision(appeal=first, **WHY, actor=UserFactory())
    wait = wait_of_appeal(second)
    assert wait is not None
    assert (wait.position, wait.usual_hours, wait.usual_text) == (1, 1, "1\xa0hour")
    assert wait_of_appeal(Appeal.objects.get(pk=first.pk)) is None


def test_waiting_listing_vendor_and_application_have_a_position_in_their_queue() -> None:
    cases: list[tuple[Callable[[], Any], Callable[[Any], Wait | None]]] = [
        (lambda: open_review(submitted(rejected())), wait_of_review),
        (lambda: make_vendor(VendorStatus.PENDING), wait_of_profile),
        (application, wait_of_application),
    ]
    # Those that are decided do not wait.
    make_vendor()
    approved = developer()
    for make, wait_of in cases:
        make()
        wait = wait_of(make())
        assert wait is not None
        assert wait.position == 2
    assert wait_of_application(approved) is None


def test_usual_time_ends_with_the_first_decision_whatever_is_decided_later(monkeypatch: pytest.MonkeyPatch) -> None:
    vendor = approve_vendor(profile=make_vendor(VendorStatus.PENDING), reason="Fine.", actor=UserFactory())
    approved = developer()
    later = timezone.now() + timedelta(days=300)
    monkeypatch.setattr(timezone, "now", lambda: later)
    suspend_vendor(profile=vendor, reason="Copied.", actor=UserFactory())
    withdraw_approval(application=approved, reason="Too many calls.", actor=UserFactory())
    for wait in (wait_of_profile(make_vendor(VendorStatus.PENDING)), wait_of_application(application())):
        assert wait is not None
        assert wait.usual_text == "1\xa0hour"
