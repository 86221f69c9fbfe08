"""Payouts of wallets in the admin: where to pay is shown to who pays; refunds to deleted accounts are paid."""

from typing import Any

import pytest
from django.urls import reverse

from marketplace.accounts.models import User
from marketplace.core.errors import InvalidInput, InvalidTransition
from tests.admin.pages import press, staff, text_of
from tests.callers import signed_in
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet import bounds
from wallet.models import WalletPayout
from wallet.selectors import wallet_of
from wallet.services.refunds import pay_unclaimed, refund_order
from wallet.services.wallet_payouts import cancel_wallet_payout, pay_wallet_payout
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


def test_payment_details_are_not_guessed_by_a_filter() -> None:
    requested_payout(funded(inr=50_000))
    for query in ("payment_details__startswith=IBAN", "wallet__owner__password__startswith=a"):
        assert signed_in(staff(VIEW)).get(f"{reverse(LIST)}?{query}").status_code in {302, 400}


def test_confirmation_of_a_payment_shows_its_effects_and_its_reference_is_recorded() -> None:
    user, actor = funded(inr=50_000), staff(DECIDE)
    wallet_payout, client = requested_payout(user), signed_in(actor)
    for step in ("pay", "change"):
        assert "IBAN" not in text_of(client.get(page_of(wallet_payout, step)))
    assert "Claim it before you transfer ₹500.00" in text_of(client.get(page_of(wallet_payout, "pay")))
    press(client, page_of(wallet_payout, "claim"), {})
    assert "IBAN DE02" in text_of(client.get(page_of(wallet_payout)))
    page = text_of(client.get(page_of(wallet_payout, "pay")))
    for words in (f"Record as paid: {user.email}: ₹500.00", "Transfer ₹500.00 first, to: IBAN DE02", "cannot be undone"):
        assert words in page
    assert client.post(page_of(wallet_payout, "pay"), {"reference": " "}).status_code == 400
    press(client, page_of(wallet_payout, "pay"), {"reference": "UTR 7781"})
    shown = text_of(client.get(page_of(wallet_payout)))
    assert "UTR 7781" in shown
    assert f"Paid by {actor.email}" in shown


def test_late_decision_on_a_wallet_payout_names_who_decided_first() -> None:
    user = funded(inr=50_000)
    wallet_payout, client = requested_payout(user), signed_in(staff(DECIDE))
    cancel_wallet_payout(wallet_payout=wallet_payout, actor=user)
    page = text_of(client.get(page_of(wallet_payout, "pay")))
    for words in ("This is not possible in its current state", "Cancelled", user.email):
        assert words in page
    assert "Transfer ₹" not in page
    assert "The state does not allow this" in text_of(client.post(page_of(wallet_payout, "pay"), {"reference": "T1"}, follow=True))
    assert wallet_of(user).balance_inr_minor == 50_000


def test_list_of_wallet_payouts_is_filtered_and_searched_with_few_queries(django_assert_max_num_queries: Any) -> None:
    first, second = funded(inr=50_000), funded(usd=700)
    requested_payout(first), requested_payout(second, currency="USD")
    pay_wallet_payout(wallet_payout=WalletPayout.objects.get(wallet__owner=second), reference="UTR 1", actor=UserFactory())
    client = signed_in(staff(DECIDE, VIEW))
    client.get(reverse(LIST))
    with django_assert_max_num_queries(15):
        everything = text_of(client.get(reverse(LIST)))
    assert first.email in everything
    assert second.email in everything
    for query, shown in (("status__exact=Waiting", first), ("currency=USD", second), (f"q={first.email}", first), ("q=UTR+1", second)):
        page = text_of(client.get(f"{reverse(LIST)}?{query}"))
        assert shown.email in page, query
        assert ({first, second} - {shown}).pop().email not in page, query
    with django_assert_max_num_queries(15):
        client.get(page_of(WalletPayout.objects.get(wallet__owner=first)))


def test_refunded_order_shows_who_refunded_it_when_and_why_and_no_form() -> None:
    order, actor = bought(on_sale(title="Halden")), UserFactory()
    browser = signed_in(staff("wallet.refund_order", "wallet.view_order"))
    heading = f"{order.buyer.email}: Halden, ₹499.00"
    before = browser.get(order_page(order, "refund"))
    assert f"Refund: {heading}" in text_of(before)
    refund_order(order=order, reason="Broken file", actor=actor)
    for page in (browser.get(order_page(order, "refund")), browser.post(order_page(order, "refund"), {"reason": ""})):
        words = text_of(page)
        for each in (f"Refund: {heading}", "Refunded", actor.email, "Broken file", "just now"):
            assert each in words
        assert "is returned to the wallet" not in words
        assert b'name="reason"' not in page.content
    assert heading in text_of(browser.get(order_page(order, "change")))


def test_unclaimed_refund_is_listed_announced_and_paid_by_staff_with_the_permission() -> None:
    order, other = refund_to_deleted_account(), bought(on_sale())
    claim = {"reference": "UTR 1", "reason": "By the receipt."}
    refunder = signed_in(staff("wallet.refund_order", "wallet.view_order"))
    assert "is deleted: ₹499.00 waits to be paid out" in text_of(refunder.get(order_page(order, "refund")))
    refund_order(order=order, reason="Broken file", actor=UserFactory())
    assert refunder.post(order_page(order, "pay_unclaimed"), claim).status_code == 403
    payer = signed_in(staff("wallet.pay_unclaimed_order", "wallet.view_order"))
    listed = text_of(payer.get(reverse("admin:wallet_order_changelist") + "?refund=unclaimed"))
    assert order.title in listed
    assert other.buyer.email not in listed
    assert "This is not possible in its current state" in text_of(payer.get(order_page(other, "pay_unclaimed")))
    assert "counts as paid to the buyer of" in text_of(payer.get(order_page(order, "pay_unclaimed")))
    assert payer.post(order_page(order, "pay_unclaimed"), claim | {"reference": ""}).status_code == 400
    with pytest.raises(InvalidInput):
        pay_unclaimed(order=order, actor=UserFactory(), **claim | {"reference": "x" * (bounds.PAYMENT_REFERENCE_CHARS + 1)})
    press(payer, order_page(order, "pay_unclaimed"), claim)
    assert not unclaimed_refunds().exists()
    with pytest.raises(InvalidTransition):
        pay_unclaimed(order=order, actor=User.objects.filter(is_staff=True).earliest("pk"), **claim)
