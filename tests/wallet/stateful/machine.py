"""Random histories of two wallets, compared with a simple model that is written from the decisions, not from the code."""

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from .approvals import Deciding
from .base import BUYERS, KEYS, LISTINGS, THROUGH, TIERS
from .card_refunds import CardRefunding
from .claims import Claiming
from .prices import MovingPrices
from .refund_requests import Asking


class Wallets(Asking, Deciding, Claiming, MovingPrices, CardRefunding):
    """Credits, card payments, disputes, quotes, approvals, purchases, claims, refunds, payouts, changed prices, takedowns and limits in any order."""

    @rule(buyer=BUYERS, listing=LISTINGS, tier=TIERS)
    def buy_plainly(self, buyer: int, listing: int, tier: str) -> None:
        """Buy with what there is plenty of, on a page of ours."""
        self.credit(buyer=buyer, currency="INR", amount=500_000)
        self.buy(buyer=buyer, listing=listing, tier=tier, currency="INR", key=None, through="page")

    @rule(buyer=BUYERS, listing=LISTINGS, tier=TIERS, through=THROUGH, key=KEYS)
    def quote_and_buy(self, buyer: int, listing: int, tier: str, through: str, key: str | None) -> None:
        """Ask for a promise and use it at once, twice."""
        self.credit(buyer=buyer, currency="INR", amount=500_000)
        self.quote(buyer=buyer, listing=listing, tier=tier, currency="INR")
        if self.expected.quotes:
            for again in (key, None):
                self.use(list(self.expected.quotes)[-1], again, through)

    @rule(data=st.data(), buyer=BUYERS, listing=LISTINGS, tier=TIERS)
    def ask_and_buy(self, data: st.DataObject, buyer: int, listing: int, tier: str) -> None:
        """Ask for a purchase, then approve and buy one that was asked for."""
        self.credit(buyer=buyer, currency="INR", amount=500_000)
        self.ask_the_owner(buyer=buyer, listing=listing, tier=tier, currency="INR")
        self.decide(data=data, verb="approve")
        self.buy_as_approved(data=data)


HISTORIES = settings(
    max_examples=10,
    stateful_step_count=250,
    deadline=None,
    database=None,
    derandomize=False,
    suppress_health_check=list(HealthCheck),
    # A failing history is told as it was: to make it shorter takes minutes.
    phases=[Phase.generate],
)
