"""Mails that can be ended: by a link without signing in (RFC 8058), or on a page; mails about security cannot."""

import re
from email import message_from_bytes, policy
from typing import Any

import pytest
from django.core import mail as outbox
from django.core import signing
from django.test import Client
from django.urls import reverse

from developers.event_types import EventType
from developers.models import WebhookEvent
from developers.services.webhooks import create_endpoint
from marketplace.accounts.mail_preferences import mail_topics_of, set_mail_topics
from marketplace.accounts.models import MailOptOut, MailTopic, User
from marketplace.accounts.services import delete_account
from tests.eager import sent_mails
from tests.factories import AppFactory, UserFactory
from tests.shop import bought, funded, on_sale
from tests.vendors.cases import make_vendor
from tests.wallet.payees import account_of as earnings_account
from tests.wallet.payees import changed_bank_account, exported_payout, payee
from tests.web.markup import faults_of
from wallet.mails import announce_purchase
from wallet.services.refunds import refund_order
from wallet.services.vendor_payouts import bounce_payout, mark_payout_paid

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def sent_to(user: User) -> list[Any]:
    return [message for message in sent_mails() if message.to == [user.email]]


def link_of(message: Any) -> str:
    found = re.fullmatch(r"<http://testserver(/mails/unsubscribe/[^>]+)>", message.extra_headers["List-Unsubscribe"])
    assert found
    return found[1]


def test_purchase_and_refund_are_mailed_to_buyer_and_vendor() -> None:
    vendor, buyer = make_vendor(), funded(inr=100_000)
    order = bought(on_sale(store=vendor.store, title="Aurora Sans", tax_rate_bp=1800), buyer)
    (purchased,), (sold,) = sent_to(buyer), sent_to(vendor.user)
    assert "499.00" in purchased.body
    assert str(order.pk) in purchased.body
    assert "Aurora Sans" in sold.subject
    # Who bought it is nobody's business.
    assert buyer.email not in sold.body
    refund_order(order=order, reason="test", actor=None)
    refunded = sent_to(buyer)[-1]
    assert "refunded" in refunded.subject
    assert "refunded" in sent_to(vendor.user)[-1].subject


def test_every_mail_that_can_be_ended_says_how_in_both_forms_and_in_its_head() -> None:
    buyer = funded(inr=100_000)
    bought(on_sale(), buyer)
    (message,) = sent_to(buyer)
    link = link_of(message)
    assert link in message.body
    assert link in message.alternatives[0][0]
    # As the mail server gets it.
    head = message_from_bytes(message.message().as_bytes(), policy=policy.default)
    assert head["List-Unsubscribe"].strip() == f"<http://testserver{link}>"
    assert head["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"


def test_mail_program_ends_a_kind_of_mails_by_one_post_without_a_session_and_no_other_kind() -> None:
    vendor = make_vendor()
    listing = on_sale(store=vendor.store)
    bought(listing)
    link = link_of(sent_to(vendor.user)[0])
    client = Client(enforce_csrf_checks=True)
    # Programs that look at links change nothing.
    assert faults_of(client.get(link).content) == []
    assert not MailOptOut.objects.exists()
    for _ in range(2):
        answer = client.post(link, {"List-Unsubscribe": "One-Click"})
        assert answer.status_code == 200
        assert faults_of(answer.content) == []
    assert mail_topics_of(vendor.user) == set(MailTopic) - {MailTopic.SALE}
    bought(listing)
    assert len(sent_to(vendor.user)) == 1


def test_forged_link_and_link_of_an_unknown_topic_or_a_deleted_account_are_not_found() -> None:
    user = UserFactory()
    good = signing.dumps([user.pk.hex, "sale"], salt="accounts.mail.unsubscribe")
    others = (
        good[:-2],
        f"x{good}",
        signing.dumps([user.pk.hex, "sale"], salt="another"),
        signing.dumps("x", salt="accounts.mail.unsubscribe"),
        *(signing.dumps([user.pk.hex, topic], salt="accounts.mail.unsubscribe") for topic in ("security", None)),
    )
    for token in ("x", *others):
        for method in (Client().get, Client().post):
            assert method(reverse("mail-unsubscribe", args=[token])).status_code == 404
    delete_account(user=user, reason="Asked for.", actor=None)
    assert Client().post(reverse("mail-unsubscribe", args=[good])).status_code == 404


def test_mail_topics_are_chosen_only_by_the_owner_of_the_account() -> None:
    user, client = UserFactory(), Client()
    assert reverse("account_login") in client.post(reverse("account-mails"), {"topics": ["sale"]})["Location"]
    client.force_login(user)
    assert client.post(reverse("account-mails"), {"topics": ["security"]}).status_code == 400
    assert client.post(reverse("account-mails"), {"topics": ["sale", "payout"]}).status_code == 302
    assert mail_topics_of(user) == {MailTopic.SALE, MailTopic.PAYOUT}
    page = client.get(reverse("account-mails"))
    assert faults_of(page.content) == []
    assert page.content.decode().count("checked") == 2
    client.post(reverse("account-mails"), {"topics": list(MailTopic.values)})
    assert not MailOptOut.objects.exists()


def test_mails_that_ask_for_something_are_sent_to_who_ended_all_others() -> None:
    vendor = payee()
    set_mail_topics(user=vendor.user, topics=[])
    bought(on_sale(store=vendor.store))
    payout = exported_payout(earnings_account(vendor))
    mark_payout_paid(payout=payout, actor=None)
    assert sent_to(vendor.user) == []
    changed_bank_account(vendor, number="GB33BUKB20201555555555", bank="BUKBGB22")
    bounce_payout(payout=payout, reason="Closed.", actor=None)
    told = sent_to(vendor.user)
    assert len(told) == 2
    assert not any("List-Unsubscribe" in message.extra_headers for message in told)


def test_sale_is_an_event_for_the_vendors_own_apps_only() -> None:
    vendor, other = make_vendor(), make_vendor()
    for profile in (vendor, other):
        app = AppFactory(user=profile.user)
        create_endpoint(app=app, url="https://app.example/hook", events=[EventType.SALE_COMPLETED], actor=profile.user)
    order = bought(on_sale(store=vendor.store))
    sent_mails()
    (event,) = WebhookEvent.objects.all()
    assert (event.type, event.owner_id, event.app_id) == ("sale.completed", vendor.user_id, None)
    assert event.data == {
        "orderId": str(order.pk),
        "assetId": str(order.listing_id),
        "licenseSlug": "personal",
        "currency": "INR",
        "price": 499.0,
        "earned": 399.2,
        "url": f"http://testserver/api/v1/vendor/assets/{order.listing_id}",
    }


def test_sale_mails_of_a_retried_job_are_sent_once(monkeypatch: pytest.MonkeyPatch) -> None:
    vendor, buyer = make_vendor(), funded(inr=100_000)
    order = bought(on_sale(store=vendor.store), buyer)
    outbox.outbox.clear()
    monkeypatch.setattr("wallet.mails.publish_sale", lambda _: 1 / 0)
    sent_mails()
    with pytest.raises(ZeroDivisionError):
        announce_purchase.func(str(order.pk))
    monkeypatch.undo()
    announce_purchase.func(str(order.pk))
    assert (len(sent_to(buyer)), len(sent_to(vendor.user))) == (1, 1)
