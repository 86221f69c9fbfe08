"""The provider of Stripe against localstripe, a stateful copy of a part of Stripe's API.

It has customers, payment intents, charges and refunds. It has no Checkout Sessions: the event of one is signed here by Stripe's own library.
"""

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests
import stripe

from tests.factories import UserFactory
from tests.servers.ports import free_port
from tests.servers.process import Process, bare_environment
from tests.shop import bought, on_sale
from wallet.models import CardReversal
from wallet.providers.base import PaymentPage
from wallet.providers.stripe import StripeProvider
from wallet.reconciliation import differences
from wallet.selectors import wallet_of
from wallet.services.card_refunds import refund_top_up

from .top_up_cases import requested_top_up

pytestmark = [pytest.mark.full, pytest.mark.django_db(transaction=True)]
SECRET, KEY = "whsec_of_localstripe", "sk_test_of_localstripe"
# On the loopback interface alone, and without the file in which it keeps what it was told.
SERVE = """
import sys
from aiohttp import web
from localstripe import resources, server
resources.Store.dump_to_disk = lambda store: None
web.run_app(server.app, host="127.0.0.1", port=int(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port, log = free_port(), Path(tmp_path_factory.mktemp("localstripe")) / "log"
    process = Process([sys.executable, "-c", SERVE, str(port)], bare_environment(), log)
    address = f"http://127.0.0.1:{port}"
    with process.serving(address):
        yield address


@pytest.fixture
def client(server: str, settings: Any, monkeypatch: pytest.MonkeyPatch) -> stripe.StripeClient:
    """Stripe's own library; our provider talks to the same server."""
    settings.STRIPE, settings.RAZORPAY, settings.TEST_PAYMENTS = {"STRIPE_SECRET_KEY": KEY, "STRIPE_WEBHOOK_SECRET": SECRET}, {}, False
    monkeypatch.setattr(stripe, "StripeClient", partial(stripe.StripeClient, base_addresses={"api": server}))
    requests.delete(f"{server}/_config/data", timeout=30)
    return stripe.StripeClient(KEY)


def test_payment_that_localstripe_took_is_credited_and_what_is_left_refunded_there(
    client: stripe.StripeClient, live_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It has no payment pages.
    with monkeypatch.context() as patch:
        patch.setattr(StripeProvider, "create_page", lambda _self, top_up, _url: PaymentPage(f"cs_{top_up.pk}", "https://pay.example/"))
        top_up = requested_top_up(UserFactory(), 1999, "USD")
    customer = client.v1.customers.create({"email": "buyer@example.com"})
    details: Any = {"number": "4242424242424242", "exp_month": 12, "exp_year": 2099, "cvc": "123"}
    method = client.v1.payment_methods.create({"type": "card", "card": details})
    client.v1.payment_methods.attach(method.id, {"customer": customer.id})
    wanted: Any = {"amount": 1999, "currency": "usd", "customer": customer.id, "payment_method": method.id, "confirm": True}
    intent = client.v1.payment_intents.create(wanted | {"metadata": {"topUpId": str(top_up.pk)}})
    session: dict[str, Any] = {
        "id": top_up.page_reference,
        "metadata": {"topUpId": intent.metadata["topUpId"]},
        "payment_intent": intent.id,
        "payment_status": "paid",
    }
    session |= {"amount_total": intent.amount, "currency": intent.currency}
    body = json.dumps({"id": "evt_1", "type": "checkout.session.completed", "created": intent.created, "data": {"object": session}})
    signature = stripe.WebhookSignature.generate_signature_header(body, SECRET)
    for _ in range(2):
        answer = requests.post(f"{live_server.url}/payments/stripe/events", body, headers={"Stripe-Signature": signature}, timeout=30)
        assert answer.status_code == 200, answer.text
    top_up.refresh_from_db()
    assert (top_up.status, top_up.payment_reference) == ("Succeeded", intent.id)
    assert wallet_of(top_up.user).balance_usd_minor == 1999
    bought(on_sale(base_price_minor=999), top_up.user, currency="USD")
    refund_top_up(top_up=top_up, reason="test", actor=UserFactory())
    reversal = CardReversal.objects.get(top_up=top_up)
    (refund,) = client.v1.refunds.list({"payment_intent": top_up.payment_reference}).data
    assert (refund.id, refund.amount, refund.to_dict()["metadata"]) == (reversal.reference, 1000, {"reversalId": str(reversal.pk)})
    assert (reversal.status, wallet_of(top_up.user).balance_usd_minor) == ("Returned", 0)
    assert list(differences()) == []
