"""Payouts of wallets in the admin: where to pay is shown to who pays; refunds to deleted accounts are paid."""

from typing import Any

import pytest
from django.urls import reverse

from tests.admin.pages import press, staff, text_of
from tests.callers import signed_in
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet.models import WalletPayout
from wallet.services.refunds import refund_order
from wallet.services.wallet_payouts import pay_wallet_payout
from wallet.unclaimed import unclaimed_refunds

from .wallet_payout_cases import refund_to_deleted_account, requested_payout

pytestmark = [pytest.mark.django_db, pytest.mark.database]
DECIDE, VIEW = "wallet.decide_walletpayout", "wallet.view_walletpayout"
LIST = "admin:wallet_walletpayout_changelist"


def page_of(wallet_payout: WalletPayout, step: str = "change") -> str:
    return reverse(f"admin:wallet_walletpayout_{step}", args=[wallet_payout.pk])


def order_page(order: Any, step: str) -> str:
    return reverse(f"admin:wallet_order_{step}", args=[order.pk])


def test_staff_with_view_permission_see_no_payment_details() -> None:
    wallet_payout = requested_payout(funded(inr=50_000))
    payer = signed_in(staff(DECIDE, VIEW))
    press(payer, page_of(wallet_payout, "claim"), {})
    assert "IBAN" in text_of(payer.get(page_of(wallet_payout)))
    client = signed_in(staff(VIEW, "wallet.refund_order", "wallet.export_vendorpayout"))
    shown = text_of(client.get(page_of(wallet_payout))) + text_of(client.get(reverse(LIST)))
    assert "₹500.00" in shown
    assert "IBAN" not in shown


def test_payment_details_are_shown_once_the_payout_is_claimed_and_its_reference_is_recorded() -> None:
    wallet_payout, client = requested_payout(funded(inr=50_000)), signed_in(staff(DECIDE))
    for step in ("pay", "change"):
        assert "IBAN" not in text_of(client.get(page_of(wallet_payout, step)))
    assert "Claim it before you transfer ₹500.00" in text_of(client.get(page_of(wallet_payout, "pay")))
    press(client, page_of(wallet_payout, "claim"), {})
    assert "IBAN DE02" in text_of(client.get(page_of(wallet_payout)))
    assert "Transfer ₹500.00 first, to: IBAN DE02" in text_of(client.get(page_of(wallet_payout, "pay")))
    assert client.post(page_of(wallet_payout, "pay"), {"reference": " "}).status_code == 400
    press(client, page_of(wallet_payout, "pay"), {"reference": "UTR 7781"})
    assert "UTR 7781" in text_of(client.get(page_of(wallet_payout)))
    # There is nothing left to decide.
    assert "Transfer ₹" not in text_of(client.get(page_of(wallet_payout, "pay")))


def test_wallet_payouts_are_found_by_currency_owner_and_reference() -> None:
    first, second = funded(inr=50_000), funded(usd=700)
    requested_payout(first)
    pay_wallet_payout(wallet_payout=requested_payout(second, currency="USD"), reference="UTR 1", actor=UserFactory())
    client = signed_in(staff(DECIDE, VIEW))
    for query, found in (("currency=INR", first), ("currency=USD", second), (f"q={first.email}", first), ("q=UTR+1", second)):
        page = text_of(client.get(f"{reverse(LIST)}?{query}"))
        assert [user for user in (first, second) if user.email in page] == [found], query


def test_unclaimed_refund_is_listed_announced_and_paid() -> None:
    order, other = refund_to_deleted_account(), bought(on_sale())
    claim = {"reference": "UTR 1", "reason": "By the receipt."}
    refunder = signed_in(staff("wallet.refund_order", "wallet.view_order"))
    assert "is deleted: ₹499.00 waits to be paid out" in text_of(refunder.get(order_page(order, "refund")))
    refund_order(order=order, reason="Broken file", actor=UserFactory())
    payer = signed_in(staff("wallet.pay_unclaimed_order", "wallet.view_order"))
    listed = text_of(payer.get(reverse("admin:wallet_order_changelist") + "?refund=unclaimed"))
    assert order.title in listed
    assert other.buyer.email not in listed
    assert "This is not possible in its current state" in text_of(payer.get(order_page(other, "pay_unclaimed")))
    assert payer.post(order_page(order, "pay_unclaimed"), claim | {"reference": ""}).status_code == 400
    press(payer, order_page(order, "pay_unclaimed"), claim)
    assert not unclaimed_refunds().exists()
