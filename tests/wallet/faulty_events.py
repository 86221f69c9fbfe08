"""Faulty events of payment providers, many at once: doubled, reordered, late and forged."""

import hashlib
import hmac
import json
import queue
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from unittest.mock import patch

from django.db import connections
from django.db.models import Sum
from django.test import Client, override_settings
from stripe import WebhookSignature

from marketplace.accounts.models import User
from marketplace.core.errors import Problem
from tests.eager import EagerBackend
from tests.factories import UserFactory
from tests.shop import on_sale
from wallet.models import CardReversal, Journal, LedgerAccount, Order, TopUp
from wallet.models.ledger import JournalKind
from wallet.providers.base import PaymentPage, Refund
from wallet.providers.razorpay import RazorpayProvider
from wallet.providers.stripe import StripeProvider
from wallet.reconciliation import differences
from wallet.services.card_refunds import refund_top_up, send_refund
from wallet.services.offers import PurchaseRequest
from wallet.services.refunds import refund_order
from wallet.services.spending import spend
from wallet.services.top_ups import TopUpRequest, request_top_up

SECRETS = {"stripe": "whsec_of_stripe", "razorpay": "secret_of_razorpay"}
SETTINGS: dict[str, Any] = {
    "STRIPE": {"STRIPE_SECRET_KEY": "sk_test_1", "STRIPE_WEBHOOK_SECRET": SECRETS["stripe"]},
    "RAZORPAY": {"RAZORPAY_KEY_ID": "rzp_1", "RAZORPAY_KEY_SECRET": "s", "RAZORPAY_WEBHOOK_SECRET": SECRETS["razorpay"]},
    "TEST_PAYMENTS": False,
}
REFUSED = "payment_signature_invalid"
AMOUNTS = (100, 4_990, 49_900)
# What happens to a payment, in this order, and its status in the end.
PLANS: dict[str, tuple[tuple[str, ...], str]] = {
    "paid": (("paid",), "Succeeded"),
    "failed": (("failed",), "Failed"),
    "paid after a failure": (("failed", "paid"), "Succeeded"),
    "disputed": (("paid", "disputed"), "Disputed"),
    "won": (("paid", "disputed", "won"), "Succeeded"),
    "lost": (("paid", "disputed", "lost"), "Returned"),
    "lost, and nobody told that it began": (("paid", "lost"), "Returned"),
    "refunded by hand": (("paid", "refunded"), "Returned"),
    "refund asked for": (("paid",), "Returned"),
    "refund that fails": (("paid",), "Succeeded"),
}
NAMES = {
    "stripe": {
        "paid": "checkout.session.completed",
        "failed": "checkout.session.expired",
        "disputed": "charge.dispute.created",
        "won": "charge.dispute.closed",
        "lost": "charge.dispute.closed",
        "refunded": "refund.updated",
        "refund failed": "refund.failed",
    },
    "razorpay": {
        "paid": "payment_link.paid",
        "failed": "payment_link.expired",
        "disputed": "payment.dispute.created",
        "won": "payment.dispute.won",
        "lost": "payment.dispute.lost",
        "refunded": "refund.processed",
        "refund failed": "refund.failed",
    },
}
STATUS_AT_STRIPE = {"disputed": "needs_response", "won": "won", "lost": "lost", "refunded": "succeeded", "refund failed": "failed"}


@dataclass
class Payment:
    """A top-up and the events that its provider sends about it."""

    top_up: TopUp
    plan: str
    at: datetime
    # Whether its owner buys nothing, so that the wallet's balance is known.
    quiet: bool

    @property
    def name(self) -> str:
        """The provider's id of the payment."""
        return f"{'pi' if self.top_up.provider == 'stripe' else 'pay'}_{self.top_up.pk}"

    def event(self, what: str, *, case: str = "", **changes: Any) -> bytes:
        """Return the body of an event."""
        tell = _by_stripe if self.top_up.provider == "stripe" else _by_razorpay
        return json.dumps(tell(self, what, case or f"case_{self.top_up.pk}", changes)).encode()


