"""Steps of random histories: quotes, purchases and refunds, and what refuses them."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import rule

from marketplace.core.errors import InvalidTransition
from wallet.models import Approval, LedgerAccount, Order
from wallet.selectors import with_earnings
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import make_quote
from wallet.services.refunds import refund_order
from wallet.services.spending import spend

from .base import BOUND, BUYERS, CURRENCIES, KEYS, LISTINGS, THROUGH, TIERS, attempted
from .model import OPEN_QUOTES, Bought, Quoted
from .top_ups import Adding

Owned = tuple[int, int, str]


class Buying(Adding):
    """Buyers ask for promises, buy, and give back."""

    def unavailable(self, buyer: int, listing: int, tier: str) -> Iterator[str]:
        """Yield why a tier of an asset cannot be bought, whatever it costs."""
        if not self.terms[listing].published:
            yield "not_found"
        if self.holds(buyer, listing, tier):
            yield "already_owned"

    def holds(self, buyer: int, listing: int, tier: str) -> bool:
        """Tell whether a buyer has a licence that stands."""
        return (buyer, listing, tier) in self.expected.owned

    def unaffordable(self, buyer: int, through: str, currency: str, price: int) -> Iterator[str]:
        """Yield why a price cannot be paid."""
        if price > self.expected.balances[buyer, currency]:
            yield "insufficient_balance"
        limit_values = self.expected.limits.get((buyer, through, currency))
        if price and through in BOUND and limit_values is None:
            yield "spending_limit_exceeded"
        if not price or limit_values is None:
            return
        mine = [b for (who, _, _), b in self.expected.owned.items() if (who, b.through, b.currency) == (buyer, through, currency)]
        today = sum(bought.price for bought in mine if bought.at.date() == self.now.date())
        spent = {"per_purchase_minor": 0, "per_day_minor": today, "total_minor": sum(bought.price for bought in mine)}
        if any(maximum is not None and spent[name] + price > maximum for name, maximum in limit_values.items()):
            yield "spending_limit_exceeded"

    @rule(buyer=BUYERS, listing=LISTINGS, tier=TIERS, currency=CURRENCIES)
    def quote(self, buyer: int, listing: int, tier: str, currency: str) -> None:
        """Ask for a promise."""
        price = self.terms[listing].price(tier, currency)
        refusal = next(self.unavailable(buyer, listing, tier), "price_unavailable" if price is None else "")
        still_open = [kept for kept in self.expected.quotes.values() if kept.buyer == buyer and not kept.used and kept.expires > self.now]
        if not refusal and len(still_open) >= OPEN_QUOTES:
            refusal = "too_many_quotes"
        purchase = PurchaseRequest(str(self.listings[listing].pk), currency, tier)
        quote, met = attempted(lambda: make_quote(buyer=self.buyers[buyer], purchase=purchase))
        self.counted("quote", met)
        assert met == refusal
        if met:
            return
        assert quote.price_minor == price
        # Unused ones of long ago are forgotten.
        long_ago = self.now - dt.timedelta(days=1)
        for key, kept in list(self.expected.quotes.items()):
            if kept.buyer == buyer and not kept.used and kept.expires <= long_ago:
                self.expected.quotes[key].forgotten = True
        tax = self.terms[listing].tax(quote.price_minor)
        assert quote.tax_minor == tax
        ends = self.now + dt.timedelta(minutes=10)
        self.expected.quotes[str(quote.pk)] = Quoted(buyer, (listing, tier, currency), quote.price_minor, tax, ends)

    @rule(buyer=BUYERS, listing=LISTINGS, tier=TIERS, currency=CURRENCIES, key=KEYS, through=THROUGH)
    def buy(self, buyer: int, listing: int, tier: str, currency: str, key: str | None, through: str) -> None:
        """Buy, perhaps with an idempotency key that was used before."""
        price = self.terms[listing].price(tier, currency)
        refusals = [*self.unavailable(buyer, listing, tier), *(["price_unavailable"] if price is None else [])]
        refusals += self.unaffordable(buyer, through, currency, price or 0)
        self.attempt(buyer, (listing, tier, currency), None, key, through, price or 0, self.terms[listing].tax(price or 0), refusals)

    @rule(data=st.data(), someone_else=st.sampled_from([False, False, False, True]), key=KEYS, through=THROUGH)
    def buy_as_quoted(self, data: st.DataObject, someone_else: bool, key: str | None, through: str) -> None:  # noqa: FBT001 - drawn by name
        """Use a promise: perhaps expired, used, or someone else's."""
        if not self.expected.quotes:
            return
        quote_id = list(self.expected.quotes)[data.draw(st.integers(0, len(self.expected.quotes) - 1))]
        self.use(quote_id, key, through, someone_else=someone_else)

    def use(self, quote_id: str, key: str | None, through: str, *, someone_else: bool = False) -> None:
        """Buy as quoted."""
        quote = self.expected.quotes[quote_id]
        buyer = 1 - quote.buyer if someone_else else quote.buyer
        listing, tier, currency = quote.purchase
        refusals = [
            *(["not_found"] if someone_else or quote.forgotten else []),
            *(["quote_used"] if quote.used else []),
            *(["quote_expired"] if quote.expires <= self.now else []),
            *self.unavailable(buyer, listing, tier),
            *self.unaffordable(buyer, through, currency, quote.price),
        ]
        if self.attempt(buyer, quote.purchase, quote_id, key, through, quote.price, quote.tax, refusals):
            quote.used = True

    def attempt(
        self,
        buyer: int,
        body: tuple[int, str, str],
        quote_id: str | None,
        key: str | None,
        through: str,
        price: int,
        tax: int,
        refusals: list[str],
        *,
        approval: Approval | None = None,
        **choices: Any,
    ) -> bool:
        """Buy, and compare what happens with what should; return whether something was bought."""
        listing, tier, currency = body
        used = None if key is None else self.expected.keys.get((buyer, through, key))
        if used is not None and used[2] <= self.now - dt.timedelta(hours=24):
            used = None
        refusal = refusals[0] if refusals else ""
        if used is not None:
            refusal = "" if used[0] == (body, quote_id, choices) else "idempotency_key_reused"
        result, met = attempted(
            lambda: spend(
                buyer=self.buyers[buyer],
                purchase=PurchaseRequest(str(self.listings[listing].id), currency, tier, **choices),
                quote_id=quote_id,
                idempotency_key=key,
                principal=self.principals.get((buyer, through)),
                approval=approval,
            )
        )
        receipt, replayed = result or (None, False)
        self.counted(
            "buy as quoted" if quote_id else "buy as approved" if approval else " ".join(["buy", *choices]), "replayed" if replayed else met
        )
        assert met == refusal
        if receipt is None:
            return False
        if used is not None:
            assert (replayed, used[1]) == (True, receipt)
            return False
        assert (replayed, receipt.debited_minor, receipt.tax_minor) == (False, price, tax)
        earned = self.terms[listing].vendors_share(price, tax)
        by_card = 0
        if price:
            other = self.expected.balances[buyer, currency] - self.expected.by_card[buyer, currency]
            by_card = max(price - other, 0)
            self.expected.by_card[buyer, currency] -= by_card
            self.expected.balances[buyer, currency] -= price
            self.expected.earnings[listing, currency] += earned
        sold = f"{tier} {choices['licensee'].email}" if "licensee" in choices else tier
        self.expected.owned[buyer, listing, sold] = Bought(
            receipt.order_id, through, currency, price, tax, earned, self.now, self.numbered(), by_card
        )
        if key is not None:
            self.expected.keys[buyer, through, key] = ((body, quote_id, choices), receipt, self.now)
        return True

    @rule(data=st.data())
    def refund(self, data: st.DataObject) -> None:
        """Give one purchase back."""
        if not self.expected.owned:
            return
        owned = data.draw(st.sampled_from(sorted(self.expected.owned)))
        order = Order.objects.get(pk=self.expected.owned[owned].order_id)
        if owned in self.expected.upgrades.values() or self.is_frozen(owned):
            with pytest.raises(InvalidTransition), transaction.atomic():
                refund_order(order=order, reason="test", actor=None)
            self.counted("refund", "invalid_transition")
            return
        self.counted("refund")
        refund_order(order=order, reason="test", actor=None)
        self.give_back(owned)

    def is_frozen(self, owned: Owned) -> bool:
        """Tell whether an open dispute reaches a purchase in the model, if only in part."""
        return any(self.expected.owned[owned].order_id in dispute.parts for dispute in self.expected.frozen.values())

    def give_back(self, owned: Owned) -> None:
        """Take one purchase back in the model, and with it the upgrade that it was."""
        bought = self.expected.owned.pop(owned)
        self.expected.upgrades.pop(owned, None)
        if bought.price:
            self.expected.credit((owned[0], bought.currency), bought.price, bought.by_card)
            self.expected.earnings[owned[1], bought.currency] -= bought.earned

    def compare(self) -> None:
        """Compare balances, and what vendors earned."""
        super().compare()
        wallets = LedgerAccount.objects.filter(kind="wallet", owner__in=self.buyers).values_list("owner_id", "currency", "balance_minor")
        held = {(owner, currency): balance for owner, currency, balance in wallets}
        assert held == {(self.buyers[buyer].pk, currency): amount for (buyer, currency), amount in self.expected.balances.items()}
        vendors = {listing.store.owner_id: index for index, listing in enumerate(self.listings)}
        accounts = with_earnings(LedgerAccount.objects.filter(kind="vendor", owner__in=vendors))
        earned = {(vendors[account.owner_id], account.currency): account.unpaid_minor for account in accounts}
        assert earned == self.expected.earnings
