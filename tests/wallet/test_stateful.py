"""Random lives of two wallets against a plain model: balances, ownership, answers, and books that agree after every step."""

from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from catalog.models import Listing
from marketplace.core.errors import Problem
from tests.factories import UserFactory
from tests.shop import on_sale, store_keeping
from wallet.models import Order, Transfer
from wallet.reconciliation import differences
from wallet.selectors import wallet_of
from wallet.services.funding import credit_wallet
from wallet.services.offers import Wish
from wallet.services.refunds import refund_order
from wallet.services.spending import spend

BUYERS = st.integers(0, 1)
LISTINGS = st.integers(0, 4)
CURRENCIES = st.sampled_from(["INR", "USD"])
TIERS = st.sampled_from(["personal", "commercial", "extended"])
KEYS = st.sampled_from(["a", "b"])
FACTORS = {"personal": 1, "commercial": 2, "extended": 5}
# (USD, INR, discount, tax, commission): each rounding and each zero leg has its listing.
TERMS = [
    (999, 49_900, 0, 1800, 2000),
    (1, 1, 0, 10_000, 5000),
    (333, None, 3333, 1234, 10_000),
    (1000, 0, 0, 1800, 2000),
    (7, 77, 5001, 0, 0),
]


def half_up(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_HALF_UP))


@dataclass
class Expected:
    """What the wallets should hold and who should own what."""

    balances: dict[tuple[int, str], int] = field(default_factory=dict)
    owned: dict[tuple[int, int, str], Any] = field(default_factory=dict)
    keys: dict[tuple[int, str], tuple[Any, Any]] = field(default_factory=dict)
    tax: int = 0


class Wallets(RuleBasedStateMachine):
    """Credits, purchases and refunds in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.block = transaction.atomic()
        self.block.__enter__()
        self.buyers = [UserFactory() for _ in range(2)]
        self.listings: list[Listing] = [
            on_sale(store=store_keeping(rate), base_price_minor=usd, price_inr_minor=inr, discount_bp=discount, tax_rate_bp=tax)
            for usd, inr, discount, tax, rate in TERMS
        ]
        self.expected = Expected()

    def teardown(self) -> None:
        """Take everything back, so that each life begins with nothing."""
        transaction.set_rollback(True)
        self.block.__exit__(None, None, None)

    def price(self, listing: int, tier: str, currency: str) -> int | None:
        """Return what a tier should cost."""
        usd, inr, discount, _, _ = TERMS[listing]
        if 0 in (usd, inr):
            return 0
        base = usd if currency == "USD" else inr
        return None if base is None else half_up(Decimal(base) * (10_000 - discount) / 10_000) * FACTORS[tier]

    def refusal(self, buyer: int, listing: int, tier: str, currency: str) -> str:
        """Return the code with which a purchase should be refused, none where it should succeed."""
        price = self.price(listing, tier, currency)
        if (buyer, listing, tier) in self.expected.owned:
            return "already_owned"
        if price is None:
            return "price_unavailable"
        return "insufficient_balance" if price > self.expected.balances.get((buyer, currency), 0) else ""

    @rule(buyer=BUYERS, currency=CURRENCIES, amount=st.integers(1, 200_000))
    def credit(self, buyer: int, currency: str, amount: int) -> None:
        """Put money in."""
        credit_wallet(user=self.buyers[buyer], currency=currency, amount_minor=amount, reason="test", actor=None)
        self.expected.balances[buyer, currency] = self.expected.balances.get((buyer, currency), 0) + amount

    @rule(buyer=BUYERS, listing=LISTINGS, tier=TIERS, currency=CURRENCIES, key=st.none() | KEYS)
    def buy(self, buyer: int, listing: int, tier: str, currency: str, key: str | None) -> None:
        """Buy, perhaps with a key that was used before."""
        body = (listing, tier, currency)
        used = None if key is None else self.expected.keys.get((buyer, key))
        refusal = self.refusal(buyer, *body)
        if used is not None:
            refusal = "" if used[0] == body else "idempotency_key_reused"
        try:
            receipt, replayed = spend(
                buyer=self.buyers[buyer],
                wish=Wish(str(self.listings[listing].id), currency, tier),
                idempotency_key=key,
            )
        except Problem as problem:
            code, receipt, replayed = problem.code, None, False
        else:
            code = ""
        assert code == refusal
        if receipt is None:
            return
        if used is not None:
            assert (replayed, used) == (True, (body, receipt))
            return
        assert not replayed
        self.settle(buyer, body, key, receipt)

    def settle(self, buyer: int, body: tuple[int, str, str], key: str | None, receipt: Any) -> None:
        """Do in the model what a purchase does."""
        listing, tier, currency = body
        price = self.price(listing, tier, currency)
        assert price is not None
        assert receipt.debited_minor == price
        tax = half_up(Decimal(price) * TERMS[listing][3] / (10_000 + TERMS[listing][3]))
        assert receipt.tax_minor == tax
        if price:
            self.expected.balances[buyer, currency] -= price
        self.expected.tax += tax
        self.expected.owned[buyer, listing, tier] = receipt
        if key is not None:
            self.expected.keys[buyer, key] = (body, receipt)

    @rule(data=st.data())
    def refund(self, data: st.DataObject) -> None:
        """Give one purchase back."""
        if not self.expected.owned:
            return
        bought = data.draw(st.sampled_from(sorted(self.expected.owned)))
        receipt = self.expected.owned.pop(bought)
        refund_order(order=Order.objects.get(pk=receipt.order_id), reason="test", actor=None)
        self.expected.tax -= receipt.tax_minor
        if receipt.debited_minor:
            self.expected.balances[bought[0], receipt.currency] += receipt.debited_minor

    @invariant()
    def wallets_hold_what_the_model_says(self) -> None:
        """Compare balances, tax and books."""
        for index, buyer in enumerate(self.buyers):
            wallet = wallet_of(buyer)
            for currency in ("INR", "USD"):
                assert wallet.balance_minor(currency) == self.expected.balances.get((index, currency), 0)
        paid = sum(Transfer.objects.filter(credit__kind="tax").values_list("amount_minor", flat=True))
        returned = sum(Transfer.objects.filter(debit__kind="tax").values_list("amount_minor", flat=True))
        assert paid - returned == self.expected.tax
        assert list(differences()) == []


@pytest.mark.django_db
def test_random_lives_of_wallets_agree_with_the_model() -> None:
    lives = settings(max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(Wallets, settings=lives)
