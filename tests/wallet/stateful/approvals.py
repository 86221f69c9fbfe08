"""Steps of random histories: personal tokens ask for purchases above their limits, and owners decide."""

import datetime as dt
from dataclasses import dataclass
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from wallet.models import Approval
from wallet.services.approvals import approve_purchase, decline_purchase
from wallet.services.offers import PurchaseRequest
from wallet.services.spending_requests import spend_or_request_approval

from .base import BUYERS, CURRENCIES, LISTINGS, TIERS, attempted
from .purchases import Buying

DAY = dt.timedelta(days=1)
APPROVALS_A_DAY = 20


@dataclass
class Asked:
    """A purchase that an owner was asked about."""

    buyer: int
    purchase: tuple[int, str, str]
    key: str
    price: int
    tax: int
    at: dt.datetime
    status: str = "Waiting"


class Deciding(Buying):
    """What was approved is bought once, for the price at which it was asked for, whatever the limits are by then."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[str, Asked] = {}

    @rule(buyer=BUYERS, listing=LISTINGS, tier=TIERS, currency=CURRENCIES)
    def ask_the_owner(self, buyer: int, listing: int, tier: str, currency: str) -> None:
        """Ask for a purchase that only a limit refuses."""
        terms = self.terms[listing]
        price = terms.price(tier, currency)
        if price is None or next(self.unavailable(buyer, listing, tier), ""):
            return
        if next(self.unaffordable(buyer, "personal", currency, price), "") != "spending_limit_exceeded":
            return
        recent = [asked for asked in self.asked.values() if asked.buyer == buyer and asked.at > self.now - DAY]
        refusal = "too_many_approvals" if len(recent) >= APPROVALS_A_DAY else ""
        key, principal = f"approval {self.numbered()}", self.principals[buyer, "personal"]
        purchase = PurchaseRequest(str(self.listings[listing].pk), currency, tier)
        result, met = attempted(
            lambda: spend_or_request_approval(purchase=purchase, quote_id=None, idempotency_key=key, reason="", principal=principal)
        )
        self.counted("ask the owner", met)
        assert met == refusal
        if not met and isinstance(result[0], Approval):
            self.asked[str(result[0].pk)] = Asked(buyer, (listing, tier, currency), key, price, terms.tax(price), self.now)

    @rule(data=st.data(), verb=st.sampled_from(["approve", "approve", "decline"]))
    def decide(self, data: st.DataObject, verb: str) -> None:
        """Approve or decline, perhaps too late or again."""
        approval = self.some_approval(data)
        if approval is None:
            return
        asked = self.asked[str(approval.pk)]
        allowed = {"approve": {"Waiting"}, "decline": {"Waiting", "Approved"}}[verb]
        refusal = "" if asked.status in allowed else "invalid_transition"
        if asked.status in {"Waiting", "Approved"} and asked.at + DAY <= self.now:
            refusal = "approval_expired"
        decide: Any = partial(approve_purchase, password_confirmed=True) if verb == "approve" else decline_purchase
        _, met = attempted(lambda: decide(approval=approval, actor=self.buyers[asked.buyer]))
        self.counted(verb, met)
        assert met == refusal
        if not met:
            asked.status = {"approve": "Approved", "decline": "Declined"}[verb]

    @rule(data=st.data())
    def buy_as_approved(self, data: st.DataObject) -> None:
        """Complete a purchase that was approved, declined, is too old, or was made already."""
        approval = self.some_approval(data)
        if approval is None or approval.status == "Waiting":
            return
        asked = self.asked[str(approval.pk)]
        listing, tier, currency = asked.purchase
        refusals = [
            *(["approval_declined"] if asked.status == "Declined" else []),
            *(["approval_expired"] if asked.status == "Approved" and asked.at + DAY <= self.now else []),
            *(["quote_used"] if asked.status == "Completed" else []),
            *self.unavailable(asked.buyer, listing, tier),
        ]
        if asked.price > self.expected.balances[asked.buyer, currency]:
            refusals.append("insufficient_balance")
        if self.attempt(asked.buyer, asked.purchase, None, asked.key, "personal", asked.price, asked.tax, refusals, approval=approval):
            asked.status = "Completed"

    def some_approval(self, data: st.DataObject) -> Approval | None:
        """Return one of them; unless it was used, it is forgotten a day after its end."""
        if not self.asked:
            return None
        key = data.draw(st.sampled_from(sorted(self.asked)))
        approval = Approval.objects.filter(pk=key).first()
        if approval is None:
            assert self.asked[key].at + 2 * DAY <= self.now
            del self.asked[key]
        else:
            assert approval.status == self.asked[key].status
        return approval