def _by_stripe(payment: Payment, what: str, case: str, changes: dict[str, Any]) -> dict[str, Any]:
    top_up, paid = payment.top_up, what == "paid"
    thing: dict[str, Any] = {"id": case, "payment_intent": payment.name, "amount": top_up.amount_minor, "currency": "usd"}
    thing["status"] = STATUS_AT_STRIPE.get(what)
    if what in {"paid", "failed"}:
        thing = {"id": top_up.page_reference, "metadata": {"topUpId": str(top_up.pk)}, "amount_total": top_up.amount_minor}
        thing |= {"currency": "usd", "payment_intent": payment.name if paid else None, "payment_status": "paid" if paid else "unpaid"}
    event_id = changes.pop("id", f"evt_{what}_{case}".replace(" ", "_"))
    created = int(payment.at.timestamp()) + _place(what)
    return {"id": event_id, "type": NAMES["stripe"][what], "created": created, "data": {"object": thing | changes}}


def _by_razorpay(payment: Payment, what: str, case: str, changes: dict[str, Any]) -> dict[str, Any]:
    top_up = payment.top_up
    parts: dict[str, dict[str, Any]] = {"payment": {"id": payment.name, "captured": True}}
    if what in {"paid", "failed"}:
        link = {"id": top_up.page_reference, "reference_id": str(top_up.pk), "currency": "INR"}
        parts["payment_link"] = link | {"amount_paid": top_up.amount_minor if what == "paid" else 0} | changes
    else:
        about = {"id": case, "payment_id": payment.name, "amount": top_up.amount_minor, "currency": "INR", "phase": "chargeback"}
        parts["refund" if what.startswith("refund") else "dispute"] = about | changes
    created = int(payment.at.timestamp()) + _place(what)
    payload = {part: {"entity": entity} for part, entity in parts.items()}
    return {"event": NAMES["razorpay"][what], "created_at": created, "payload": payload}


def _place(what: str) -> int:
    """Return how many seconds after the payment something happened."""
    return {"paid": 0, "failed": 0, "disputed": 1}.get(what, 2)


def signed(provider: str, body: bytes, secret: str) -> dict[str, str]:
    """Return the headers of an event that is sent now."""
    if provider == "stripe":
        now = int(datetime.now(UTC).timestamp())
        return {"Stripe-Signature": WebhookSignature.generate_signature_header(body.decode(), secret, timestamp=now)}
    return {"X-Razorpay-Signature": hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}


