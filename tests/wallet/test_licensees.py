"""Purchases for someone else: the payer has the order, the licensee claims the licence by a link."""

from collections.abc import Callable
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from catalog.models import Listing
from library import bounds
from library.certificates import certificate_claims
from library.errors import AlreadyOwned, ClaimEnded, LinkRevoked
from library.licensees import Licensee
from library.models import Licence
from library.selectors import current_licences_of, owned_licence
from library.services.claims import claim_licence
from library.services.links import issue_link, open_link, record_download, url_of
from marketplace.accounts.services import delete_account
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidTransition, NotFound, RateLimited
from marketplace.operations.personal_data import export_account
from tests.eager import EagerBackend, sent_mails
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale, store_file
from wallet.errors import QuoteMismatch, UpgradeUnavailable
from wallet.models import Order
from wallet.models.top_ups import EventKind
from wallet.refund_facts import refund_facts
from wallet.selectors import wallet_of
from wallet.services.licensees import resend_claim_link
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import make_quote
from wallet.services.refund_requests import request_refund
from wallet.services.refunds import refund_order
from wallet.services.spending import spend

from . import purchases
from .licensee_cases import CLIENT, bought_for, claimed, secret_sent
from .top_up_cases import deliver_event, paid_top_up

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("books_agree")]
Client = Callable[..., APIClient]
BODY = {"name": CLIENT.name, "email": CLIENT.email}


def with_file() -> Listing:
    listing = on_sale()
    store_file(listing, b"x")
    return listing


def later(order: Order, **ago: int) -> None:
    then = timezone.now() - timedelta(**ago)
    Licence.objects.filter(order_id=order.pk).update(claim_sent_at=then, acquired_at=then)


def test_purchase_for_a_licensee_is_shown_to_the_payer_and_in_nobodys_library_until_the_licensee_claims_it(bearer_client: Client) -> None:
    payer, licensee, listing = funded(inr=1_000_000), UserFactory(), on_sale()
    client = bearer_client(payer)
    answer = purchases.spend(client, listing, licensee=BODY).json()
    path = f"/api/v1/orders/{answer['orderId']}"
    assert (answer["licensee"], client.get(path).json()["licensee"]) == (BODY, {**BODY, "status": "Sent"})
    assert not current_licences_of(payer).exists()
    licence = claim_licence(secret=secret_sent(), actor=licensee)
    assert owned_licence(licensee, listing.slug).order_id == Order.objects.get(buyer=payer).pk
    assert certificate_claims(licence)["licensee"] == {"id": str(licensee.pk), **BODY}
    assert client.get("/api/v1/orders").json()["items"][0]["licensee"] == {**BODY, "status": "Claimed"}
    assert client.post(f"/api/v1/library/download/{listing.slug}").json()["code"] == "not_owned"
    assert bearer_client(licensee).get(path).status_code == 404
    # One for oneself has no licensee, and no link is sent.
    before = len(sent_mails())
    assert purchases.spend(client, listing).json()["licensee"] is None
    assert client.get("/api/v1/orders").json()["items"][0]["licensee"] is None
    assert not any("/licences/claim/" in str(letter.body) for letter in sent_mails()[before:])


def test_licensee_without_a_name_of_one_line_and_a_whole_address_is_refused(bearer_client: Client) -> None:
    client, listing = bearer_client(funded(inr=1_000_000)), on_sale()
    for wrong in ({"email": "a@b"}, {"email": "a b@c.example"}, {"name": ""}, {"name": "A\nB"}):
        assert purchases.spend(client, listing, licensee=BODY | wrong).status_code == 400, wrong
    assert not Order.objects.exists()


def test_purchase_for_a_licensee_is_refused_only_if_the_licensee_owns_the_licence(bearer_client: Client) -> None:
    payer, listing = funded(inr=1_000_000), on_sale()
    bought(listing, payer)
    client = bearer_client(payer)
    first = purchases.spend(client, listing, licensee=BODY)
    assert first.status_code == 200
    again = purchases.spend(client, listing, licensee={**BODY, "email": CLIENT.email.upper()})
    assert (again.status_code, again.json()["code"]) == (409, "already_owned")
    assert purchases.spend(client, listing, licensee=BODY, licenseSlug="commercial").status_code == 200
    assert purchases.spend(client, listing, licensee={"name": "Other", "email": "other@client.example"}).status_code == 200
    with pytest.raises(AlreadyOwned):
        bought_for(listing)
    refund_order(order=Order.objects.get(pk=first.json()["orderId"]), reason="test", actor=None)
    bought_for(listing, license_slug="personal")


