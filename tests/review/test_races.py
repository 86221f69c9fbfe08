"""Two at once: one appeal is made, and one decision on it stands."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http import HTTPStatus

import pytest
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import Model
from django.urls import reverse

from catalog.models import Listing, SearchSynonym
from catalog.services.submission import submit_listing
from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.errors import InvalidTransition
from marketplace.core.transitions import lock
from marketplace.review.appeals import overturn_decision, submit_appeal, uphold_decision
from marketplace.review.errors import AppealExists
from marketplace.review.models import Appeal
from tests.callers import signed_in
from tests.catalog.cases import PASSED
from tests.factories import UserFactory
from tests.races import at_once, one_stands, refusals_at_once, until_someone_waits
from tests.review.cases import appealed, decision_on, suspended_app, suspended_vendor, taken_down, withdrawn_approval
from tests.waiting import PATIENCE_SECONDS
from vendors.services.profiles import reinstate_vendor

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


def test_one_of_concurrent_appeals_against_a_decision_is_created() -> None:
    listing = taken_down()
    decision = decision_on(listing)
    outcomes = refusals_at_once(*[partial(submit_appeal, decision=decision, text="Mine.", actor=listing.store.owner)] * 5)
    assert one_stands(outcomes, AppealExists), outcomes
    assert Appeal.objects.count() == 1


def test_one_of_concurrent_decisions_on_an_appeal_succeeds() -> None:
    appeal = appealed()
    decide = (overturn_decision, uphold_decision) * 3
    outcomes = refusals_at_once(*[partial(each, appeal=appeal, reason="Looked at.", actor=UserFactory()) for each in decide])
    assert one_stands(outcomes, InvalidTransition), outcomes


def test_suspension_that_ends_while_its_appeal_is_accepted_ends_once() -> None:
    profile = suspended_vendor()
    appeal = appealed(profile)
    outcomes = refusals_at_once(
        partial(overturn_decision, appeal=appeal, reason="Looked at.", actor=UserFactory()),
        partial(reinstate_vendor, profile=profile, reason="Explained.", actor=UserFactory()),
    )
    assert one_stands(outcomes, InvalidTransition), outcomes


def test_listing_submitted_while_its_takedown_is_overturned_is_either_published_or_in_review() -> None:
    listing = taken_down()
    appeal = appealed(listing)
    at_once(
        partial(overturn_decision, appeal=appeal, reason="Looked at.", actor=UserFactory()),
        partial(submit_listing, listing=listing, checks=PASSED, actor=listing.store.owner),
    )
    listing, status = Listing.objects.get(pk=listing.pk), Appeal.objects.get().status
    assert (status, listing.status) in {("Accepted", "Published"), ("Pending", "PendingReview")}


@pytest.mark.parametrize(
    ("page", "row", "values"),
    [
        (
            "catalog_searchsynonym",
            SearchSynonym(word="zither", synonyms="strings"),
            {"word": "zither", "synonyms": "guitar", "is_active": "on"},
        ),
        ("auth_group", Group(name="Reviewers"), {"name": "Reviewers"}),
    ],
)
def test_second_of_two_rows_with_one_name_saved_at_once_is_refused_by_its_form(
    reviewer: User, page: str, row: Model, values: dict[str, str]
) -> None:
    browser = signed_in(reviewer)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            row.save()
            waiting = pool.submit(at_once, partial(browser.post, reverse(f"admin:{page}_add"), values))
            until_someone_waits()
        [response] = waiting.result(PATIENCE_SECONDS)
    assert response.status_code == HTTPStatus.OK
    assert response.context["adminform"].errors


@pytest.mark.parametrize("appealable", [taken_down, suspended_vendor, suspended_app, withdrawn_approval])
def test_deletion_of_an_account_locks_its_appeals_before_what_they_are_about(appealable: Callable[[], Model]) -> None:
    subject = appealable()
    appeal = appealed(subject)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock(Appeal.objects.all(), pk=appeal.pk)
            waiting = pool.submit(refusals_at_once, partial(delete_account, user=appeal.appellant, reason="Asked for", actor=None))
            until_someone_waits()
            # A decision on the appeal takes it next.
            assert type(subject)._default_manager.select_for_update(nowait=True).get() == subject
        assert waiting.result(PATIENCE_SECONDS) == [None]
    assert not Appeal.objects.exists()
