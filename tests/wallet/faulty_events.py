"""Faulty events of a payment provider, many at once: doubled, reordered, late and forged."""

import queue
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from unittest.mock import patch

from django.db import connections
from django.db.models import Sum
from django.test import Client

from marketplace.accounts.models import User
from tests.eager import EagerBackend
from tests.factories import UserFactory
from wallet.models import CardReversal, Journal, LedgerAccount, TopUp
from wallet.models.ledger import JournalKind
from wallet.models.top_ups import EventKind
from wallet.providers import SimulatedProvider
from wallet.providers.base import Refund
from wallet.providers.simulated import SIGNATURE, signed_event
from wallet.reconciliation import differences
from wallet.services.card_refunds import refund_top_up, send_refund

from .top_up_cases import requested_top_up

REFUSED = "payment_signature_invalid"
AMOUNTS = (100, 4_990, 49_900)
PAID, FAILED, DISPUTED = EventKind.SUCCEEDED, EventKind.FAILED, EventKind.DISPUTED
# What happens to a payment, in this order, and its status in the end.
PLANS: dict[str, tuple[tuple[EventKind, ...], str]] = {
    "paid": ((PAID,), "Succeeded"),
    "failed": ((FAILED,), "Failed"),
    "paid after a failure": ((FAILED, PAID), "Succeeded"),
    "disputed": ((PAID, DISPUTED), "Disputed"),
    "won": ((PAID, DISPUTED, EventKind.DISPUTE_WON), "Succeeded"),
    "lost": ((PAID, DISPUTED, EventKind.DISPUTE_LOST), "Returned"),
    "lost, and nobody told that it began": ((PAID, EventKind.DISPUTE_LOST), "Returned"),
    "refunded by hand": ((PAID, EventKind.REFUNDED), "Returned"),
    "refund asked for": ((PAID,), "Returned"),
    "refund that fails": ((PAID,), "Succeeded"),
}
# How many seconds after the payment something happened; two if it is not here.
PLACES = {PAID: 0, FAILED: 0, DISPUTED: 1}
Event = tuple[bytes, dict[str, str]]


@dataclass
class Payment:
    """A top-up and the events that its provider sends about it."""

    top_up: TopUp
    plan: str
    at: datetime

    def event(self, kind: EventKind, **changes: Any) -> Event:
        return signed_event(self.top_up, kind, occurred_at=int(self.at.timestamp()) + PLACES.get(kind, 2), **changes)


