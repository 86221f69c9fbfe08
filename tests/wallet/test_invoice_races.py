"""Invoices beside racing buyers, rollbacks and killed jobs: no gap, no number twice, in the order of the ledger."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from unittest.mock import patch

import pytest
from django.db import transaction
from django.utils import timezone

from tests.factories import UserFactory
from tests.files.makers import picture
from tests.races import at_once, outcomes_at_once, until_someone_waits
from tests.shop import bought, funded, on_sale
from tests.waiting import PATIENCE_SECONDS
from wallet.models import Invoice, Journal, Logo, Seller
from wallet.selectors import billing_details_of
from wallet.services import invoices as service
from wallet.services import offers
from wallet.services.billing import change_logo, save_billing_details, save_seller
from wallet.services.invoices import issue_invoices
from wallet.services.refunds import refund_order
from wallet.services.spending import spend

from .invoice_cases import BERLIN, MUMBAI, billed, issue, operator, rate, vendor_as_seller

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database, pytest.mark.usefixtures("books_agree")]
Deed = Callable[[], Any]


def buying(listing_id: Any, *, inr: int = 1_000_000) -> Deed:
    return partial(spend, buyer=funded(inr=inr), purchase=offers.PurchaseRequest(str(listing_id)))


def buying_in_vain(listing_id: Any) -> Deed:
    """Return a purchase that is rolled back after everything of it was written."""
    purchase = buying(listing_id)

    def run() -> None:
        with transaction.atomic():
            purchase()
            transaction.set_rollback(True)

    return run


def issuing() -> int:
    return issue_invoices(until=timezone.now())


def assert_complete() -> None:
    """Check that each sale and refund has its document, and that the numbers of each seller have no gap."""
    issue()
    journals = Journal.objects.filter(kind__in=("sale", "refund"))
    assert set(Invoice.objects.values_list("journal", flat=True)) == set(journals.values_list("pk", flat=True))
    for seller in Seller.objects.all():
        numbers = list(Invoice.objects.filter(seller=seller).order_by("sequence").values_list("sequence", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))


def test_invoice_jobs_during_sales_refunds_and_rollbacks_leave_no_gap_and_no_duplicate_number() -> None:
    operator()
    rate("IN", 1800)
    own = on_sale()
    vendor_as_seller(own.store.owner, MUMBAI)
    listings = [own, on_sale()]
    orders = [bought(listing) for listing in listings for _ in range(2)]
    deeds: list[Deed] = [partial(refund_order, order=order, reason="race", actor=None) for order in orders]
    for listing in listings:
        deeds += [buying(listing.pk) for _ in range(4)]
        deeds += [buying(listing.pk, inr=100), buying_in_vain(listing.pk)]
    outcomes = outcomes_at_once(*deeds, *[issuing] * 4)
    assert outcomes.count("insufficient_balance") == 2
    assert Journal.objects.filter(kind="sale").count() == 12
    assert_complete()


@pytest.mark.postgres
def test_sale_does_not_wait_for_the_invoice_job() -> None:
    seller, listing = operator(), on_sale()
    bought(listing)
    purchase = buying(listing.pk)
    with transaction.atomic():
        service._issue_batch(seller.pk, timezone.now(), everything=False)
        # Whoever needed a row that the job holds would be refused after a second.
        with patch.object(offers, "LOCK_TIMEOUT", "1s"):
            (outcome,) = outcomes_at_once(purchase)
    assert not isinstance(outcome, str)
    assert_complete()


@pytest.mark.postgres
def test_changed_details_of_a_seller_and_the_invoice_job_do_not_deadlock() -> None:
    listing = on_sale()
    seller = vendor_as_seller(listing.store.owner, MUMBAI)
    bought(listing)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            # The job has locked the seller, the vendor the details in force, then each needs the other's row.
            Seller.objects.select_for_update(no_key=True).get(pk=seller.pk)
            changing = pool.submit(at_once, partial(billed, listing.store.owner, BERLIN))
            until_someone_waits()
            assert service._issue_batch(seller.pk, timezone.now(), everything=False) == 1
        changing.result(PATIENCE_SECONDS)
    assert Invoice.objects.get().seller_details.city == "Mumbai"
    assert Seller.objects.get().details.city == "Berlin"


def test_concurrent_changes_of_billing_details_are_all_kept() -> None:
    user = UserFactory()
    billed(user, MUMBAI)
    changes = {"name": "Bo Ltd", "street": "3 New Road", "postal_code": "400002", "city": "Pune", "region": "29"}
    at_once(*(partial(save_billing_details, user=user, values={name: value}, actor=user) for name, value in changes.items()))
    details = billing_details_of(user)
    assert {name: getattr(details, name) for name in changes} == changes


@pytest.mark.postgres
def test_logo_and_address_of_the_operator_that_are_changed_at_once_are_both_kept() -> None:
    seller = operator()
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            save_seller(seller=seller, changed=["city"], details=BERLIN, actor=UserFactory())
            changing = pool.submit(at_once, partial(change_logo, user=None, image=picture(), actor=UserFactory()))
            until_someone_waits()
        changing.result(PATIENCE_SECONDS)
    seller.refresh_from_db()
    assert (seller.details, seller.details.city, seller.details.logo) == (billing_details_of(None), "Berlin", Logo.objects.get())


@pytest.mark.postgres
def test_vendor_as_seller_whom_staff_save_while_the_address_changes_has_the_new_address() -> None:
    vendor = UserFactory()
    vendor_as_seller(vendor, MUMBAI)
    staff = partial(save_seller, seller=Seller.objects.get(), changed=["service_code"], details={}, actor=UserFactory())
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            billed(vendor, BERLIN)
            saving = pool.submit(at_once, staff)
            until_someone_waits()
        saving.result(PATIENCE_SECONDS)
    assert Seller.objects.get().details.city == "Berlin"
