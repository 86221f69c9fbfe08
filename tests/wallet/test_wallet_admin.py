"""Money in the admin: each action by its own permission, with a reason, once."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from library.models import Licence
from library.services.links import issue_link
from marketplace.accounts.models import User
from tests.factories import UserFactory
from tests.shop import archive, bought, funded, on_sale
from wallet.models import Journal
from wallet.models.top_ups import EventKind
from wallet.selectors import owed_by, wallet_of
from wallet.services.digests import digest_ledger
from wallet.services.refunds import refund_order

from .top_up_cases import deliver_event, paid_top_up

pytestmark = [pytest.mark.django_db, pytest.mark.database]
CREDIT = {"currency": "INR", "amount": "499.50", "reason": "Invoice 7"}
ROWS = ["wallet_walletowner", "wallet_order", "wallet_journal", "wallet_transfer", "library_licence", "library_downloadlink"]


def credit_page(user: User) -> str:
    return _page("walletowner", user.pk, "credit")


def _page(model: str, pk: uuid.UUID, step: str) -> str:
    return reverse(f"admin:wallet_{model}_{step}", args=[pk])


def fresh(**changes: Any) -> dict[str, Any]:
    return CREDIT | {"key": str(uuid.uuid4())} | changes


def test_credit_form_sent_twice_credits_once_with_reason_and_actor(staff: Callable[..., Client]) -> None:
    user, client, form = UserFactory(), staff("credit_wallet"), fresh()
    page = client.get(credit_page(user))
    assert page.status_code == 200
    assert page.context["form"]["key"].value()
    for _ in range(2):
        assert client.post(credit_page(user), form).status_code == 302
    client.post(credit_page(user), form | {"amount": "1.00"})
    for wrong in ({"amount": "1.005"}, {"key": "none"}):
        assert client.post(credit_page(user), fresh(**wrong)).status_code == 400
    client.post(credit_page(UserFactory()), form)
    journal = Journal.objects.get()
    assert (journal.reason, str(journal.actor_id)) == ("Invoice 7", client.session["_auth_user_id"])
    assert wallet_of(user).balance_inr_minor == 49_950
    assert "₹499.50" in client.get(reverse("admin:wallet_walletowner_change", args=[user.pk])).content.decode()


def test_staff_cannot_credit_their_own_wallet(staff: Callable[..., Client]) -> None:
    client = staff("credit_wallet", "view_walletowner")
    me = User.objects.get(pk=client.session["_auth_user_id"])
    assert "Someone else must" in client.post(credit_page(me), fresh(), follow=True).content.decode()
    assert not Journal.objects.exists()


def test_refund_is_done_once(staff: Callable[..., Client]) -> None:
    user = funded(inr=49_900)
    order = bought(on_sale(), user)
    client = staff("refund_order", "view_order")
    assert client.get(_page("order", order.pk, "refund")).status_code == 200
    assert client.post(_page("order", order.pk, "refund"), {"reason": ""}).status_code == 400
    for _ in range(2):
        client.post(_page("order", order.pk, "refund"), {"reason": "Broken file"})
    assert wallet_of(user).balance_inr_minor == 49_900
    assert Journal.objects.filter(kind="refund").count() == 1
    assert Licence.objects.get().revoked_at is not None
    assert "Broken file" in client.get(reverse("admin:wallet_order_change", args=[order.pk])).content.decode()
    assert b'name="reason"' not in client.get(_page("order", order.pk, "refund")).content


def test_debt_is_listed_and_written_off_once(staff: Callable[..., Client]) -> None:
    top_up = paid_top_up(amount_minor=49_900)
    bought(on_sale(), top_up.user)
    for kind in (EventKind.DISPUTED, EventKind.DISPUTE_LOST):
        deliver_event(top_up, kind, amount_minor=100)
    list(digest_ledger(until=timezone.now()))
    page, answers = _page("walletowner", top_up.user_id, "write_off"), {"currency": "INR", "reason": "Too small"}
    client = staff("write_off_debt")
    listed = client.get(reverse("admin:wallet_walletowner_changelist"), {"debt": "owed"}).content.decode()
    assert top_up.user.email in listed
    assert "₹1.00" in client.get(page).content.decode()
    for _ in range(2):
        client.post(page, answers)
    assert Journal.objects.filter(kind="write_off", reason="Too small").count() == 1
    assert owed_by(top_up.user_id) == {}


def test_wallet_rows_can_be_viewed_and_not_changed_in_the_admin(staff: Callable[..., Client]) -> None:
    order = bought(on_sale(archive()))
    licence, sale = Licence.objects.get(), Journal.objects.get(kind="sale")
    rows: list[Any] = [order.buyer, order, sale, sale.transfers.first(), licence, issue_link(licence=licence)]
    refund_order(order=order, reason="test", actor=None)
    for name, row in zip(ROWS, rows, strict=True):
        client = staff(f"view_{name.split('_')[1]}")
        detail = reverse(f"admin:{name}_change", args=[row.pk])
        assert client.get(reverse(f"admin:{name}_changelist")).status_code == 200
        assert client.get(detail).status_code == 200
        assert client.post(detail, {"_save": "1"}).status_code == 403
        assert client.get(reverse(f"admin:{name}_add")).status_code == 403
        assert client.post(reverse(f"admin:{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
