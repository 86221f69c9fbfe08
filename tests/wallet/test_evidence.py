"""The evidence of an order: one signed file for each reader, verified offline by the script that the documentation prints."""

import copy
import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from library import signatures
from library.certificates import CertificateStatus, check_certificate
from marketplace.web import docs
from marketplace.web.docs.values import EXAMPLES
from tests.factories import UserFactory
from tests.shop import archive, bought, on_sale
from tests.vendors.cases import make_vendor
from vendors.models import VendorProfile
from wallet.delivery_consent import IMMEDIATE_DELIVERY
from wallet.evidence import Reader, evidence_of, signed_evidence
from wallet.models import Order
from wallet.models.top_ups import EventKind
from wallet.services.digests import digest_ledger
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import make_quote
from wallet.services.refund_requests import escalate_refund_request, refuse_refund
from wallet.services.spending import spend

from . import invoice_cases
from .licensee_cases import bought_for, claimed
from .refund_request_cases import declined_request, downloaded_order
from .top_up_cases import deliver_event, paid_top_up

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]
SCRIPT = EXAMPLES / "check_evidence.py"


@pytest.fixture
def order() -> Order:
    """An order with a bit of everything: quoted, paid by card, downloaded, invoiced, asked for, disputed."""
    invoice_cases.operator()
    top_up = paid_top_up(amount_minor=49_900)
    listing = on_sale(archive(), store=make_vendor().store, title="Halden")
    quote = make_quote(buyer=top_up.user, purchase=PurchaseRequest(str(listing.pk)))
    receipt, _ = spend(
        buyer=top_up.user, purchase=PurchaseRequest(str(listing.pk)), quote_id=str(quote.pk), delivery_consent=IMMEDIATE_DELIVERY
    )
    order = downloaded_order(Order.objects.get(pk=receipt.order_id))
    made = declined_request(order)
    escalate_refund_request(refund_request=made, reason="It is empty.", actor=order.buyer)
    refuse_refund(refund_request=made, reason="It opens for everybody else.", actor=UserFactory(name="Somebody of the staff"))
    invoice_cases.issue()
    deliver_event(top_up, EventKind.DISPUTED)
    deliver_event(top_up, EventKind.DISPUTE_WON)
    return Order.objects.get(pk=order.pk)


def refusal(folder: Path, document: Any, keys: Any = None) -> str:
    """Run the printed script on a file; return what it refuses it with, nothing if it is genuine."""
    for name, content in (("evidence", document), ("keys", signatures.public_keys() if keys is None else keys)):
        (folder / f"{name}.json").write_text(json.dumps(content))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(SCRIPT), str(folder / "evidence.json"), str(folder / "keys.json")])
        try:
            runpy.run_path(str(SCRIPT))
        except SystemExit as refused:
            return str(refused.code)
    return ""


