"""A vendor's discounts: when they apply is decided by the database's clock, and the catalog follows."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from rest_framework.test import APIClient

from catalog import bounds
from catalog.catalog_version import current_version
from catalog.models import Discount, Listing, ListingIndex
from catalog.services.discounts import end_discount_as_staff, update_discounted_listing
from library.jobs import build_published
from marketplace.core.errors import InvalidInput
from marketplace.core.models import AuditEntry
from marketplace.jobs.models import Job
from tests.eager import drain, sent_mails
from tests.factories import PublishedListingFactory, UserFactory
from tests.races import outcomes_at_once
from tests.shop import tiers
from vendors.models import VendorProfile
from vendors.services.discounts import add_discount

from .cases import publish

pytestmark = [pytest.mark.django_db, pytest.mark.database]
DAY = timedelta(days=1)


@pytest.fixture
def on_sale(vendor: VendorProfile) -> Listing:
    """A published listing of the vendor, for 10.00 USD and 499.00 INR."""
    tiers()
    listing: Listing = PublishedListingFactory(store=vendor.store, base_price_minor=1000, price_inr_minor=49_900)
    return listing


def path(listing: Listing, discount_id: str = "") -> str:
    return f"/api/v1/vendor/assets/{listing.pk}/discounts" + (f"/{discount_id}" if discount_id else "")


def at(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def give(client: APIClient, listing: Listing, percent: int = 30, **body: Any) -> Any:
    return client.post(path(listing), {"percent": percent, "endsAt": at(timezone.now() + DAY), **body}, format="json")


def shown(client: APIClient, listing: Listing) -> tuple[float, float, str | None]:
    """Return price, percentage and end as the catalog shows them."""
    answer = client.get(f"/api/v1/assets/{listing.pk}").json()
    return answer["priceUSD"], answer["discountPercent"], answer["discountEndsAt"]


def move(listing: Listing, by: timedelta) -> None:
    Discount.objects.filter(listing=listing).update(starts_at=F("starts_at") - by, ends_at=F("ends_at") - by)


def test_discount_that_begins_now_is_in_the_catalog_at_once_and_gone_when_it_ends(client: APIClient, on_sale: Listing) -> None:
    answer = give(client, on_sale)
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["code"]) == ("Running", None)
    assert shown(client, on_sale) == (7.0, 30.0, answer.json()["endsAt"])
    job = Job.objects.get(task_path__endswith="update_discounted_listing")
    assert job.run_after == Discount.objects.get().ends_at
    before = current_version()
    move(on_sale, 2 * DAY)
    update_discounted_listing.call(discount_id=str(Discount.objects.get().pk))
    assert shown(client, on_sale) == (10.0, 0.0, None)
    assert current_version() != before


def test_planned_discount_is_shown_from_its_beginning_and_leaves_the_catalog_alone_until_then(client: APIClient, on_sale: Listing) -> None:
    before, start = current_version(), timezone.now() + DAY
    assert give(client, on_sale, startsAt=at(start), endsAt=at(start + DAY)).json()["status"] == "Planned"
    assert shown(client, on_sale)[0] == 10.0
    assert current_version() == before
    move(on_sale, DAY + timedelta(minutes=1))
    Job.objects.update(run_after=timezone.now())
    drain()
    assert shown(client, on_sale)[:2] == (7.0, 30.0)
    # The next run is at the end.
    assert Job.objects.filter(status="READY").get().run_after == Discount.objects.get().ends_at


def test_discounts_that_begin_at_once_run_after_other_jobs(client: APIClient, on_sale: Listing) -> None:
    start = timezone.now() + DAY
    give(client, on_sale, startsAt=at(start), endsAt=at(start + DAY))
    other = build_published.using(run_after=start).enqueue(str(on_sale.pk))
    Job.objects.update(run_after=timezone.now())
    assert next(str(job.pk) for job in Job.objects.ready()) == other.id


def test_larger_of_two_discounts_counts(client: APIClient, on_sale: Listing) -> None:
    Listing.objects.filter(pk=on_sale.pk).update(discount_bp=4000)
    give(client, on_sale, percent=30)
    assert shown(client, on_sale) == (6.0, 40.0, None)


def test_discount_with_a_code_does_not_change_the_catalog(client: APIClient, on_sale: Listing) -> None:
    assert give(client, on_sale, code="spring-24").json()["code"] == "SPRING-24"
    assert shown(client, on_sale)[0] == 10.0
    assert not Job.objects.filter(task_path__endswith="update_discounted_listing").exists()


def test_catalog_orders_and_filters_by_the_discounted_price(client: APIClient, on_sale: Listing) -> None:
    other = PublishedListingFactory(store=on_sale.store, base_price_minor=800, price_inr_minor=40_000)
    give(client, on_sale, percent=50)
    found = client.get("/api/v1/assets?sort=price_asc").json()["items"]
    assert [item["id"] for item in found] == [str(on_sale.pk), str(other.pk)]
    cheap = client.get("/api/v1/assets?maxPrice=300&currency=INR").json()["items"]
    assert [item["id"] for item in cheap] == [str(on_sale.pk)]


def test_ended_discount_leaves_the_catalog_and_a_planned_one_is_deleted(client: APIClient, on_sale: Listing) -> None:
    running = give(client, on_sale).json()["id"]
    start = timezone.now() + 2 * DAY
    planned = give(client, on_sale, startsAt=at(start), endsAt=at(start + DAY)).json()["id"]
    ended = client.delete(path(on_sale, running))
    assert (ended.status_code, ended.json()["status"]) == (200, "Ended")
    assert shown(client, on_sale)[0] == 10.0
    deleted = client.delete(path(on_sale, planned))
    assert (deleted.status_code, deleted.json()["status"]) == (200, "Ended")
    assert [(row["id"], row["status"]) for row in client.get(path(on_sale)).json()["items"]] == [(running, "Ended")]
    assert client.delete(path(on_sale, running)).status_code == client.delete(path(on_sale, "x")).status_code == 404


def test_discount_ended_by_staff_leaves_the_catalog_and_the_vendor_is_mailed_the_reason(client: APIClient, on_sale: Listing) -> None:
    give(client, on_sale)
    start = timezone.now() + 2 * DAY
    give(client, on_sale, startsAt=at(start), endsAt=at(start + DAY))
    staff, planned = UserFactory(is_staff=True), Discount.objects.get(starts_at__gt=timezone.now())
    with pytest.raises(InvalidInput):
        end_discount_as_staff(discount=planned, reason=" ", actor=staff)
    for discount in Discount.objects.all():
        end_discount_as_staff(discount=discount, reason="The price is misleading.", actor=staff)
    assert shown(client, on_sale)[0] == 10.0
    assert not Discount.objects.filter(pk=planned.pk).exists()
    assert [entry.reason for entry in AuditEntry.objects.filter(action="listing.end_discount", actor=staff)] == [
        "The price is misleading."
    ] * 2
    told = [mail for mail in sent_mails() if "discount" in mail.subject]
    assert [mail.to for mail in told] == [[on_sale.store.owner.email]] * 2
    assert all("The price is misleading." in str(mail.body) for mail in told)


@pytest.mark.parametrize(
    ("starts", "ends"),
    [(None, -1), (None, 366), (2, 1), (366, 367), (1, 367), (1, 1)],
    ids=["past", "too long", "backwards", "too early", "planned too long", "empty"],
)
def test_period_that_does_not_fit_is_refused(client: APIClient, on_sale: Listing, starts: int | None, ends: int) -> None:
    now = timezone.now()
    body: dict[str, Any] = {"endsAt": at(now + ends * DAY)} | ({} if starts is None else {"startsAt": at(now + starts * DAY)})
    answer = give(client, on_sale, **body)
    assert (answer.status_code, answer.json()["code"]) == (422, "discount_period_invalid")


@pytest.mark.parametrize("moment", ["2030-02-30T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "2030-01-01T00:00:60Z"])
def test_impossible_time_of_a_discount_is_refused(client: APIClient, on_sale: Listing, moment: str) -> None:
    assert give(client, on_sale, endsAt=moment).status_code == 422
    assert give(client, on_sale, startsAt=moment).status_code == 422 or moment.startswith("0000")


def test_two_discounts_at_the_same_time_are_refused(client: APIClient, on_sale: Listing) -> None:
    give(client, on_sale)
    give(client, on_sale, code="SPRING")
    assert give(client, on_sale).json()["code"] == "discount_overlaps"
    assert give(client, on_sale, code="spring").json()["code"] == "discount_overlaps"
    assert give(client, on_sale, code="SUMMER").status_code == 200
    # The next may begin when the first has ended.
    first = Discount.objects.get(code="")
    assert give(client, on_sale, startsAt=at(first.ends_at), endsAt=at(first.ends_at + DAY)).status_code == 200


def test_database_refuses_two_discounts_at_the_same_time(on_sale: Listing) -> None:
    now = timezone.now()
    Discount.objects.create(listing=on_sale, percent=10, starts_at=now, ends_at=now + DAY)
    later = Discount.objects.create(listing=on_sale, percent=20, starts_at=now + 2 * DAY, ends_at=now + 3 * DAY)
    for change in (
        lambda: Discount.objects.create(listing=on_sale, percent=20, starts_at=now - DAY, ends_at=now + timedelta(hours=1)),
        lambda: Discount.objects.filter(pk=later.pk).update(starts_at=now),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()
    assert Discount.objects.filter(pk=later.pk).update(percent=30) == 1


def test_listing_has_a_bounded_number_of_discounts(client: APIClient, on_sale: Listing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_DISCOUNTS", 2)
    for number in range(2):
        assert give(client, on_sale, code=f"CODE-{number}").status_code == 200
    assert give(client, on_sale).json()["code"] == "too_many_discounts"
    move(on_sale, 2 * DAY)
    assert give(client, on_sale).status_code == 200


def test_draft_gets_its_discount_when_it_is_published(client: APIClient, listing: Listing) -> None:
    assert give(client, listing).status_code == 200
    assert not ListingIndex.objects.exists()
    publish(listing)
    assert shown(client, listing)[1] == 30.0


def test_discounts_that_ended_long_ago_are_deleted(client: APIClient, on_sale: Listing) -> None:
    give(client, on_sale)
    move(on_sale, timedelta(days=bounds.ENDED_DISCOUNT_DAYS + 2))
    give(client, on_sale)
    call_command("purge", "discounts")
    assert Discount.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_of_concurrent_overlapping_discounts_is_created(vendor: VendorProfile, on_sale: Listing) -> None:
    add = partial(add_discount, listing=on_sale, percent=10, ends_at=timezone.now() + DAY, actor=vendor.user)
    outcomes = outcomes_at_once(*[add] * 6)
    assert outcomes.count("discount_overlaps") == 5
    assert Discount.objects.count() == 1