def test_quote_is_for_its_licensee(bearer_client: Client) -> None:
    payer, listing = funded(inr=1_000_000), on_sale()
    bought(listing, payer)
    client = bearer_client(payer)
    quoted = purchases.ask_quote(client, listing, licensee=BODY).json()
    assert quoted["licensee"] == BODY
    other = purchases.spend(client, listing, quoteId=quoted["quoteId"], licensee={**BODY, "name": "Other"})
    assert (other.status_code, other.json()["field"]) == (409, "licensee")
    assert purchases.spend(client, listing, quoteId=quoted["quoteId"]).json()["licensee"] == BODY
    own = make_quote(buyer=payer, purchase=PurchaseRequest(str(on_sale().pk)))
    with pytest.raises(QuoteMismatch):
        spend(buyer=payer, purchase=PurchaseRequest(str(own.listing_id), licensee=CLIENT), quote_id=str(own.pk))


def test_claim_link_works_once_for_one_account() -> None:
    order, client = bought_for(on_sale()), UserFactory()
    secret = secret_sent()
    assert secret not in Licence.objects.get().claim_digest
    claimed(order, client)
    assert claim_licence(secret=secret, actor=client).claimed_at == Licence.objects.get().claimed_at
    assert [(entry.action, entry.actor) for entry in history_of(Licence.objects.get())] == [("licence.claim", client)]
    for account in (UserFactory(), order.buyer):
        with pytest.raises(ClaimEnded):
            claim_licence(secret=secret, actor=account)
    assert Licence.objects.get().holder == client


def test_claim_link_ends_after_its_days_with_a_refund_and_with_a_newer_link() -> None:
    client, licensees = UserFactory(), [Licensee("L", f"{name}@l.example") for name in "abc"]
    old, refunded, renewed = (bought_for(on_sale(), licensee=licensee) for licensee in licensees)
    secrets = [secret_sent(licensee) for licensee in licensees]
    later(old, days=bounds.CLAIM_LINK_DAYS)
    refund_order(order=refunded, reason="test", actor=None)
    later(renewed, hours=2)
    resend_claim_link(order=renewed, actor=renewed.buyer)
    for secret, ending in zip(secrets, (ClaimEnded, ClaimEnded, NotFound), strict=True):
        with pytest.raises(ending):
            claim_licence(secret=secret, actor=client)
    resend_claim_link(order=old, actor=old.buyer)
    for order, licensee in ((old, licensees[0]), (renewed, licensees[2])):
        claimed(order, client, licensee)


def test_claim_by_an_owner_of_the_licence_is_refused_and_the_link_stays_valid() -> None:
    listing, client, colleague = on_sale(), funded(inr=1_000_000), UserFactory()
    order = bought_for(listing)
    bought(listing, client)
    secret = secret_sent()
    with pytest.raises(AlreadyOwned) as refusal:
        claim_licence(secret=secret, actor=client)
    assert refusal.value.members == {"assetId": str(listing.pk), "licenseSlug": order.license_slug}
    claim_licence(secret=secret, actor=colleague)
    assert Licence.objects.get(order_id=order.pk).holder == colleague


def test_claim_link_is_resent_only_for_its_buyer_after_an_hour_until_it_is_used_or_refunded() -> None:
    refunded, own, order = bought_for(on_sale()), bought(on_sale()), bought_for(on_sale())
    almost = Licence.objects.get(order_id=order.pk).acquired_at + timedelta(minutes=bounds.MINUTES_BETWEEN_CLAIM_LINKS, seconds=-29.5)
    with patch("django.utils.timezone.now", return_value=almost), pytest.raises(RateLimited) as refusal:
        resend_claim_link(order=order, actor=order.buyer)
    assert refusal.value.headers["Retry-After"] == "30"
    for each in (order, refunded):
        later(each, hours=2)
    for stranger in (UserFactory(), UserFactory(is_staff=True, is_superuser=True)):
        with pytest.raises(NotFound):
            resend_claim_link(order=order, actor=stranger)
    claimed(order, UserFactory())
    refund_order(order=refunded, reason="test", actor=None)
    for ended in (order, own, refunded):
        with pytest.raises(InvalidTransition, match="was claimed, has ended, or is your own"):
            resend_claim_link(order=ended, actor=ended.buyer)


