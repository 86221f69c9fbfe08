"""The expected contents of wallets, libraries and vendors' accounts: a simple model that is written from the decisions, not from the code."""

import datetime as dt
from collections import Counter
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

FACTORS = {"personal": 1, "commercial": 2, "extended": 5}
# (USD, INR, discount, tax, commission): each rounding and each zero leg has its listing.
TERMS = [
    (999, 49_900, 0, 1800, 2000),
    (1, 1, 0, 10_000, 5000),
    (333, None, 3333, 1234, 10_000),
    (1000, 0, 0, 1800, 2000),
    (7, 77, 5001, 0, 0),
]
OPEN_QUOTES = 50


def half_up(value: Decimal) -> int:
    """Round as money is rounded."""
    return int(value.to_integral_value(ROUND_HALF_UP))


@dataclass
class Terms:
    """What the model knows of a listing."""

    usd: int
    inr: int | None
    discount_bp: int
    tax_bp: int
    commission_bp: int
    published: bool = True
    # Percentages of the discounts that run, by their code.
    discounts: dict[str, int] = field(default_factory=dict)

    def price(self, tier: str, currency: str, code: str = "") -> int | None:
        """Return what a tier should cost, perhaps with a code."""
        off = max(self.discount_bp, 100 * self.discounts.get("", 0), 100 * self.discounts.get(code, 0))
        if 0 in (self.usd, self.inr) or off == 10_000:
            return 0
        base = self.usd if currency == "USD" else self.inr
        return None if base is None else half_up(Decimal(base) * (10_000 - off) / 10_000) * FACTORS[tier]

    def tax(self, price: int) -> int:
        """Return the tax inside a price."""
        return half_up(Decimal(price) * self.tax_bp / (10_000 + self.tax_bp))

    def vendors_share(self, price: int, tax: int) -> int:
        """Return what a vendor should earn."""
        return price - tax - half_up(Decimal(price - tax) * self.commission_bp / 10_000)


@dataclass
class Bought:
    """A purchase that stands, as the model knows it."""

    order_id: str
    through: str
    currency: str
    price: int
    tax: int
    earned: int
    at: dt.datetime
    # Its place among everything that happened, and the part that was paid by card.
    number: int
    by_card: int


@dataclass
class Added:
    """A top-up that was paid by card."""

    buyer: int
    currency: str
    amount: int
    at: dt.datetime
    number: int
    disputed: bool = False
    # What has returned to the card.
    returned: int = 0


@dataclass
class Frozen:
    """What an open dispute froze: credit, the part of it that was paid by card, what is missing, and purchases with withheld shares."""

    credit: int
    by_card: int
    missing: int
    purchases: list[tuple[tuple[int, int, str], int]]
    # The part of its price that is disputed, by order.
    parts: dict[str, int]


@dataclass
class Quoted:
    """A promise."""

    buyer: int
    purchase: tuple[int, str, str]
    price: int
    tax: int
    expires: dt.datetime
    used: bool = False
    forgotten: bool = False


@dataclass
class Expected:
    """What the wallets should hold, who should own what, and what was promised."""

    balances: Counter[tuple[int, str]] = field(default_factory=Counter)
    # What vendors earned and were not paid, by listing and currency: each listing has a vendor of its own.
    earnings: Counter[tuple[int, str]] = field(default_factory=Counter)
    # What is set aside to be paid out, with the part of it that was paid by card, and whose each request was.
    waiting: dict[tuple[int, str], tuple[int, int]] = field(default_factory=dict)
    wallet_payouts: dict[str, tuple[int, str]] = field(default_factory=dict)
    # Card payments, what their open disputes froze, the part of each balance that was paid by card, what is owed, and what was written off.
    added: dict[str, Added] = field(default_factory=dict)
    frozen: dict[str, Frozen] = field(default_factory=dict)
    by_card: Counter[tuple[int, str]] = field(default_factory=Counter)
    owed: Counter[tuple[int, str]] = field(default_factory=Counter)
    written_off: Counter[tuple[int, str]] = field(default_factory=Counter)
    # The parts of prices that are disputed, or were lost, by order.
    disputed: Counter[str] = field(default_factory=Counter)
    # Of these, what was lost.
    lost: Counter[str] = field(default_factory=Counter)
    # Vendors whose payouts are held, by listing; who was paid in which run.
    held: set[int] = field(default_factory=set)
    runs: set[tuple[int, str, str]] = field(default_factory=set)
    # The status of each batch by run and currency; run, listing, currency, amount and status of each payout.
    batches: dict[tuple[str, str], str] = field(default_factory=dict)
    payouts: dict[str, list[Any]] = field(default_factory=dict)
    owned: dict[tuple[int, int, str], Bought] = field(default_factory=dict)
    # Of each upgrade, the licence that it replaced, which counts as owned.
    upgrades: dict[tuple[int, int, str], tuple[int, int, str]] = field(default_factory=dict)
    keys: dict[tuple[int, str, str], tuple[Any, Any, dt.datetime]] = field(default_factory=dict)
    quotes: dict[str, Quoted] = field(default_factory=dict)
    limits: dict[tuple[int, str, str], dict[str, int | None]] = field(default_factory=dict)

    def credit(self, key: tuple[int, str], amount: int, by_card: int = 0) -> None:
        """Add to a balance, of which a part may have been paid by card, and pay what is owed from it."""
        self.balances[key] += amount
        self.by_card[key] += by_card
        self.collect(key)

    def collect(self, key: tuple[int, str]) -> None:
        """Pay what is owed from the balance, first from what was not paid by card."""
        held, by_card = self.balances[key], self.by_card[key]
        amount = min(self.owed[key], held)
        if amount:
            self.owed[key] -= amount
            self.balances[key] = held - amount
            self.by_card[key] = by_card - max(amount - (held - by_card), 0)
