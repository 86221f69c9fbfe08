"""The beginning and the circumstances of random histories: money, prices, takedowns, limits and time."""

import datetime as dt
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar
from unittest.mock import patch

from django.db import connection, transaction
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from catalog.models import Listing
from developers.models import SpendingLimit
from developers.principals import Principal
from marketplace.accounts.models import User
from marketplace.core.errors import Problem
from tests.factories import AppFactory, UserFactory
from tests.shop import on_sale, store_keeping
from vendors.models import VendorProfile
from wallet.reconciliation import differences
from wallet.services.digests import digest_ledger
from wallet.services.funding import credit_wallet

from .. import spenders
from ..payees import changed_bank_account, end_waiting_time
from .model import TERMS, Expected, Terms

BUYERS = st.integers(0, 1)
LISTINGS = st.integers(0, 4)
CURRENCIES = st.sampled_from(["INR", "USD"])
TIERS = st.sampled_from(["personal", "commercial", "extended"])
KEYS = st.sampled_from([None, None, None, "a", "b", "c"])
# Whom a purchase goes through; the first is a page of ours.
THROUGH = st.sampled_from(["page", "personal", "connected", "own"])
BOUND = ("personal", "connected")
PRICES = st.sampled_from([None, 0, 1, 7, 77, 999, 49_900])
CAPS = st.none() | st.sampled_from([1, 77, 1998, 49_900, 120_000])
START = dt.datetime(2031, 3, 1, 12, tzinfo=dt.UTC)


# The wallets are compared with the model after so many operations, and at the end of each history.
COMPARE_EVERY = 16


@dataclass
class World:
    """The people and listings that a history begins with."""

    buyers: list[User]
    staff: User
    listings: list[Listing]
    principals: dict[tuple[int, str], Principal]


@patch("django.utils.timezone.now", lambda: START)
def make_world() -> World:
    """Make two buyers with their programs, and five listings."""
    buyers: list[Any] = [UserFactory() for _ in range(2)]
    app = AppFactory()
    listings = [_listing(Terms(*terms)) for terms in TERMS]
    principals: dict[tuple[int, str], Principal] = {}
    for index, buyer in enumerate(buyers):
        principals[index, "personal"] = spenders.personal(buyer)
        principals[index, "connected"] = spenders.connected(buyer, app)
        principals[index, "own"] = spenders.own_key(buyer)
    return World(buyers, UserFactory(), listings, principals)


def _listing(terms: Terms) -> Listing:
    """Put an asset on sale on these terms."""
    store = store_keeping(terms.commission_bp)
    profile = VendorProfile.objects.get(store=store)
    for currency in ("INR", "USD"):
        changed_bank_account(profile, currency)
    end_waiting_time(profile)
    prices: dict[str, Any] = {"base_price_minor": terms.usd, "price_inr_minor": terms.inr}
    return on_sale(store=store, discount_bp=terms.discount_bp, tax_rate_bp=terms.tax_bp, **prices)


def attempted(deed: Callable[[], Any]) -> tuple[Any, str]:
    """Return what a deed returned, and the code that it was refused with; that is empty if it was done."""
    try:
        return deed(), ""
    except Problem as problem:
        return None, problem.code