def test_claim_links_resent_to_one_address_are_limited_by_day() -> None:
    orders = [bought_for(on_sale()) for _ in range(bounds.CLAIM_LINKS_A_DAY_TO_ONE_ADDRESS + 1)]
    another = bought_for(on_sale(), licensee=Licensee("Other", "other@client.example"))
    assert len(sent_mails()) >= len(orders)
    Licence.objects.update(claim_sent_at=timezone.now() - timedelta(hours=2))
    *allowed, refused = orders
    for order in allowed:
        resend_claim_link(order=order, actor=order.buyer)
    before = len(sent_mails())
    with pytest.raises(RateLimited, match="to this address"):
        resend_claim_link(order=refused, actor=refused.buyer)
    assert len(sent_mails()) == before
    resend_claim_link(order=another, actor=another.buyer)


def test_claim_links_of_a_buyer_are_limited_by_day_and_those_sent_again_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "CLAIM_LINKS_A_DAY", 3)
    payer = funded(inr=1_000_000)
    first, _ = bought_for(on_sale(), payer), bought_for(on_sale(price_inr_minor=0), payer)
    Licence.objects.update(claim_sent_at=timezone.now() - timedelta(hours=2))
    resend_claim_link(order=first, actor=payer)
    with pytest.raises(RateLimited) as refusal:
        bought_for(on_sale(), payer)
    assert int(refusal.value.headers["Retry-After"]) > 0
    bought(on_sale(), payer)
    later(first, days=1)
    bought_for(on_sale(), payer)
    with pytest.raises(RateLimited):
        resend_claim_link(order=first, actor=payer)


def test_mail_to_the_licensee_contains_no_text_of_the_buyer() -> None:
    payer = funded(inr=1_000_000, name="Visit evil.example")
    bought_for(on_sale(), payer, Licensee("Call evil.example", "x@l.example"))
    (letter,) = (letter for letter in sent_mails() if letter.to == ["x@l.example"])
    assert payer.email in letter.body
    assert "evil.example" not in f"{letter.subject}{letter.body}"


def test_refund_ends_the_licence_of_the_licensee_and_pays_the_payer() -> None:
    order, client = bought_for(with_file()), UserFactory()
    link = issue_link(licence=claimed(order, client))
    held = wallet_of(order.buyer).balance_inr_minor
    refund_order(order=order, reason="test", actor=UserFactory(is_staff=True))
    assert wallet_of(order.buyer).balance_inr_minor == held + order.price_minor
    assert not current_licences_of(client).exists()
    assert any(letter.to == [client.email] and "has ended" in letter.subject for letter in sent_mails())
    with pytest.raises(LinkRevoked):
        open_link(token=url_of(link).rsplit("/", 1)[-1])


def test_payer_is_refunded_at_once_until_the_licensee_has_downloaded() -> None:
    payer, listing = funded(inr=1_000_000), with_file()
    own = bought(listing, payer)
    record_download(link=issue_link(licence=Licence.objects.get(order_id=own.pk)), byte_range="")
    unclaimed = bought_for(listing, payer)
    assert request_refund(order=unclaimed, reason="other", details="", actor=payer).status == "Refunded"
    order = bought_for(with_file(), payer)
    record_download(link=issue_link(licence=claimed(order, UserFactory())), byte_range="")
    assert request_refund(order=order, reason="other", details="", actor=payer).status != "Refunded"
    assert refund_facts(order).download_count == 1


