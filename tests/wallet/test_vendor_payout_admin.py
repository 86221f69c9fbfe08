"""Payouts in the admin, and the mail that tells of one: to whom they are shown, with what sums, and nothing to others."""

import csv
from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail as outbox
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks

from tests.shop import bought, funded, on_sale
from vendors.models import VendorProfile
from wallet.models import VendorPayout
from wallet.selectors import vendor_accounts
from wallet.services.vendor_payouts import pay_out

from .payees import payee

pytestmark = [pytest.mark.django_db, pytest.mark.database]
LIST, EXPORT = "admin:wallet_vendorpayout_changelist", "admin:wallet_vendorpayout_export"


def paid(run: str, profile: VendorProfile | None = None, currency: str = "INR") -> VendorPayout:
    """Sell something and pay it out."""
    profile = profile or payee()
    bought(on_sale(store=profile.store), funded(inr=100_000, usd=100_000), currency=currency)
    account = vendor_accounts(currency=currency).get(owner=profile.user)
    payout = pay_out(account=account, run=run, minimum_minor=1)
    assert isinstance(payout, VendorPayout)
    return payout


def shown(client: Client, **query: str) -> dict[str, Any]:
    """Return what the list is made from."""
    response: Any = client.get(reverse(LIST), query)
    found: dict[str, Any] = response.context_data
    return found


def sheet(response: Any) -> list[list[str]]:
    return list(csv.reader(b"".join(response.streaming_content).decode().splitlines()))


@pytest.mark.parametrize("name", [LIST, EXPORT])
def test_anonymous_is_sent_to_sign_in(name: str) -> None:
    assert Client().get(reverse(name)).status_code == 302


def test_staff_without_the_permission_sees_no_payout(staff: Callable[..., Client]) -> None:
    payout = paid("a")
    client = staff("view_order", "credit_wallet", "refund_order")
    pages = [reverse(LIST), reverse(EXPORT), reverse("admin:wallet_vendorpayout_change", args=[payout.pk])]
    assert [client.get(page).status_code for page in pages] == [403, 403, 403]


def test_who_may_look_may_not_export_and_is_not_shown_bank_details(staff: Callable[..., Client]) -> None:
    payout = paid("a")
    client = staff("view_vendorpayout")
    page = client.get(reverse(LIST)).content.decode()
    row = client.get(reverse("admin:wallet_vendorpayout_change", args=[payout.pk])).content.decode()
    assert client.get(reverse(EXPORT)).status_code == 403
    assert reverse(EXPORT) not in page
    assert "₹399.20" in page
    assert "IBAN" not in page + row
    # Who may export and not look is refused too.
    assert staff("export_vendorpayout").get(reverse(EXPORT)).status_code == 403


def test_list_is_narrowed_down_and_summed_over_what_is_left(staff: Callable[..., Client], django_assert_max_num_queries: Any) -> None:
    vendor = payee()
    paid("a", vendor), paid("b", vendor), paid("b"), paid("b", currency="USD")
    client = staff("view_vendorpayout", "export_vendorpayout")
    client.get(reverse(LIST))
    # However many there are.
    with django_assert_max_num_queries(15):
        paid_in_all = shown(client)["paid"]
    assert paid_in_all == ["₹1,197.60", "$8.00"]
    for query, sums in (
        ({"run": "a"}, ["₹399.20"]),
        ({"run": "nothing"}, []),
        ({"currency": "USD"}, ["$8.00"]),
        ({"q": vendor.store.slug}, ["₹798.40"]),
        ({"q": vendor.user.email, "run": "b"}, ["₹399.20"]),
    ):
        assert shown(client, **query)["paid"] == sums, query
    exported = client.get(shown(client, run="b")["export_url"])
    assert exported["Content-Type"] == "text/csv; charset=utf-8"
    assert "no-store" in exported["Cache-Control"]
    head, *lines = sheet(exported)
    assert head == ["run", "at", "vendor", "store", "payoutMethod", "currency", "amount", "journal"]
    assert sorted((line[0], line[5], line[6]) for line in lines) == [("b", "INR", "399.20"), ("b", "INR", "399.20"), ("b", "USD", "8.00")]


def test_payout_method_that_would_be_a_formula_is_text_in_the_sheet(staff: Callable[..., Client]) -> None:
    payout = paid("a", payee(payout_method='=HYPERLINK("https://evil.example")'))
    (_, line) = sheet(staff("view_vendorpayout", "export_vendorpayout").get(reverse(EXPORT)))
    assert line[4] == f"'{payout.payout_method}"


def test_payouts_are_neither_added_changed_nor_deleted_here(staff: Callable[..., Client]) -> None:
    payout = paid("a")
    client = staff("view_vendorpayout", "export_vendorpayout", "add_vendorpayout", "change_vendorpayout", "delete_vendorpayout")
    assert client.get(reverse("admin:wallet_vendorpayout_add")).status_code == 403
    assert client.post(reverse("admin:wallet_vendorpayout_change", args=[payout.pk]), {"run": "b"}).status_code == 403
    assert client.post(reverse("admin:wallet_vendorpayout_delete", args=[payout.pk]), {"post": "yes"}).status_code == 403
    assert client.post(reverse(EXPORT)).status_code == 405


def test_vendor_is_told_of_a_payout_once_and_not_where_to(django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> None:
    vendor = payee()
    with django_capture_on_commit_callbacks(execute=True):
        payout = paid("2026-11", vendor)
        # The same run again pays nobody and tells nobody; nothing is due in another.
        account = vendor_accounts(currency="INR").get(owner=vendor.user)
        pay_out(account=account, run="2026-11", minimum_minor=1)
        pay_out(account=account, run="2026-12", minimum_minor=1)
    sent: Any
    (sent,) = outbox.outbox
    assert sent.to == [vendor.user.email]
    assert "399.20" in sent.subject
    html = str(sent.alternatives[0][0])
    for words in (str(payout.pk), "2026-11", vendor.store.name, "399.20"):
        assert words in sent.body
        assert words in html
    assert "IBAN" not in sent.body + html