@dataclass
class FaultyEvents:
    """Payments and their events, of which at least so many are sent; `rng` decides everything but the order of the threads."""

    events: int
    rng: random.Random
    payments: list[Payment] = field(default_factory=list)
    # The number of responses by what was sent, status and code.
    responses: Counter[tuple[str, int, str]] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    actions: "queue.SimpleQueue[Callable[[], Any]]" = field(default_factory=queue.SimpleQueue)

    def send_all(self, threads: int) -> None:
        later = patch.object(SimulatedProvider, "refund", lambda _self, *, reversal_id, **_told: Refund(f"re_{reversal_id}", done=False))
        with later, patch.object(EagerBackend, "on", new=False):
            today = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
            chosen: list[Callable[[], Any]] = []
            while len(chosen) < self.events:
                # Some are told weeks late.
                payment = self._asked_for(today - timedelta(days=self.rng.choice([0, 0, 0, 40])))
                self.payments.append(payment)
                chosen += self._genuine(payment) + self._forged(payment)
            self.rng.shuffle(chosen)
            self._run(chosen, threads)
            # Before anything is told again.
            self.broken += self._wrong_statuses([payment for payment in self.payments if not payment.plan.startswith("refund ")])
            refunds = [partial(self._refund, payment) for payment in self.payments if payment.plan.startswith("refund ")]
            self._run([*refunds, *self._again()], threads)

    def wrong(self) -> Iterator[str]:
        yield from self.broken
        yield from differences()
        yield from self._wrong_responses()
        yield from self._wrong_statuses(self.payments)
        paid = [payment for payment in self.payments if PAID in PLANS[payment.plan][0]]
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
        top_up = requested_top_up(amount_minor=self.rng.choice(AMOUNTS), currency=self.rng.choice(["USD", "INR"]))
        return Payment(top_up, self.rng.choice(list(PLANS)), at)

    def _genuine(self, payment: Payment) -> list[Callable[[], Any]]:
        """Return what is told of a payment, most of it once, some twice or three times, and the payment itself by two events."""
        events = [payment.event(kind) for kind in PLANS[payment.plan][0]]
        if PAID in PLANS[payment.plan][0]:
            events.append(payment.event(PAID, event_id=f"second-{payment.top_up.pk}"))
        return [call for event in events for call in [partial(self._send, "genuine", *event)] * self.rng.choice([1, 1, 1, 2, 3])]

    def _forged(self, payment: Payment) -> list[Callable[[], Any]]:
        """Return some of what somebody might send who wants the money without paying, or whose payment is another one."""
        top_up, (body, headers) = payment.top_up, payment.event(PAID)
        raised, _ = payment.event(PAID, amount_minor=top_up.amount_minor + 1)
        won, _ = payment.event(EventKind.DISPUTE_WON)
        # Of another program that uses the same account with the provider.
        foreign = Payment(TopUp(amount_minor=100, currency="INR", page_reference="y"), "paid", payment.at)
        kinds: list[Callable[[], Any]] = [
            partial(self._send, "forged", body, {SIGNATURE: "guessed"}),
            partial(self._send, "forged", won, {SIGNATURE: "guessed"}),
            partial(self._send, "forged", raised, headers),
            partial(self._send, "ignored", *foreign.event(PAID)),
        ]
        chosen = self.rng.sample(kinds, 3)
        if self.rng.random() < 0.2:
            # Genuine, and of a payment of something else.
            other: dict[str, Any] = self.rng.choice([{"amount_minor": 1}, {"currency": "EUR"}])
            chosen.append(partial(self._send, "other amount", *payment.event(PAID, event_id=f"other-{top_up.pk}", **other)))
        return chosen

    def _again(self) -> list[Callable[[], Any]]:
        """Return the events of half of the payments once more: providers try again for days."""
        half = self.rng.sample(self.payments, len(self.payments) // 2)
        return [partial(self._send, "genuine", *payment.event(kind)) for payment in half for kind in PLANS[payment.plan][0]]

    def _refund(self, payment: Payment) -> None:
        """Refund a payment to its card, and let the provider tell twice how that ends."""
        refund_top_up(top_up=payment.top_up, reason="test", actor=User.objects.filter(is_staff=True).first() or UserFactory(is_staff=True))
        case = str(CardReversal.objects.get(top_up=payment.top_up).pk)
        end = EventKind.REFUNDED if payment.plan == "refund asked for" else EventKind.REFUND_FAILED
        event = payment.event(end, event_id=f"end-{case}", reversal=f"re_{case}")
        self.actions.put(partial(send_refund.call, case))
        for _ in range(2):
            self.actions.put(partial(self._send, "genuine", *event))

    def _send(self, what: str, body: bytes, headers: dict[str, str]) -> None:
        response = Client().post("/payments/test/events", body, content_type="application/json", headers=headers)
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
        wallets = LedgerAccount.objects.filter(kind="wallet")
        held = {(owner, currency): balance for owner, currency, balance in wallets.values_list("owner_id", "currency", "balance_minor")}
        for payment in self.payments:
            top_up = payment.top_up
            expected = top_up.amount_minor if PLANS[payment.plan][1] == "Succeeded" else 0
            if held.get((top_up.user_id, top_up.currency), 0) != expected:
                yield f"{payment.plan}: {held[top_up.user_id, top_up.currency]} instead of {expected}"
        returned = CardReversal.objects.filter(status="Returned").aggregate(total=Sum("amount_minor"))["total"] or 0
        if returned != sum(payment.top_up.amount_minor for payment in self.payments if PLANS[payment.plan][1] == "Returned"):
            yield f"{returned} returned to cards"