def test_issued_evidence_is_genuine_and_altered_or_signed_by_another_key_it_is_not(
    order: Order, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for reader in Reader:
        document = json.loads(json.dumps(signed_evidence(evidence_of(order, reader))))
        assert refusal(tmp_path, document) == ""
        assert str(order.pk) in capsys.readouterr().out
    head, payload, signature = document["jws"].split(".")
    altered = [copy.deepcopy(document) for _ in range(4)]
    altered[0]["evidence"]["order"]["price"] = 1.0
    altered[1]["evidence"]["downloads"] = []
    altered[2]["evidence"]["more"] = True
    altered[3]["jws"] = f"{head}.{payload}.{signature[:-4]}AAAA"
    certificate = {"evidence": document["evidence"], "jws": signatures.sign(document["evidence"])}
    for forged in (*altered, certificate, document | {"jws": ""}, document | {"jws": None}, {"evidence": {}}):
        assert refusal(tmp_path, forged).startswith("NOT GENUINE"), forged
    for keys in ([key | {"x": "A" * 43} for key in signatures.public_keys()["keys"]], []):
        assert refusal(tmp_path, document, {"keys": keys}).startswith("NOT GENUINE")
    assert capsys.readouterr().out == ""
    # Nor is it a certificate.
    assert check_certificate(document["jws"]).status == CertificateStatus.NOT_GENUINE


def test_documentation_shows_the_evidence_script_that_the_tests_run() -> None:
    page = docs.documents()["evidence"]
    assert SCRIPT.read_text("utf-8").rstrip() in page.text


@pytest.mark.slow
def test_evidence_contains_order_consent_downloads_payment_disputes_and_the_digests_of_the_ledger(order: Order) -> None:
    found = evidence_of(order, Reader.BUYER)
    assert (found["order"]["title"], found["order"]["price"], found["order"]["boughtBy"]) == ("Halden", 499.0, "page")
    assert found["consent"] == {"version": IMMEDIATE_DELIVERY.version, "text": IMMEDIATE_DELIVERY.text}
    assert found["quote"]["price"] == 499.0
    assert (found["downloadCount"], len(found["downloads"])) == (1, 1)
    assert [document["number"][-5:] for document in found["invoices"]] == ["00001"]
    said = found["refundRequest"]
    assert (said["details"], said["answer"], said["objection"]) == ("It does not open.", "It opens here.", "It is empty.")
    assert said["decision"] == "It opens for everybody else."
    assert [(each["kind"], each["status"]) for each in found["disputes"]] == [("dispute", "Kept")]
    assert found["certificate"]["licensee"]["email"] == order.buyer.email
    assert {entry["ledgerDigest"] for entry in found["ledger"]} == {None}
    (digest,) = digest_ledger(until=timezone.now())
    entries = evidence_of(order, Reader.BUYER)["ledger"]
    assert {entry["ledgerDigest"]["digest"] for entry in entries} == {digest.digest}
    covered = {str(each.journal_id): each.digest for each in digest.members.all()}
    assert all(entry["digest"] == covered[entry["id"]] for entry in entries)


def test_each_reader_sees_their_own_amounts_and_nobody_elses_data(order: Order) -> None:
    vendor, buyer = order.listing.store.owner, order.buyer
    amounts = {
        reader: {entry["kind"]: entry["amount"] for entry in evidence_of(order, reader)["ledger"]}
        for reader in (Reader.BUYER, Reader.VENDOR)
    }
    assert amounts[Reader.BUYER] == {"sale": -499.0, "withhold": None, "release": None}
    assert amounts[Reader.VENDOR] == {"sale": 399.2, "withhold": -399.2, "release": 399.2}
    texts = {reader: json.dumps(evidence_of(order, reader)) for reader in Reader}
    for text in texts.values():
        assert vendor.email not in text
        assert str(vendor.pk) not in text
        assert "Somebody of the staff" not in text
    assert buyer.email not in texts[Reader.VENDOR]
    assert str(buyer.pk) not in texts[Reader.VENDOR]
    assert buyer.email in texts[Reader.STAFF]


def test_evidence_for_the_buyer_of_a_licence_for_another_excludes_its_downloads() -> None:
    order = bought_for(on_sale(archive()))
    claimed(order, UserFactory())
    downloaded_order(order)
    evidence = {reader: evidence_of(order, reader) for reader in Reader}
    assert (evidence[Reader.BUYER]["downloads"], evidence[Reader.BUYER]["downloadCount"]) == ([], 0)
    assert [evidence[reader]["downloadCount"] for reader in (Reader.VENDOR, Reader.STAFF)] == [1, 1]


def test_evidence_of_a_lost_dispute_contains_what_it_withheld_and_took() -> None:
    top_up = paid_top_up(amount_minor=49_900)
    order = bought(on_sale(), top_up.user)
    deliver_event(top_up, EventKind.DISPUTED)
    deliver_event(top_up, EventKind.DISPUTE_LOST)
    found = evidence_of(Order.objects.get(pk=order.pk), Reader.VENDOR)
    assert (found["order"]["status"], found["license"]["status"]) == ("ChargedBack", "revoked")
    assert [entry["kind"] for entry in found["ledger"]] == ["sale", "withhold", "card_return"]


def test_evidence_of_an_upgrade_says_what_was_deducted_and_for_which_licence() -> None:
    first = bought(on_sale())
    upgrade = bought(first.listing, first.buyer, license_slug="commercial", upgrade_from="personal")
    said = evidence_of(upgrade, Reader.VENDOR)["order"]
    assert (said["price"], said["upgradeFrom"], said["upgradeCredit"]) == (499.0, "personal", 499.0)
    assert evidence_of(first, Reader.BUYER)["license"]["status"] == "replaced"


def test_evidence_is_for_the_buyer_the_vendor_and_staff_only(
    order: Order, browse: Callable[..., Any], bearer_client: Callable[..., APIClient]
) -> None:
    vendor, api = order.listing.store.owner, f"/api/v1/orders/{order.pk}/evidence"
    assert bearer_client(order.buyer).get(api).json()["evidence"]["reader"] == "buyer"
    assert bearer_client(vendor).get(api).status_code == 404
    for user, name, reader in ((order.buyer, "order-page-evidence", "buyer"), (vendor, "sale-evidence", "vendor")):
        response = browse(user).get(reverse(name, args=[order.pk]))
        assert response.json()["evidence"]["reader"] == reader
        assert f"evidence-{order.pk}.json" in response["Content-Disposition"]
    assert browse(vendor).get(reverse("order-page-evidence", args=[order.pk])).status_code == 404
    VendorProfile.objects.filter(user=vendor).update(status="Suspended")
    assert browse(vendor).get(reverse("sale-evidence", args=[order.pk])).url == reverse("studio")
