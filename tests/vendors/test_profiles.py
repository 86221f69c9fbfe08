"""Applying to sell, and the decisions on it."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks
from rest_framework.test import APIClient

from catalog.models import ListingIndex, Store
from developers.models import DeveloperApplication
from marketplace.accounts.models import User
from marketplace.api.serializers import parse_body
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidInput, InvalidTransition
from tests.factories import PublishedListingFactory, UserFactory
from vendors.models import VendorProfile, VendorStatus
from vendors.services.profiles import approve_vendor, reinstate_vendor, reject_vendor, set_commission, suspend_vendor

from .cases import make_vendor

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

APPLY = "/api/v1/vendor/apply"
STATUS = "/api/v1/vendor/application-status"
BODY = {"storeName": "North Type", "storeSlug": "north-type"}


@pytest.fixture
def developer() -> User:
    user = UserFactory()
    DeveloperApplication.objects.create(user=user, status="Approved", what="x", why="y", submitted_at=timezone.now())
    return user


@pytest.fixture
def staff() -> User:
    return UserFactory(is_staff=True)


@pytest.mark.slow
def test_store_is_changed_by_the_api_and_omitted_fields_are_kept(bearer_client: Callable[..., APIClient], staff: User) -> None:
    client = bearer_client(staff)
    client.post(APPLY, BODY | {"bio": "Letters."}, format="json")
    changed = client.patch("/api/v1/vendor/store", {"storeName": "South Type"}, format="json")
    assert (changed.json()["storeName"], changed.json()["bio"]) == ("South Type", "Letters.")
    known = client.get(STATUS).json()
    assert changed.json() == known
    assert client.patch("/api/v1/vendor/store", known | {"storeSlug": "other", "bio": ""}, format="json").json() == known | {"bio": ""}
    assert client.patch("/api/v1/vendor/store", {"storeName": ""}, format="json").json()["code"] == "invalid_input"
    VendorProfile.objects.update(status=VendorStatus.SUSPENDED)
    refused = client.patch("/api/v1/vendor/store", {"bio": "New."}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (403, "vendor_not_approved")


def test_field_that_a_request_leaves_out_keeps_what_another_request_has_just_changed(
    bearer_client: Callable[..., APIClient], vendor: VendorProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse_later(*args: Any) -> dict[str, Any]:
        VendorProfile.objects.update(bio="Newer.")
        return parse_body(*args)

    monkeypatch.setattr("vendors.api.views.store.parse_body", parse_later)
    changed = bearer_client(vendor.user).patch("/api/v1/vendor/store", {"storeName": "South Type"}, format="json")
    assert changed.json()["storeName"] == "South Type"
    vendor.refresh_from_db()
    assert vendor.bio == "Newer."


def test_taken_store_slug_conflicts_and_leaves_nothing(bearer_client: Callable[..., APIClient]) -> None:
    taken = make_vendor().store.slug
    client = bearer_client()
    answer = client.post(APPLY, BODY | {"storeSlug": taken}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "store_slug_taken")
    assert VendorProfile.objects.count() == 1
    assert client.post(APPLY, BODY, format="json").status_code == 200


@pytest.mark.parametrize(
    ("who", "auto", "status"),
    [("developer", {}, "Approved"), ("staff", {"autoApprove": True}, "Approved"), ("developer", {"autoApprove": False}, "Pending")],
)
def test_developer_or_staff_is_approved_unless_declined(
    who: str, auto: dict[str, bool], status: str, request: pytest.FixtureRequest, bearer_client: Callable[..., APIClient]
) -> None:
    answer = bearer_client(request.getfixturevalue(who)).post(APPLY, BODY | auto, format="json")
    assert (answer.status_code, answer.json()["status"]) == (200, status)
    assert Store.objects.get().is_open is (status == "Approved")


def test_vendor_application_of_others_is_pending_even_with_auto_approve(bearer_client: Callable[..., APIClient]) -> None:
    user = UserFactory()
    data = {"links": ["https://example.com"], "proof": {"handle": "@north"}}
    body = BODY | {"autoApprove": True, "bio": "Since 1998.", "applicationDataJson": json.dumps(data)}
    # What is read of a profile can be sent back, and changes nothing.
    body |= {"status": "Approved", "commissionRate": 0, "payoutMethod": "x", "queue": None}
    answer = bearer_client(user).post(APPLY, body, format="json")
    profile = VendorProfile.objects.get()
    assert answer.json() == {
        "id": str(profile.id),
        "userId": str(user.id),
        "storeName": "North Type",
        "storeSlug": "north-type",
        "status": "Pending",
        "commissionRate": 0.2,
    }
    assert (profile.application_data, profile.bio) == (data, "Since 1998.")
    assert not Store.objects.get().is_open


def test_withdrawn_developer_waits(developer: User, bearer_client: Callable[..., APIClient]) -> None:
    DeveloperApplication.objects.update(status="Withdrawn")
    assert bearer_client(developer).post(APPLY, BODY, format="json").json()["status"] == "Pending"


def test_application_status_is_returned_in_every_state_and_is_a_404_without_a_profile(bearer_client: Callable[..., APIClient]) -> None:
    for status in VendorStatus:
        answer = bearer_client(make_vendor(status).user).get(STATUS)
        assert (answer.status_code, answer.json()["status"], answer.json()["payoutMethod"]) == (200, status, None)
    missing = bearer_client().get(STATUS)
    assert (missing.status_code, missing.json()["code"]) == (404, "vendor_profile_missing")


# What else the state refuses is in `tests/architecture/test_states.py`.
@pytest.mark.parametrize(
    ("before", "decide", "after", "subject"),
    [
        (VendorStatus.PENDING, approve_vendor, VendorStatus.APPROVED, "is open"),
        (VendorStatus.PENDING, reject_vendor, VendorStatus.SUSPENDED, "was not approved"),
        (VendorStatus.APPROVED, suspend_vendor, VendorStatus.SUSPENDED, "is suspended"),
        (VendorStatus.SUSPENDED, reinstate_vendor, VendorStatus.APPROVED, "is open"),
    ],
)
def test_decision_opens_or_closes_the_store_once_and_tells_the_vendor_why(
    before: VendorStatus,
    decide: Callable[..., VendorProfile],
    after: VendorStatus,
    subject: str,
    staff: User,
    mailoutbox: list[EmailMessage],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    profile = make_vendor(before)
    Store.objects.update(name="R&D <Type>")
    PublishedListingFactory(store=profile.store)
    with django_capture_on_commit_callbacks(execute=True):
        decide(profile=profile, reason="Look & feel", actor=staff)
    with pytest.raises(InvalidTransition):
        decide(profile=profile, reason="Look & feel", actor=staff)
    profile.refresh_from_db()
    assert (profile.status, profile.store.is_open, profile.decided_by) == (after, after == VendorStatus.APPROVED, staff)
    assert ListingIndex.objects.exists() == profile.store.is_open
    assert profile.decided_at is not None
    assert profile.updated_at >= profile.decided_at
    entry = history_of(profile).get()
    assert (entry.from_state, entry.to_state, entry.reason, entry.actor) == (before, after, "Look & feel", staff)
    (mail,) = mailoutbox
    assert (mail.subject, mail.to) == (f"R&D <Type> {subject}", [profile.user.email])
    assert "Look & feel" in mail.body


def test_commission_is_set_for_one_store_only(staff: User) -> None:
    profile, other = make_vendor(), make_vendor()
    for before, after in ((2_000, 1_500), (1_500, 1_800)):
        set_commission(profile=profile, commission_rate_bp=after, reason="volume", actor=staff)
        rates = [VendorProfile.objects.get(pk=row.pk).commission_rate_bp for row in (profile, other)]
        assert rates == [after, 2_000]
        entry = history_of(profile)[0]
        assert (entry.action, entry.data, entry.reason) == ("vendor.set_commission", {"before": before, "after": after}, "volume")


def test_database_refuses_an_impossible_commission() -> None:
    profile = make_vendor()
    with pytest.raises(IntegrityError), transaction.atomic():
        VendorProfile.objects.filter(pk=profile.pk).update(commission_rate_bp=10_001)


@pytest.mark.parametrize("change", [approve_vendor, partial(set_commission, commission_rate_bp=1)])
def test_decision_without_a_reason_is_refused(change: Callable[..., object], vendor: VendorProfile) -> None:
    with pytest.raises(InvalidInput):
        change(profile=vendor, reason=" ", actor=UserFactory())
