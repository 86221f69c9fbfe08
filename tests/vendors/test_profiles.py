"""Applying to sell, and the decisions on it."""

import json
from collections.abc import Callable
from functools import partial

import pytest
from django.core.mail import EmailMessage
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks
from rest_framework.test import APIClient

from catalog.models import Store
from developers.models import DeveloperApplication
from marketplace.accounts.models import User
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidInput, InvalidTransition
from tests.factories import StoreFactory, UserFactory
from vendors.models import VendorProfile, VendorStatus
from vendors.services.profiles import approve_vendor, reinstate_vendor, set_commission, suspend_vendor

from .cases import make_vendor

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

APPLY = "/api/v1/vendor/apply"
STATUS = "/api/v1/vendor/application-status"
BODY = {"storeName": "North Type", "storeSlug": "north-type"}
RECORD_KEYS = {"id", "userId", "storeName", "storeSlug", "status", "commissionRate"}


@pytest.fixture
def developer() -> User:
    user = UserFactory()
    DeveloperApplication.objects.create(user=user, status="Approved", what="x", why="y", submitted_at=timezone.now())
    return user


@pytest.fixture
def staff() -> User:
    return UserFactory(is_staff=True)


def test_second_vendor_application_is_a_409(bearer_client: Callable[..., APIClient]) -> None:
    client = bearer_client()
    assert client.post(APPLY, BODY, format="json").status_code == 200
    answer = client.post(APPLY, BODY | {"storeSlug": "other"}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "vendor_profile_exists")


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


def test_taken_store_slug_conflicts_and_leaves_nothing(bearer_client: Callable[..., APIClient]) -> None:
    StoreFactory(slug="north-type")
    client = bearer_client()
    answer = client.post(APPLY, BODY, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "store_slug_taken")
    assert not VendorProfile.objects.exists()
    assert client.post(APPLY, BODY | {"storeSlug": "south-type"}, format="json").status_code == 200


def test_status_of_a_user_without_a_vendor_profile_is_a_404(bearer_client: Callable[..., APIClient]) -> None:
    answer = bearer_client().get(STATUS)
    assert (answer.status_code, answer.json()["code"]) == (404, "vendor_profile_missing")


@pytest.mark.parametrize(("auto", "status"), [(None, "Approved"), (True, "Approved"), (False, "Pending")])
@pytest.mark.parametrize("who", ["developer", "staff"])
def test_developer_or_staff_is_approved_unless_declined(
    who: str, *, auto: bool | None, status: str, request: pytest.FixtureRequest, bearer_client: Callable[..., APIClient]
) -> None:
    user = request.getfixturevalue(who)
    body = BODY if auto is None else BODY | {"autoApprove": auto}
    answer = bearer_client(user).post(APPLY, body, format="json")
    assert answer.status_code == 200
    assert set(answer.json()) == RECORD_KEYS
    assert answer.json()["status"] == status
    assert Store.objects.get().is_open is (status == "Approved")


def test_vendor_application_of_others_is_pending_even_with_auto_approve(bearer_client: Callable[..., APIClient]) -> None:
    user = UserFactory()
    data = {"links": ["https://example.com"], "proof": {"handle": "@north"}}
    body = BODY | {"autoApprove": True, "bio": "Since 1998.", "applicationDataJson": json.dumps(data)}
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


@pytest.mark.parametrize("status", VendorStatus)
def test_application_status_is_returned_in_every_state(status: VendorStatus, bearer_client: Callable[..., APIClient]) -> None:
    profile = make_vendor(status)
    answer = bearer_client(profile.user).get(STATUS)
    assert answer.status_code == 200
    assert set(answer.json()) == RECORD_KEYS | {"payoutMethod", "queue", "bio", "logoUrl", "bannerUrl"}
    assert (answer.json()["status"], answer.json()["payoutMethod"]) == (status, None)


def test_profile_read_can_be_sent_back(bearer_client: Callable[..., APIClient]) -> None:
    answer = bearer_client().post(
        APPLY, BODY | {"status": "Approved", "commissionRate": 0, "payoutMethod": "x", "queue": None}, format="json"
    )
    assert (answer.status_code, answer.json()["status"], answer.json()["commissionRate"]) == (200, "Pending", 0.2)


