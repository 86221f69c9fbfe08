"""Refunds that buyers ask for: at once without a download, else by the vendor, else by staff; once for each purchase."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Listing
from library.errors import LicenseSuspended, LinkRevoked
from library.models import Licence
from library.services.links import issue_link, record_download
from marketplace.accounts.mail_preferences import set_mail_topics
from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.errors import InvalidInput, InvalidTransition, NotFound, SelfReview
from marketplace.core.models import AuditEntry
from tests.developers.cases import token_of
from tests.eager import sent_mails
from tests.factories import AppFactory, StoreFactory, UserFactory
from tests.races import THREADS, outcomes_at_once, until_someone_waits
from tests.shop import archive, bought, funded, on_sale
from tests.vendors.cases import make_vendor
from tests.waiting import PATIENCE_SECONDS
from vendors.models import VendorProfile
from wallet.card_credit import payable_of
from wallet.errors import RefundRequested, RefundUnavailable
from wallet.models import Journal, LedgerAccount, Order, RefundRequest
from wallet.models.top_ups import EventKind
from wallet.refund_facts import refund_facts
from wallet.selectors import wallet_of
from wallet.services.refund_requests import (
    agree_to_refund,
    decline_refund,
    escalate_overdue_requests,
    escalate_refund_request,
    grant_refund,
    refuse_refund,
)
from wallet.services.refunds import refund_order

from .payees import earned
from .refund_request_cases import declined_request, downloaded_order, overdue_request, requested_refund, sold_order, vendor_of
from .top_up_cases import deliver_event, paid_top_up

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("books_agree")]


def status_of(made: RefundRequest) -> tuple[str, str, bool]:
    """Return the status of the request and of its order, and whether the licence lives."""
    order = Order.objects.get(pk=made.order_id)
    return RefundRequest.objects.get(pk=made.pk).status, order.status, Licence.objects.get(order_id=order.pk).is_current


def test_refund_is_requested_only_by_the_buyer_with_a_known_reason_and_a_readable_text() -> None:
    order = downloaded_order()
    for said in ({"reason": "whim"}, {"details": "\x00"}):
        with pytest.raises(InvalidInput):
            requested_refund(order, **said)
    for stranger in (vendor_of(order), UserFactory(is_staff=True, is_superuser=True)):
        with pytest.raises(NotFound):
            requested_refund(order, actor=stranger)
    assert not RefundRequest.objects.exists()


def test_app_can_request_refunds_only_of_its_own_purchases() -> None:
    order = downloaded_order()
    token, secret = token_of("oauth", order.buyer)
    app, client = token.application, APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")
    path, body = f"/api/v1/orders/{order.pk}/refund-requests", {"reason": "faulty"}
    assert client.post(path, body, format="json").status_code == 404
    Order.objects.filter(pk=order.pk).update(app=AppFactory())
    assert client.post(path, body, format="json").status_code == 404
    assert not RefundRequest.objects.exists()
    Order.objects.filter(pk=order.pk).update(app=app)
    assert client.post(path, body, format="json").status_code == 200


def test_free_ended_or_disputed_purchase_cannot_be_refunded_on_request() -> None:
    refunded, free = sold_order(), sold_order(price_inr_minor=0)
    refund_order(order=refunded, reason="broken", actor=None)
    top_up = paid_top_up(amount_minor=2 * 49_900)
    lost = bought(on_sale(), top_up.user)
    deliver_event(top_up, EventKind.DISPUTED)
    deliver_event(top_up, EventKind.DISPUTE_LOST)
    disputed = paid_top_up(amount_minor=49_900)
    frozen = bought(on_sale(), disputed.user)
    deliver_event(disputed, EventKind.DISPUTED)
    for order in (refunded, free, lost, frozen):
        with pytest.raises(RefundUnavailable):
            requested_refund(order)
    deliver_event(disputed, EventKind.DISPUTE_WON)
    assert requested_refund(frozen).status == "Refunded"


def test_recent_purchase_without_a_download_is_refunded_at_once() -> None:
    order = sold_order()
    # The buyer, who sells too, has earnings beside the wallet.
    bought(on_sale(store=StoreFactory(owner=order.buyer)))
    issue_link(licence=Licence.objects.get(order_id=order.pk))
    made = requested_refund(order)
    assert status_of(made) == ("Refunded", "Refunded", False)
    assert wallet_of(order.buyer).balance_inr_minor == 1_000_000
    assert payable_of(order.buyer)["INR"] == (1_000_000, 1_000_000)
    assert earned(vendor_of(order))["INR"] == 0
    assert AuditEntry.objects.get(action="refund_request.ask").actor == order.buyer
    assert {(mail.to[0], mail.subject) for mail in sent_mails()} >= {
        (order.buyer.email, f"{order.title} was refunded"),
        (vendor_of(order).email, f"A sale of {order.title} was refunded"),
    }


def test_window_of_immediate_refunds_is_a_setting(settings: Any) -> None:
    for days, window, status in ((13, 14, "Refunded"), (15, 14, "Waiting"), (0, 0, "Waiting")):
        settings.REFUND_WINDOW_DAYS = window
        order = sold_order()
        Order.objects.filter(pk=order.pk).update(created_at=timezone.now() - timedelta(days=days))
        assert requested_refund(order).status == status


def test_purchase_of_an_asset_that_was_refunded_or_downloaded_before_is_not_refunded_at_once() -> None:
    order = sold_order()
    requested_refund(order)
    again = bought(order.listing, order.buyer)
    downloaded = downloaded_order()
    further = bought(downloaded.listing, downloaded.buyer, license_slug="commercial")
    first = sold_order()
    upgrade = downloaded_order(bought(first.listing, first.buyer, license_slug="commercial", upgrade_from="personal"))
    refund_order(order=upgrade, reason="agreed by mail", actor=None)
    assert [requested_refund(each).status for each in (again, further, first)] == ["Waiting"] * 3
    assert refund_facts(further).download_count == 1
    # Of the same asset, by another buyer, and of another asset.
    assert [requested_refund(each).status for each in (bought(order.listing), bought(on_sale(), order.buyer))] == ["Refunded"] * 2


def test_refund_of_a_free_upgrade_must_be_requested_before_that_of_the_upgraded_purchase() -> None:
    order = sold_order()
    Listing.objects.filter(pk=order.listing_id).update(price_inr_minor=100)
    upgrade = bought(order.listing, order.buyer, license_slug="commercial", upgrade_from="personal")
    assert upgrade.price_minor == 0
    with pytest.raises(RefundUnavailable):
        requested_refund(order)
    assert status_of(requested_refund(upgrade)) == ("Refunded", "Refunded", False)
    assert requested_refund(order).status == "Waiting"


def test_downloaded_purchase_is_refunded_when_its_vendor_agrees() -> None:
    made = requested_refund()
    order = made.order
    assert made.status == "Waiting"
    assert [mail.to[0] for mail in sent_mails() if "refund" in mail.subject] == [order.buyer.email, vendor_of(order).email]
    agree_to_refund(refund_request=made, actor=vendor_of(order))
    assert status_of(made) == ("Refunded", "Refunded", False)
    assert Journal.objects.get(order=order, kind="refund").actor == vendor_of(order)
    assert wallet_of(order.buyer).balance_inr_minor == 1_000_000


def test_purchase_has_one_refund_request_even_after_a_refusal() -> None:
    made = declined_request()
    with pytest.raises(RefundRequested) as refusal:
        requested_refund(made.order)
    assert refusal.value.members["refundRequestId"] == str(made.pk)
    with pytest.raises(IntegrityError), transaction.atomic():
        RefundRequest.objects.create(order=made.order, vendor=made.vendor, reason="other", status="InReview", escalated_at=made.asked_at)


def test_only_the_vendor_of_the_sale_answers_and_gives_a_reason_to_decline() -> None:
    made = requested_refund()
    for stranger in (make_vendor().user, made.order.buyer, UserFactory(is_staff=True, is_superuser=True)):
        with pytest.raises(NotFound):
            agree_to_refund(refund_request=made, actor=stranger)
        with pytest.raises(NotFound):
            decline_refund(refund_request=made, reason="No.", actor=stranger)
    with pytest.raises(InvalidInput):
        decline_refund(refund_request=made, reason=" ", actor=vendor_of(made.order))
    assert status_of(made) == ("Waiting", "Completed", True)


def test_free_upgrade_is_refunded_at_once_to_a_buyer_who_never_had_a_wallet() -> None:
    buyer, listing = UserFactory(), on_sale(price_inr_minor=0, base_price_minor=0)
    bought(listing, buyer)
    upgrade = bought(listing, buyer, license_slug="commercial", upgrade_from="personal")
    assert not LedgerAccount.objects.filter(kind="wallet", owner=buyer).exists()
    assert requested_refund(upgrade).status == "Refunded"


def test_buyer_escalates_a_declined_refund_request_and_staff_decide() -> None:
    made = requested_refund()
    buyer = made.order.buyer
    with pytest.raises(InvalidTransition):
        escalate_refund_request(refund_request=made, reason="Please.", actor=buyer)
    decline_refund(refund_request=made, reason="It opens here.", actor=vendor_of(made.order))
    assert any("It opens here." in mail.body for mail in sent_mails() if mail.to == [buyer.email])
    with pytest.raises(NotFound):
        escalate_refund_request(refund_request=made, reason="Please.", actor=vendor_of(made.order))
    escalate_refund_request(refund_request=made, reason="It is empty.", actor=buyer)
    assert AuditEntry.objects.get(action="refund_request.escalate").reason == "It is empty."
    grant_refund(refund_request=made, reason="The archive is empty.", actor=UserFactory())
    assert status_of(made) == ("Refunded", "Refunded", False)


def test_buyer_without_mails_about_refunds_gets_the_answer_to_a_request_but_not_word_of_a_refund_that_was_not_asked_for() -> None:
    made, unasked = requested_refund(), sold_order()
    for order in (made.order, unasked):
        set_mail_topics(user=order.buyer, topics=[])
    sent_mails().clear()
    agree_to_refund(refund_request=made, actor=vendor_of(made.order))
    refund_order(order=unasked, reason="broken", actor=None)
    told = {mail.to[0] for mail in sent_mails()}
    assert (made.order.buyer.email in told, unasked.buyer.email in told) == (True, False)


def test_staff_decide_in_their_turn_on_what_they_neither_bought_nor_sold_and_a_refusal_is_mailed_to_both() -> None:
    made, staff = overdue_request(requested_refund()), UserFactory()
    with pytest.raises(InvalidTransition):
        grant_refund(refund_request=made, reason="Too early.", actor=staff)
    escalate_overdue_requests()
    for verb in (grant_refund, refuse_refund):
        for party in (made.order.buyer, vendor_of(made.order)):
            with pytest.raises(SelfReview):
                verb(refund_request=made, reason="Mine.", actor=party)
    sent_mails().clear()
    refuse_refund(refund_request=made, reason="It works as described.", actor=staff)
    assert status_of(made) == ("Refused", "Completed", True)
    assert {mail.to[0] for mail in sent_mails()} == {made.order.buyer.email, vendor_of(made.order).email}
    assert all("It works as described." in mail.body for mail in sent_mails())
    with pytest.raises(InvalidTransition):
        agree_to_refund(refund_request=made, actor=vendor_of(made.order))


def test_unanswered_requests_pass_to_staff_when_the_time_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    late, early, answered = overdue_request(requested_refund()), requested_refund(), overdue_request(declined_request())
    # Before the job has run, too.
    with pytest.raises(InvalidTransition):
        decline_refund(refund_request=late, reason="It opens here.", actor=vendor_of(late.order))
    call_command("escalate_refund_requests")
    call_command("escalate_refund_requests")
    assert capsys.readouterr().out.splitlines() == ["1 requests now wait for staff.", "0 requests now wait for staff."]
    assert [status_of(made)[0] for made in (late, early, answered)] == ["InReview", "Waiting", "Declined"]
    # Until staff have decided, the vendor may still agree.
    agree_to_refund(refund_request=late, actor=vendor_of(late.order))
    assert status_of(late)[0] == "Refunded"


def test_refund_request_goes_to_staff_at_once_if_the_vendor_cannot_answer() -> None:
    suspended, left = downloaded_order(), downloaded_order()
    VendorProfile.objects.filter(user=vendor_of(suspended)).update(status="Suspended")
    User.objects.filter(pk=vendor_of(left).pk).update(is_active=False)
    assert {requested_refund(suspended).status, requested_refund(Order.objects.get(pk=left.pk)).status} == {"InReview"}


def test_refund_request_ends_with_a_refund_by_staff_or_a_lost_dispute() -> None:
    made = requested_refund()
    refund_order(order=made.order, reason="broken", actor=UserFactory())
    assert status_of(made) == ("Refunded", "Refunded", False)
    top_up = paid_top_up(amount_minor=49_900)
    order = downloaded_order(bought(on_sale(archive(), store=make_vendor().store), top_up.user))
    disputed = requested_refund(order)
    deliver_event(top_up, EventKind.DISPUTED)
    with pytest.raises(InvalidTransition):
        agree_to_refund(refund_request=disputed, actor=vendor_of(order))
    deliver_event(top_up, EventKind.DISPUTE_LOST)
    assert status_of(disputed) == ("Closed", "ChargedBack", False)


def test_refund_of_a_request_of_a_deleted_account_waits_to_be_paid_out() -> None:
    order = downloaded_order(bought(on_sale(archive(), store=make_vendor().store), funded(inr=49_900)))
    made = requested_refund(order)
    delete_account(user=order.buyer, reason="test", actor=None)
    assert RefundRequest.objects.get().details == ""
    agree_to_refund(refund_request=made, actor=vendor_of(order))
    assert Journal.objects.get(order=order, kind="refund").wallet is None


def test_link_from_before_a_refund_or_a_dispute_downloads_nothing() -> None:
    orders = [sold_order(), sold_order()]
    links = [issue_link(licence=Licence.objects.get(order_id=order.pk)) for order in orders]
    requested_refund(orders[0])
    Licence.objects.filter(order_id=orders[1].pk).update(suspended_at=timezone.now())
    for link, refusal in zip(links, (LinkRevoked, LicenseSuspended), strict=True):
        with pytest.raises(refusal):
            record_download(link=link, byte_range="")
    Licence.objects.update(suspended_at=None)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_request_waits_for_a_download_that_is_being_recorded_and_a_download_for_a_refund() -> None:
    fetched, refunded = sold_order(), sold_order()
    links = [issue_link(licence=Licence.objects.get(order_id=order.pk)) for order in (fetched, refunded)]
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            record_download(link=links[0], byte_range="")
            waiting = pool.submit(outcomes_at_once, partial(requested_refund, fetched))
            until_someone_waits()
        assert [made.status for made in waiting.result(PATIENCE_SECONDS)] == ["Waiting"]
        with transaction.atomic():
            requested_refund(refunded)
            waiting = pool.submit(outcomes_at_once, partial(record_download, link=links[1], byte_range=""))
            until_someone_waits()
        assert waiting.result(PATIENCE_SECONDS) == ["link_revoked"]


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_concurrent_refund_requests_and_answers_refund_once() -> None:
    order = sold_order()
    outcomes = outcomes_at_once(*[partial(requested_refund, order)] * THREADS)
    assert sum(isinstance(outcome, RefundRequest) for outcome in outcomes) == 1
    made = overdue_request(requested_refund())
    escalate_overdue_requests()
    vendor, staff = vendor_of(made.order), UserFactory()
    ways: list[Any] = [
        lambda: agree_to_refund(refund_request=made, actor=vendor),
        lambda: grant_refund(refund_request=made, reason="Yes.", actor=staff),
        lambda: refuse_refund(refund_request=made, reason="No.", actor=staff),
        lambda: refund_order(order=made.order, reason="broken", actor=staff),
    ]
    outcomes_at_once(*ways, *ways)
    status, order_status, _ = status_of(made)
    refunds = Journal.objects.filter(order=made.order, kind="refund").count()
    # A refusal does not keep staff from refunding the order itself.
    assert (status, order_status, refunds) in {("Refunded", "Refunded", 1), ("Refused", "Refunded", 1), ("Refused", "Completed", 0)}