class Circumstances(RuleBasedStateMachine):
    """Two buyers, five listings, and whatever changes around them in any order."""

    # How often each operation ended how.
    outcomes: ClassVar[Counter[str]] = Counter()
    # Made once for many histories: they take back whatever they do.
    world: ClassVar[World]

    def __init__(self) -> None:
        super().__init__()
        self.block = transaction.atomic()
        self.block.__enter__()
        self.now = START
        self.patches: list[Any] = [
            patch("django.utils.timezone.now", lambda: self.now),
            patch("marketplace.ui.mail.render_to_string", return_value=""),
        ]
        for each in self.patches:
            each.start()
        world = deepcopy(self.world)
        self.buyers, self.staff, self.listings, self.principals = world.buyers, world.staff, world.listings, world.principals
        self.terms = [Terms(*terms) for terms in TERMS]
        self.expected = Expected()
        self.steps = 0
        self.happened = 0

    @invariant()
    def agrees_from_time_to_time(self) -> None:
        """Compare everything with the model after every few operations: a difference would not go away by itself."""
        self.steps += 1
        if self.steps % COMPARE_EVERY == 0:
            self.compare()

    def compare(self) -> None:
        """Compare what the database holds with the model; each part of a history adds its own."""

    def teardown(self) -> None:
        """Check the ledger, then roll everything back, so that each history begins with an empty one."""
        try:
            self.compare()
            connection.check_constraints()
            list(digest_ledger(until=self.now))
            assert list(differences()) == []
        finally:
            for each in self.patches:
                each.stop()
            transaction.set_rollback(True)
            self.block.__exit__(None, None, None)

    def numbered(self) -> int:
        """Return the next number of something that happens."""
        self.happened += 1
        return self.happened

    def counted(self, name: str, outcome: str = "") -> None:
        """Count an operation."""
        self.outcomes[f"{name} {outcome or 'done'}"] += 1

    @rule(buyer=BUYERS, currency=CURRENCIES, amount=st.integers(1, 200_000))
    def credit(self, buyer: int, currency: str, amount: int) -> None:
        """Credit a wallet."""
        self.counted("credit")
        credit_wallet(user=self.buyers[buyer], currency=currency, amount_minor=amount, reason="test", actor=None)
        self.expected.credit((buyer, currency), amount)

    @rule(listing=LISTINGS, usd=PRICES, inr=PRICES, discount=st.sampled_from([0, 1, 3333, 10_000]), tax=st.sampled_from([0, 1800]))
    def change_terms(self, listing: int, usd: int | None, inr: int | None, discount: int, tax: int) -> None:
        """Change what an asset costs."""
        self.counted("change_terms")
        terms = self.terms[listing]
        terms.usd, terms.inr, terms.discount_bp, terms.tax_bp = usd or 1, inr, discount, tax
        prices = {"base_price_minor": terms.usd, "price_inr_minor": inr}
        Listing.objects.filter(pk=self.listings[listing].pk).update(discount_bp=discount, tax_rate_bp=tax, **prices)

    @rule(listing=LISTINGS, published=st.sampled_from([True, True, True, False]))
    def take_down_or_publish(self, listing: int, published: bool) -> None:  # noqa: FBT001 - drawn by name
        """Take an asset off the shop, or put it back."""
        self.counted("take_down_or_publish")
        terms = self.terms[listing]
        terms.published = published
        Listing.objects.filter(pk=self.listings[listing].pk).update(status="Published" if published else "Rejected")

    @rule(minutes=st.sampled_from([1, 11, 13 * 60, 25 * 60]))
    def wait(self, minutes: int) -> None:
        """Let quotes expire, days begin and keys be forgotten."""
        self.counted("wait")
        self.now += dt.timedelta(minutes=minutes)

    @rule(buyer=BUYERS, through=st.sampled_from(["personal", "connected", "own"]), currency=CURRENCIES, once=CAPS, day=CAPS, ever=CAPS)
    def bound(self, buyer: int, through: str, currency: str, once: int | None, day: int | None, ever: int | None) -> None:
        """Set a limit, or take it away."""
        self.counted("bound")
        principal = self.principals[buyer, through]
        subject = {"token_id": principal.credential.pk} if principal.app is None else {"app": principal.app}
        SpendingLimit.objects.filter(owner=self.buyers[buyer], currency=currency, **subject).delete()
        self.expected.limits.pop((buyer, through, currency), None)
        limit_values: dict[str, Any] = {"per_purchase_minor": once, "per_day_minor": day, "total_minor": ever}
        if any(limit_values.values()):
            spenders.limit(principal, currency=currency, **limit_values)
            self.expected.limits[buyer, through, currency] = limit_values
