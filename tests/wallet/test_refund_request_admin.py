"""Refund requests in the admin: what a decision is based on, and who may take it; the evidence of an order."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core.models import AuditEntry
from marketplace.ui.formatting import relative_time
from tests.admin.pages import staff, text_of
from tests.admin.subjects import refund_request
from tests.callers import signed_in
from wallet.models import Order, RefundRequest

from .refund_request_cases import requested_refund, sold_order

pytestmark = [pytest.mark.django_db, pytest.mark.database]
DECIDE, VIEW, EVIDENCE = "wallet.decide_refundrequest", "wallet.view_refundrequest", "wallet.export_evidence_order"
REASON = {"reason": "For a good reason."}


def page_of(made: RefundRequest, step: str = "change") -> str:
    return reverse(f"admin:wallet_refundrequest_{step}", args=[made.pk])


def evidence_of(order: Order) -> str:
    return reverse("admin:wallet_order_evidence", args=[order.pk])


def test_neither_buyer_nor_vendor_is_given_the_case_even_as_a_superuser() -> None:
    made = refund_request()
    for party in (made.order.buyer, made.order.listing.store.owner):
        User.objects.filter(pk=party.pk).update(is_staff=True, is_superuser=True)
        client = signed_in(User.objects.get(pk=party.pk))
        assert "You cannot decide on this" in text_of(client.get(page_of(made)))
        for step in ("claim", "grant"):
            client.post(page_of(made, step), REASON)
        client.post(reverse("admin:wallet_refundrequest_next"))
    found = RefundRequest.objects.get()
    assert (found.status, found.claimed_by) == ("InReview", None)


def test_refund_request_waits_for_staff_since_it_was_passed_on_to_them() -> None:
    late, early, unasked = refund_request(), refund_request(), requested_refund()
    now = timezone.now()
    for made, asked, escalated in ((late, 30, 1), (early, 20, 2)):
        since = {"asked_at": now - timedelta(days=asked), "escalated_at": now - timedelta(days=escalated)}
        RefundRequest.objects.filter(pk=made.pk).update(**since)
    client = signed_in(staff(DECIDE, VIEW))
    listed: Any = client.get(reverse("admin:wallet_refundrequest_changelist"))
    assert list(listed.context_data["cl"].result_list) == [early, late, unasked]
    assert f"queued {relative_time(now - timedelta(days=1))}" in text_of(client.get(page_of(late)))
    assert client.get(page_of(unasked)).status_code == 200
    following = reverse("admin:wallet_refundrequest_next")
    assert client.post(following, {"after": str(unasked.pk)})["Location"] == page_of(early)
    assert client.post(following, {"after": str(early.pk)})["Location"] == page_of(late)


def test_page_of_a_refund_request_shows_what_the_buyer_says_and_the_downloads() -> None:
    page = text_of(signed_in(staff(VIEW)).get(page_of(refund_request())))
    assert "It does not open." in page
    assert "Downloads: 1" in page


def test_evidence_is_for_staff_with_the_permission_and_each_download_is_on_record() -> None:
    order = sold_order()
    for permissions in (("wallet.view_order",), ("wallet.refund_order", "wallet.view_order", VIEW)):
        client = signed_in(staff(*permissions))
        assert client.get(evidence_of(order)).status_code == 403
        assert "evidence.json" not in client.get(reverse("admin:wallet_order_change", args=[order.pk])).content.decode()
    reader = staff(EVIDENCE, "wallet.view_order")
    client = signed_in(reader)
    assert evidence_of(order) in client.get(reverse("admin:wallet_order_change", args=[order.pk])).content.decode()
    found = client.get(evidence_of(order))
    assert found.json()["evidence"]["reader"] == "staff"
    assert "no-store" in found["Cache-Control"]
    assert AuditEntry.objects.get(action="order.evidence").actor == reader
    assert client.get(reverse("admin:wallet_order_evidence", args=[reader.pk])).status_code == 404
