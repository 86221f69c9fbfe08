"""Steps of random histories: buyers ask for refunds, vendors and staff answer."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.factories import UserFactory
from wallet.models import Order, RefundRequest
from wallet.services.refund_requests import (
    agree_to_refund,
    decline_refund,
    escalate_refund_request,
    grant_refund,
    refuse_refund,
    request_refund,
)

from .base import attempted
from .purchases import Buying

ANSWERS = st.sampled_from(["", "agree", "decline", "grant", "refuse"])
AFTER = {"": "Waiting", "agree": "Refunded", "decline": "Declined", "grant": "Refunded", "refuse": "Refused"}


class Asking(Buying):
    """Nothing is downloaded: the first request for an asset is refunded at once, later ones are answered."""

    def __init__(self) -> None:
        super().__init__()
        self.asked_orders: set[str] = set()
        self.asked_assets: set[tuple[int, int]] = set()

    @rule(data=st.data(), answer=ANSWERS)
    def ask_for_a_refund(self, data: st.DataObject, answer: str) -> None:
        """Ask for one purchase back, perhaps again, and let it be answered."""
        if not self.expected.owned:
            return
        owned = data.draw(st.sampled_from(sorted(self.expected.owned)))
        bought, asset = self.expected.owned[owned], (owned[0], owned[1])
        order = Order.objects.select_related("listing__store__owner").get(pk=bought.order_id)
        refusal = "refund_requested" if bought.order_id in self.asked_orders else ""
        free = not bought.price and owned not in self.expected.upgrades
        if not refusal and (free or self.is_frozen(owned) or owned in self.expected.upgrades.values()):
            refusal = "refund_unavailable"
        made, met = attempted(lambda: request_refund(order=order, reason="other", details="", actor=self.buyers[owned[0]]))
        assert met == refusal
        if met:
            self.counted("ask for a refund", met)
            return
        self.asked_orders.add(bought.order_id)
        if asset in self.asked_assets:
            self.answer(made, answer)
        found, expected = RefundRequest.objects.get(pk=made.pk).status, AFTER[answer] if asset in self.asked_assets else "Refunded"
        self.counted("ask for a refund", found)
        assert found == expected
        self.asked_assets.add(asset)
        if found == "Refunded":
            self.give_back(owned)

    def answer(self, made: RefundRequest, answer: str) -> None:
        """Answer as the vendor, or after a refusal as staff."""
        vendor, staff = made.order.listing.store.owner, UserFactory()
        if answer == "agree":
            agree_to_refund(refund_request=made, actor=vendor)
        elif answer:
            decline_refund(refund_request=made, reason="test", actor=vendor)
        if answer in {"grant", "refuse"}:
            escalate_refund_request(refund_request=made, reason="test", actor=made.order.buyer)
            decide = grant_refund if answer == "grant" else refuse_refund
            decide(refund_request=made, reason="test", actor=staff)
