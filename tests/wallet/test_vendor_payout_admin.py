"""Payouts in the admin, and the mail that tells of one: to whom they are shown, with what sums, and nothing to others."""

import csv
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from marketplace.core.models import AuditEntry
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from vendors.models import PayoutDetails, VendorProfile
from vendors.services.payout_details import hold_payouts
from wallet.admin import payout_batches as admin
from wallet.models import PayoutBatch, VendorPayout
from wallet.services.payout_batches import prepare_batch
from wallet.services.vendor_payouts import export_batch, mark_batch_paid, open_batch
from wallet.spreadsheets import store_slug_of

from .payees import NUMBER, account_of, changed_bank_account, end_waiting_time, payee, payout_of

pytestmark = [pytest.mark.django_db, pytest.mark.database]
LIST, EXPORT = "admin:wallet_vendorpayout_changelist", "admin:wallet_vendorpayout_export"
BATCH, PREPARE = "admin:wallet_payoutbatch", "admin:wallet_payoutbatch_prepare"


def paid(run: str, profile: VendorProfile | None = None, currency: str = "INR") -> VendorPayout:
    profile = profile or payee()
    bought(on_sale(store=profile.store), funded(inr=100_000, usd=100_000), currency=currency)
    return payout_of(account_of(profile, currency), run)


def shown(client: Client, **query: str) -> dict[str, Any]:
    response: Any = client.get(reverse(LIST), query)
    found: dict[str, Any] = response.context_data
    return found


def sheet(response: Any) -> list[list[str]]:
    return list(csv.reader(b"".join(response.streaming_content).decode().splitlines()))


def test_staff_with_view_permission_cannot_export_payouts_or_see_bank_accounts(staff: Callable[..., Client]) -> None:
    payout = paid("a")
    export_batch(batch=payout.batch, actor=None)
    client = staff("view_vendorpayout")
    page = client.get(reverse(LIST)).content.decode()
    row = client.get(reverse("admin:wallet_vendorpayout_change", args=[payout.pk])).content.decode()
    batch = staff("view_payoutbatch", "view_vendorpayout").get(reverse(f"{BATCH}_change", args=[payout.batch_id])).content.decode()
    assert client.get(reverse(EXPORT)).status_code == 403
    assert reverse(EXPORT) not in page
    assert "₹399.20" in page
    for secret in (NUMBER, "ending in", reverse(f"{BATCH}_file", args=[payout.batch_id])):
        assert secret not in page + row + batch
    # Who may export and not look is refused too.
    assert staff("export_vendorpayout").get(reverse(EXPORT)).status_code == 403
    assert staff("view_vendorpayout", "export_vendorpayout").post(reverse(EXPORT)).status_code == 405


def test_list_of_vendor_payouts_is_filtered_and_summed_and_exported_without_formulas(
    staff: Callable[..., Client], django_assert_max_num_queries: Any
) -> None:
    vendor = payee()
    export_batch(batch=paid("a", vendor).batch, actor=None)
    paid("b", vendor), paid("b"), paid("b", currency="USD")
    for batch in PayoutBatch.objects.filter(run="b"):
        export_batch(batch=batch, actor=None)
    for batch in PayoutBatch.objects.all():
        mark_batch_paid(batch=batch, actor=None)
    paid("prepared")
    client = staff("view_vendorpayout", "export_vendorpayout")
    client.get(reverse(LIST))
    # However many there are.
    with django_assert_max_num_queries(15):
        paid_in_all = shown(client)["paid"]
    assert paid_in_all == ["₹1,197.60", "$8.00"]
    for query, sums in (
        ({"run": "a"}, ["₹399.20"]),
        ({"run": "prepared"}, []),
        ({"currency": "USD"}, ["$8.00"]),
        ({"q": vendor.store.slug}, ["₹798.40"]),
        ({"q": vendor.user.email, "run": "b"}, ["₹399.20"]),
    ):
        assert shown(client, **query)["paid"] == sums, query
    PayoutDetails.objects.update(label="=HYPERLINK()")
    exported = client.get(shown(client, run="b")["export_url"])
    assert "no-store" in exported["Cache-Control"]
    _, *lines = sheet(exported)
    assert sorted((line[0], line[5], line[6]) for line in lines) == [("b", "INR", "399.20"), ("b", "INR", "399.20"), ("b", "USD", "8.00")]
    assert {line[4] for line in lines} == {"'=HYPERLINK()"}


def test_page_of_a_batch_shows_only_the_newest_payouts(staff: Callable[..., Client], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admin, "PAYOUTS_SHOWN", 1)
    first, second = paid("a"), paid("a")
    page = staff("view_payoutbatch").get(reverse(f"{BATCH}_change", args=[first.batch_id])).content.decode()
    assert [store_slug_of(payout.account) in page for payout in (first, second)] == [False, True]


def test_bank_file_is_downloaded_by_staff_with_the_permission_and_each_download_is_on_record(staff: Callable[..., Client]) -> None:
    payout = paid("a")
    client = staff("export_payoutbatch")
    file = reverse(f"{BATCH}_file", args=[payout.batch_id])
    for refused in (staff("view_payoutbatch", "view_vendorpayout"), staff("settle_vendorpayout", "view_payoutbatch")):
        assert refused.post(file).status_code == 403
    # Not before it is exported.
    assert client.post(file).status_code == 302
    assert not AuditEntry.objects.filter(action="payout_batch.download").exists()
    client.post(reverse(f"{BATCH}_export", args=[payout.batch_id]))
    assert file in client.get(reverse(f"{BATCH}_change", args=[payout.batch_id])).content.decode()
    assert client.get(file).status_code == 405
    answer = client.post(file)
    assert NUMBER in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert answer["Content-Disposition"] == 'attachment; filename="payouts-a-INR.csv"'
    assert AuditEntry.objects.filter(action="payout_batch.download", subject_id=str(payout.batch_id)).count() == 1
    assert client.post(reverse(f"{BATCH}_file", args=["01900000-0000-7000-8000-000000000000"])).status_code == 404


