"""Clients that buy and refund until they are killed, with the responses that they got."""

import os
import random
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from django.db import OperationalError, connections

from catalog.models import Listing
from marketplace.accounts.models import User
from tests.shop import funded, on_sale
from wallet.models import Order
from wallet.models.orders import OrderStatus
from wallet.services.offers import PurchaseRequest
from wallet.services.refunds import refund_order
from wallet.services.spending import spend

# One line for each answer: what was done, and to which order.
BOUGHT, REFUNDED = b"B", b"R"
_LINE = 38
START_SECONDS = 30


@dataclass
class Buying:
    """Buyers, each with one asset that they buy and give back; answers by order: whether it was refunded."""

    buyers: list[User]
    listings: list[Listing]
    acknowledged: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def prepare(cls, buyers: int) -> "Buying":
        return cls([funded(inr=1_000_000) for _ in range(buyers)], [on_sale(tax_rate_bp=1800) for _ in range(buyers)])

    def acknowledge(self, answers: bytes) -> None:
        """Note what clients were told; a line that was cut was told to nobody."""
        for start in range(0, len(answers) - _LINE + 1, _LINE):
            line = answers[start : start + _LINE]
            self.acknowledged[line[1:37].decode()] = line[:1] == REFUNDED

    def lost(self) -> list[str]:
        """Return the orders whose answers the database has forgotten. A refund may have happened before its answer."""
        states = dict(Order.objects.filter(pk__in=list(self.acknowledged)).values_list("pk", "status"))
        stands = {str(order_id): status == OrderStatus.COMPLETED for order_id, status in states.items()}
        return [order for order, refunded in self.acknowledged.items() if order not in stands or (refunded and stands[order])]


def killed_at_random(buying: Buying, *, seconds: float, before: Callable[[], None] = lambda: None) -> int:
    """Let every buyer be a process of its own, and kill all some time after the first was answered; return how many were killed."""
    connections.close_all()
    children = [_start(buyer, listing) for buyer, listing in zip(buying.buyers, buying.listings, strict=True)]
    # Not before one of them was answered.
    select.select([answers for _, answers in children], [], [], START_SECONDS)
    time.sleep(random.uniform(0, seconds))
    before()
    for process, _ in children:
        os.kill(process, signal.SIGKILL)
    for process, answers in children:
        os.waitpid(process, 0)
        with os.fdopen(answers, "rb") as pipe:
            buying.acknowledge(pipe.read())
    return len(children)


def _start(buyer: User, listing: Listing) -> tuple[int, int]:
    """Fork a client: started anew it would need seconds to load."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return process, reading
    try:
        os.close(reading)
        buy_and_refund(buyer, listing, writing)
    except OperationalError:
        # The server was killed first.
        time.sleep(START_SECONDS)
    finally:
        # Nothing of the parent's is the child's to end.
        os._exit(1)


def buy_and_refund(buyer: User, listing: Listing, answers: int) -> None:
    """Buy and refund for good, telling each answer. What an earlier process left owned is refunded first."""
    for order in Order.objects.filter(buyer=buyer, status=OrderStatus.COMPLETED):
        refund_order(order=order, reason="left over", actor=None)
    while True:
        receipt, _ = spend(buyer=buyer, purchase=PurchaseRequest(str(listing.pk)))
        os.write(answers, BOUGHT + receipt.order_id.encode() + b"\n")
        refund_order(order=Order(pk=receipt.order_id), reason="again", actor=None)
        os.write(answers, REFUNDED + receipt.order_id.encode() + b"\n")