@pytest.mark.parametrize(
    ("status", "decide", "after", "is_open"),
    [
        (VendorStatus.PENDING, approve_vendor, "Approved", True),
        (VendorStatus.PENDING, suspend_vendor, "Suspended", False),
        (VendorStatus.APPROVED, suspend_vendor, "Suspended", False),
        (VendorStatus.SUSPENDED, reinstate_vendor, "Approved", True),
    ],
)
def test_decision_on_a_vendor_changes_the_profile_and_opens_or_closes_the_store(
    status: VendorStatus, decide: Callable[..., VendorProfile], after: str, *, is_open: bool, staff: User
) -> None:
    profile = decide(profile=make_vendor(status), reason="because", actor=staff)
    profile.refresh_from_db()
    assert (profile.status, profile.store.is_open, profile.decided_by) == (after, is_open, staff)
    assert profile.decided_at is not None
    assert profile.updated_at >= profile.decided_at
    entry = history_of(profile)[0]
    assert (entry.from_state, entry.to_state, entry.reason, entry.actor) == (status, after, "because", staff)


@pytest.mark.parametrize(
    ("status", "decide", "subject"),
    [
        (VendorStatus.PENDING, approve_vendor, "is open"),
        (VendorStatus.APPROVED, suspend_vendor, "is suspended"),
        (VendorStatus.SUSPENDED, reinstate_vendor, "is open"),
    ],
)
def test_vendor_is_mailed_the_decision_and_its_reason(
    status: VendorStatus,
    decide: Callable[..., VendorProfile],
    subject: str,
    staff: User,
    mailoutbox: list[EmailMessage],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    profile = make_vendor(status)
    Store.objects.update(name="R&D <Type>")
    with django_capture_on_commit_callbacks(execute=True):
        decide(profile=profile, reason="Look & feel", actor=staff)
    (mail,) = mailoutbox
    assert (mail.subject, mail.to) == (f"R&D <Type> {subject}", [profile.user.email])
    assert "Look & feel" in mail.body


@pytest.mark.parametrize(
    ("status", "decide"),
    [
        (VendorStatus.APPROVED, approve_vendor),
        (VendorStatus.SUSPENDED, approve_vendor),
        (VendorStatus.SUSPENDED, suspend_vendor),
        (VendorStatus.PENDING, reinstate_vendor),
        (VendorStatus.APPROVED, reinstate_vendor),
    ],
)
def test_decision_that_the_state_of_a_vendor_does_not_permit_is_refused(
    status: VendorStatus, decide: Callable[..., VendorProfile], staff: User
) -> None:
    profile = make_vendor(status)
    with pytest.raises(InvalidTransition):
        decide(profile=profile, reason="because", actor=staff)
    profile.refresh_from_db()
    assert profile.status == status
    assert not history_of(profile).exists()


def test_commission_is_set_for_one_store_only(staff: User) -> None:
    profile, other = make_vendor(), make_vendor()
    set_commission(profile=profile, commission_rate_bp=1_500, reason="volume", actor=staff)
    rates = [VendorProfile.objects.get(pk=row.pk).commission_rate_bp for row in (profile, other)]
    assert rates == [1_500, 2_000]
    entry = history_of(profile)[0]
    assert (entry.action, entry.data) == ("vendor.set_commission", {"before": 2_000, "after": 1_500})


def test_database_refuses_an_impossible_commission() -> None:
    profile = make_vendor()
    with pytest.raises(IntegrityError), transaction.atomic():
        VendorProfile.objects.filter(pk=profile.pk).update(commission_rate_bp=10_001)


@pytest.mark.parametrize(
    "change",
    [approve_vendor, suspend_vendor, reinstate_vendor, partial(set_commission, commission_rate_bp=1)],
)
def test_decision_without_a_reason_is_refused(change: Callable[..., object], vendor: VendorProfile) -> None:
    with pytest.raises(InvalidInput):
        change(profile=vendor, reason=" ", actor=UserFactory())