@dataclass
class FaultyEvents:
    """Payments, their events, and the purchases and refunds that are made meanwhile.

    Args:
        events: How many events are sent at least.
        rng: Decides everything but the order of the threads.
    """

    events: int
    rng: random.Random
    payments: list[Payment] = field(default_factory=list)
    # The number of responses by what was sent, status and code.
    responses: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    actions: "queue.SimpleQueue[Callable[[], Any]]" = field(default_factory=queue.SimpleQueue)

    def send_all(self, threads: int) -> None:
        """Send everything, from as many threads."""
        with _providers():
            today = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
            chosen: list[Callable[[], Any]] = []
            while len(chosen) < self.events:
                # Some are told weeks late.
                at = today - timedelta(days=self.rng.choice([0, 0, 0, 40]))
                payment = self._asked_for(at)
                self.payments.append(payment)
                chosen += self._genuine(payment) + self._forged(payment)
            chosen += self._purchases(len(self.payments) // 2)
            self.rng.shuffle(chosen)
            self._run(chosen, threads)
            # Before anything is told again.
            self.broken += self._wrong_statuses([payment for payment in self.payments if not payment.plan.startswith("refund ")])
            refunds = [partial(self._refund, payment) for payment in self.payments if payment.plan.startswith("refund ")]
            self._run([*refunds, *self._again()], threads)

    def wrong(self) -> Iterator[str]:
        """Yield a sentence for everything that is not as it should be."""
        yield from self.broken
        yield from differences()
        yield from self._wrong_responses()
        yield from self._wrong_statuses(self.payments)
        paid = [payment for payment in self.payments if "paid" in PLANS[payment.plan][0]]
        funded = Journal.objects.filter(kind=JournalKind.FUNDING, wallet__isnull=False)
        if (found := funded.count()) != len(paid) or funded.filter(top_up__isnull=True).exists():
            yield f"{found} credits of {len(paid)} payments"
        yield from self._wrong_balances()
        if CardReversal.objects.filter(status="Open").exclude(top_up__status="Disputed").exists():
            yield "a dispute or refund that has ended is open"

    def _wrong_statuses(self, payments: list[Payment]) -> Iterator[str]:
        for payment in payments:
            payment.top_up.refresh_from_db()
            if payment.top_up.status != PLANS[payment.plan][1]:
                yield f"{payment.plan}: {payment.top_up.status}"

    def _asked_for(self, at: datetime) -> Payment:
        quiet, currency = self.rng.random() < 0.5, self.rng.choice(["USD", "INR"])
        user = UserFactory()
        top_up, _ = request_top_up(user=user, wanted=TopUpRequest(currency, self.rng.choice(AMOUNTS)))
        plans = [plan for plan in PLANS if quiet or not plan.startswith("refund ")]
        return Payment(top_up, self.rng.choice(plans), at, quiet)

    def _genuine(self, payment: Payment) -> list[Callable[[], Any]]:
        """Return what is told of a payment, most of it once, some twice or three times, and the payment itself by two events."""
        provider = payment.top_up.provider
        sent: list[Callable[[], Any]] = []
        for what in PLANS[payment.plan][0]:
            bodies = [payment.event(what)]
            if what == "paid" and provider == "stripe":
                bodies.append(payment.event(what, id=f"evt_second_{payment.top_up.pk}"))
            for body in bodies:
                sent += [partial(self._send, "genuine", provider, body)] * self.rng.choice([1, 1, 1, 2, 3])
        return sent

    def _forged(self, payment: Payment) -> list[Callable[[], Any]]:
        """Return some of what somebody might send who wants the money without paying, or whose payment is another one."""
        top_up, body = payment.top_up, payment.event("paid")
        provider = top_up.provider
        other = "razorpay" if provider == "stripe" else "stripe"
        elsewhere = Payment(
            TopUp(pk=top_up.pk, provider=other, amount_minor=top_up.amount_minor, page_reference="x"), "paid", payment.at, True
        )
        # Of another program that uses the same account with the provider.
        foreign = Payment(TopUp(provider=provider, amount_minor=100, page_reference="y"), "paid", payment.at, True)
        kinds: list[Callable[[], Any]] = [
            partial(self._send, "forged", provider, body, "guessed"),
            partial(self._send, "forged", provider, body, SECRETS[other]),
            partial(self._send, "forged", provider, payment.event("won"), "guessed"),
            partial(self._send, "ignored", other, elsewhere.event("paid")),
            partial(self._send, "ignored", provider, foreign.event("paid")),
        ]
        chosen = self.rng.sample(kinds, 3)
        if self.rng.random() < 0.2:
            chosen.append(partial(self._send, "other amount", provider, self._other_amount(payment)))
        return chosen

    def _other_amount(self, payment: Payment) -> bytes:
        """Return a genuine event of a payment of something else."""
        if payment.top_up.provider == "stripe":
            other: dict[str, Any] = self.rng.choice([{"amount_total": 1}, {"currency": "eur"}])
            return payment.event("paid", id=f"evt_other_{payment.top_up.pk}", **other)
        # The id comes from page and time.
        later = Payment(payment.top_up, payment.plan, payment.at + timedelta(seconds=9), payment.quiet)
        changes: dict[str, Any] = self.rng.choice([{"amount_paid": 1}, {"currency": "USD"}])
        return later.event("paid", **changes)

    def _purchases(self, number: int) -> list[Callable[[], Any]]:
        """Return purchases of those who are not quiet, and refunds of them."""
        listings = [on_sale(base_price_minor=99, price_inr_minor=99) for _ in range(6)]
        buyers = [payment.top_up for payment in self.payments if not payment.quiet]
        actions: list[Callable[[], Any]] = []
        for _ in range(number if buyers else 0):
            top_up, listing = self.rng.choice(buyers), self.rng.choice(listings)
            actions.append(partial(spend, buyer=top_up.user, purchase=PurchaseRequest(str(listing.pk), top_up.currency)))
            actions.append(partial(_refund_something, top_up.user))
        return actions

    def _again(self) -> list[Callable[[], Any]]:
        """Return the events of half of the payments once more: providers try again for days."""
        half = self.rng.sample(self.payments, len(self.payments) // 2)
        return [partial(self._send, "genuine", p.top_up.provider, p.event(what)) for p in half for what in PLANS[p.plan][0]]

    def _refund(self, payment: Payment) -> None:
        """Refund a payment to its card, and let the provider tell twice how that ends."""
        refund_top_up(top_up=payment.top_up, reason="test", actor=User.objects.filter(is_staff=True).first() or UserFactory(is_staff=True))
        case = str(CardReversal.objects.get(top_up=payment.top_up).pk)
        end = "refunded" if payment.plan == "refund asked for" else "refund failed"
        body = payment.event(end, case=f"re_{case}")
        self.actions.put(partial(send_refund.call, case))
        for _ in range(2):
            self.actions.put(partial(self._send, "genuine", payment.top_up.provider, body))

    def _send(self, what: str, provider: str, body: bytes, secret: str = "") -> None:
        """Send an event, signed at the time at which it is sent."""
        header = signed(provider, body, secret or SECRETS[provider])
        response = Client().post(f"/payments/{provider}/events", body, content_type="application/json", headers=header)
        self.responses[what, response.status_code, response.json().get("code", "")] += 1

    def _run(self, actions: list[Callable[[], Any]], threads: int) -> None:
        for action in actions:
            self.actions.put(action)
        workers = [threading.Thread(target=self._work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def _work(self) -> None:
        try:
            while True:
                try:
                    self.actions.get_nowait()()
                except Problem:
                    # Such as a purchase without credit.
                    continue
                except queue.Empty:
                    return
                except Exception as error:  # noqa: BLE001 - told with everything else that went wrong
                    self.broken.append(repr(error))
        finally:
            connections.close_all()

    def _wrong_responses(self) -> Iterator[str]:
        for (what, status, code), number in self.responses.items():
            if (status, code) != ((400, REFUSED) if what == "forged" else (200, "")):
                yield f"{number} events that are {what}: {status} {code}"

    def _wrong_balances(self) -> Iterator[str]:
        """Compare wallets of those who bought nothing: each has one payment."""
        wallets = LedgerAccount.objects.filter(kind="wallet")
        held = {(owner, currency): balance for owner, currency, balance in wallets.values_list("owner_id", "currency", "balance_minor")}
        for payment in self.payments:
            top_up = payment.top_up
            expected = top_up.amount_minor if PLANS[payment.plan][1] == "Succeeded" else 0
            if payment.quiet and held.get((top_up.user_id, top_up.currency), 0) != expected:
                yield f"{payment.plan}: {held[top_up.user_id, top_up.currency]} instead of {expected}"
        returned = CardReversal.objects.filter(status="Returned").aggregate(total=Sum("amount_minor"))["total"] or 0
        if returned != sum(payment.top_up.amount_minor for payment in self.payments if PLANS[payment.plan][1] == "Returned"):
            yield f"{returned} returned to cards"


def _refund_something(user: User) -> None:
    order = Order.objects.filter(buyer=user, status="Completed").first()
    if order is not None:
        refund_order(order=order, reason="test", actor=None)


@contextmanager
def _providers() -> Iterator[None]:
    """Set both providers up, whose pages and refunds are made here; jobs such as mails wait."""
    with ExitStack() as stack:
        stack.enter_context(override_settings(**SETTINGS))
        stack.enter_context(patch.object(EagerBackend, "on", new=False))
        for provider in (StripeProvider, RazorpayProvider):
            for name, instead in {"create_page": _page, "refund": _refund_later}.items():
                stack.enter_context(patch.object(provider, name, instead))
        yield


def _page(_provider: Any, top_up: TopUp, _return_url: str) -> PaymentPage:
    return PaymentPage(f"page_{top_up.pk}", "https://pay.example/")


def _refund_later(_provider: Any, *, payment: str, amount_minor: int, reversal_id: Any) -> Refund:
    return Refund(f"re_{reversal_id}", done=False)