TERMS = {"run": "2026-11", "currency": "INR", "minimum": "50", "euro_rate": ""}


def test_batch_is_prepared_by_staff_with_the_permission_after_a_confirmation_that_shows_what_is_due(staff: Callable[..., Client]) -> None:
    able, unable = payee(), payee()
    PayoutDetails.objects.filter(profile=unable).update(withdrawn_at=timezone.now())
    for profile in (able, unable):
        bought(on_sale(store=profile.store), funded(inr=100_000))
    assert staff("view_payoutbatch", "export_payoutbatch", "settle_vendorpayout").post(reverse(PREPARE), TERMS).status_code == 403
    client = staff("prepare_payoutbatch")
    assert client.get(reverse(PREPARE)).status_code == 200
    for wrong in ({"run": "a b"}, {"minimum": "0"}, {"euro_rate": "11"}, {"euro_rate": "0.9"}):
        assert client.post(reverse(PREPARE), TERMS | wrong | {"confirmed": "yes"}).status_code == 400
    shown_page = client.post(reverse(PREPARE), TERMS)
    assert (shown_page.status_code, shown_page.context["due"]) == (200, {"count": 2, "total": 79_840})
    assert not PayoutBatch.objects.exists()
    done = client.post(reverse(PREPARE), TERMS | {"confirmed": "yes"}, follow=True)
    payout = VendorPayout.objects.get()
    assert (payout.account.owner_id, payout.amount_minor, payout.batch.run) == (able.user_id, 39_920, "2026-11")
    assert unable.store.slug in done.content.decode()
    assert str(AuditEntry.objects.get(action="payout.prepare").actor_id) == client.session["_auth_user_id"]
    # The same run again pays nobody twice.
    client.post(reverse(PREPARE), TERMS | {"confirmed": "yes"})
    assert VendorPayout.objects.count() == 1


def test_batch_of_many_vendors_is_prepared_in_parts(staff: Callable[..., Client], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wallet.services.payout_batches.PREPARED_AT_ONCE", 1)
    profiles = [payee() for _ in range(3)]
    for profile in profiles:
        bought(on_sale(store=profile.store), funded(inr=100_000))
    hold_payouts(profile=profiles[0], reason="test", actor=UserFactory(is_staff=True))
    client = staff("prepare_payoutbatch")
    for count, remain in ((1, True), (2, False), (2, False)):
        answer = client.post(reverse(PREPARE), TERMS | {"confirmed": "yes"}, follow=True)
        assert VendorPayout.objects.count() == count
        assert ("Prepare the run again" in answer.content.decode()) == remain


def test_vendor_whose_bank_account_is_too_new_is_not_prepared_before_those_who_can_be_paid(
    staff: Callable[..., Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wallet.services.payout_batches.PREPARED_AT_ONCE", 1)
    waiting, able = sorted((payee(), payee()), key=lambda profile: profile.store.slug)
    for profile in (waiting, able):
        bought(on_sale(store=profile.store), funded(inr=100_000))
    changed_bank_account(waiting, "INR", number="000987654321")
    answer = staff("prepare_payoutbatch").post(reverse(PREPARE), TERMS | {"confirmed": "yes"}, follow=True)
    assert VendorPayout.objects.get().account.owner_id == able.user_id
    assert "Prepare the run again" not in answer.content.decode()


def test_payout_run_that_is_exported_or_concurrent_with_another_is_refused_with_its_reason(staff: Callable[..., Client]) -> None:
    payout = paid("first")
    client = staff("prepare_payoutbatch")
    beside = client.post(reverse(PREPARE), TERMS | {"confirmed": "yes"})
    assert (beside.status_code, "first" in beside.content.decode()) == (400, True)
    export_batch(batch=payout.batch, actor=None)
    again = client.post(reverse(PREPARE), TERMS | {"run": "first", "confirmed": "yes"})
    assert (again.status_code, "Exported already" in again.content.decode()) == (400, True)


@pytest.mark.parametrize("unreadable", [False, True])
def test_vendors_whom_the_run_cannot_reach_are_not_prepared_before_those_who_can_be_paid(
    monkeypatch: pytest.MonkeyPatch, *, unreadable: bool
) -> None:
    monkeypatch.setattr("wallet.services.payout_batches.PREPARED_AT_ONCE", 1)
    unreached, able = sorted((payee(), payee()), key=lambda profile: profile.store.slug)
    for profile in (unreached, able):
        bought(on_sale(store=profile.store), funded(usd=100_000), currency="USD")
    if unreadable:
        PayoutDetails.objects.filter(profile=unreached).update(encrypted="")
    else:
        # In the United States, so that no transfer in EUR gets there.
        changed_bank_account(unreached, "USD", number="00123456789", bank="021000021")
        end_waiting_time(unreached)
    batch = open_batch(run="a", currency="USD", actor=None, euro_rate=Decimal("0.9"))
    outcome = prepare_batch(batch=batch, minimum_minor=1, actor=None)
    assert (VendorPayout.objects.get().account.owner_id, outcome.remaining) == (able.user_id, 0)