def test_dispute_of_the_payers_card_suspends_the_licence_of_the_licensee() -> None:
    top_up = paid_top_up(amount_minor=49_900)
    order, client = bought_for(on_sale(), top_up.user), UserFactory()
    deliver_event(top_up, EventKind.DISPUTED)
    assert claimed(order, client).suspended_at is not None
    deliver_event(top_up, EventKind.DISPUTE_LOST)
    assert not current_licences_of(client).exists()
    (letter,) = [each for each in sent_mails() if each.to == [client.email]]
    assert "went back to its card" in letter.body


def test_licence_that_someone_else_paid_for_cannot_be_upgraded() -> None:
    listing, client = on_sale(), funded(inr=1_000_000)
    order = bought_for(listing)
    claimed(order, client)
    for buyer, licensee in ((client, None), (order.buyer, CLIENT)):
        with pytest.raises(UpgradeUnavailable):
            spend(buyer=buyer, purchase=PurchaseRequest(str(listing.pk), upgrade_from="personal", licensee=licensee))
    bought(listing, client, license_slug="commercial")


def test_upgrade_for_a_licensee_does_not_reveal_purchases_by_others() -> None:
    listing = on_sale()
    bought_for(listing)
    with pytest.raises(UpgradeUnavailable) as refusal:
        make_quote(buyer=funded(inr=1), purchase=PurchaseRequest(str(listing.pk), upgrade_from="commercial", licensee=CLIENT))
    assert "personal" not in refusal.value.message


def test_deleted_account_of_a_licensee_is_anonymised_and_the_order_kept() -> None:
    payer, listing, client = funded(inr=1_000_000), on_sale(), UserFactory()
    quote = make_quote(buyer=payer, purchase=PurchaseRequest(str(listing.pk), licensee=CLIENT))
    receipt, _ = spend(buyer=payer, purchase=PurchaseRequest(str(listing.pk)), quote_id=str(quote.pk))
    order = Order.objects.get(pk=receipt.order_id)
    claimed(order, client)
    other = make_quote(buyer=payer, purchase=PurchaseRequest(str(listing.pk), licensee=Licensee("Other", "other@client.example")))
    assert export_account(client)["licences"][0]["licensee_name"] == CLIENT.name
    delete_account(user=UserFactory(), reason="test", actor=None)
    quote.refresh_from_db()
    assert quote.licensee_name == CLIENT.name
    delete_account(user=client, reason="test", actor=None)
    licence = Licence.objects.get()
    assert (licence.licensee_name, licence.licensee_email, licence.claim_digest) == ("", "", "")
    quote.refresh_from_db()
    assert (quote.licensee_name, quote.licensee_email) == ("", "")
    other.refresh_from_db()
    assert (other.licensee_name, other.licensee_email) == ("Other", "other@client.example")
    refund_order(order=order, reason="test", actor=None)


def test_licensee_can_claim_a_licence_whose_buyer_deleted_the_account() -> None:
    order, client = bought_for(on_sale(), funded(inr=49_900)), UserFactory()
    assert export_account(order.buyer)["licencesForOthers"][0]["licensee_email"] == CLIENT.email
    delete_account(user=order.buyer, reason="test", actor=None)
    assert claimed(order, client).is_current


def test_second_live_licence_of_a_licensee_is_refused_by_the_database() -> None:
    held = Licence.objects.get(order_id=bought_for(on_sale()).pk)
    other = Licence.objects.get(order_id=bought_for(held.listing, licensee=Licensee("Other", "other@client.example")).pk)
    with pytest.raises(IntegrityError), transaction.atomic():
        Licence.objects.filter(pk=other.pk).update(licensee_email=held.licensee_email)


def test_licence_without_a_holder_is_refused_by_the_database() -> None:
    order = bought(on_sale())
    with pytest.raises(IntegrityError), transaction.atomic():
        Licence.objects.filter(order_id=order.pk).update(holder=None)


def test_link_of_a_buyer_who_deleted_the_account_before_it_was_sent_does_not_name_what_is_left_of_it() -> None:
    buyer = funded(inr=49_900)
    with patch.object(EagerBackend, "on", new=False):
        bought_for(on_sale(), buyer)
        delete_account(user=buyer, reason="test", actor=None)
    (letter,) = (letter for letter in sent_mails() if letter.to == [CLIENT.email])
    assert "deleted.invalid" not in letter.body
    assert "Somebody who has deleted their account since has bought a licence" in letter.body
