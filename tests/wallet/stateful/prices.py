"""Steps of random histories: discounts that begin and end, and upgrades of licences."""

import datetime as dt

from hypothesis import strategies as st
from hypothesis.stateful import rule

from catalog.models import Discount

from .base import BUYERS, CURRENCIES, KEYS, LISTINGS, THROUGH, TIERS
from .model import FACTORS, Added, Frozen
from .purchases import Buying, Owned

# By the clock of the database, which a history does not move.
_PAST = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


class MovingPrices(Buying):
    """Vendors give discounts and end them, and buyers replace licences by higher ones."""

    @rule(listing=LISTINGS, percent=st.sampled_from([1, 33, 50, 90]), code=st.sampled_from(["", "", "SPRING"]))
    def give_discount(self, listing: int, percent: int, code: str) -> None:
        """Give a discount, which takes the place of the one before."""
        self.counted("give_discount")
        Discount.objects.filter(listing=self.listings[listing], code=code).delete()
        ends = dt.datetime.max.replace(tzinfo=dt.UTC)
        Discount.objects.create(listing=self.listings[listing], percent=percent, code=code, starts_at=_PAST, ends_at=ends)
        self.terms[listing].discounts[code] = percent

    @rule(listing=LISTINGS, code=st.sampled_from(["", "SPRING"]))
    def end_discount(self, listing: int, code: str) -> None:
        """Let a discount end."""
        self.counted("end_discount")
        ended = Discount.objects.filter(listing=self.listings[listing], code=code)
        ended.update(ends_at=_PAST + dt.timedelta(days=1))
        self.terms[listing].discounts.pop(code, None)

    @rule(buyer=BUYERS, listing=LISTINGS, tier=TIERS, currency=CURRENCIES, key=KEYS, through=THROUGH)
    def buy_with_code(self, buyer: int, listing: int, tier: str, currency: str, key: str | None, through: str) -> None:
        """Buy with a code that there may be, has been, or never was."""
        terms = self.terms[listing]
        price = terms.price(tier, currency, "SPRING")
        known = Discount.objects.filter(listing=self.listings[listing], code="SPRING").exists()
        wrong = [] if "SPRING" in terms.discounts else ["discount_ended" if known else "discount_code_invalid"]
        away = [] if terms.published else ["not_found"]
        refusals = [*away, *wrong, *self.unavailable(buyer, listing, tier), *(["price_unavailable"] if price is None else [])]
        refusals += self.unaffordable(buyer, through, currency, price or 0)
        self.attempt(
            buyer, (listing, tier, currency), None, key, through, price or 0, terms.tax(price or 0), refusals, discount_code="SPRING"
        )

    @rule(data=st.data(), tier=TIERS, key=KEYS, through=THROUGH)
    def upgrade(self, data: st.DataObject, tier: str, key: str | None, through: str) -> None:
        """Replace a licence, perhaps one that is disputed or replaced already, or by one that is not higher."""
        own = sorted(owned for owned in self.expected.owned if owned[2] in FACTORS)
        if not own:
            return
        first = data.draw(st.sampled_from(own))
        buyer, listing, origin = first
        bought, terms = self.expected.owned[first], self.terms[listing]
        replaced = first in self.expected.upgrades.values()
        full = terms.price(tier, bought.currency)
        price = max((full or 0) - self.paid_for(first), 0)
        refusals = [
            *([] if terms.published else ["not_found"]),
            *(["upgrade_unavailable"] if replaced or first in self.suspended() else []),
            *(["already_owned"] if self.holds(buyer, listing, tier) else []),
            *(["upgrade_unavailable"] if FACTORS[tier] <= FACTORS[origin] else []),
            *(["price_unavailable"] if full is None else []),
            *self.unaffordable(buyer, through, bought.currency, price),
        ]
        done = self.attempt(
            buyer, (listing, tier, bought.currency), None, key, through, price, terms.tax(price), refusals, upgrade_from=origin
        )
        if done:
            self.expected.upgrades[buyer, listing, tier] = first

    def paid_for(self, owned: Owned) -> int:
        """Return what was paid for a licence and for those that it had replaced."""
        base = self.expected.upgrades.get(owned)
        return self.expected.owned[owned].price + (self.paid_for(base) if base else 0)

    def suspended(self) -> set[Owned]:
        """Return the licences whose purchase, or one that they stand on, is disputed."""
        found = {owned for frozen in self.expected.frozen.values() for owned, _ in frozen.purchases}
        for _ in FACTORS:
            found |= {upgrade for upgrade, base in self.expected.upgrades.items() if base in found or base not in self.expected.owned}
        return found

    def _ended(self, added: Added, frozen: Frozen, *, lost: bool) -> None:
        """Refund the upgrades of purchases that were charged back, unless these are disputed themselves."""
        super()._ended(added, frozen, lost=lost)
        for upgrade in [upgrade for upgrade in self.expected.upgrades if upgrade not in self.expected.owned]:
            del self.expected.upgrades[upgrade]
        parts = {order_id for other in self.expected.frozen.values() for order_id in other.parts}
        disputed = {owned for owned, bought in self.expected.owned.items() if bought.order_id in parts}
        while True:
            bases = set(self.expected.upgrades.values())
            ended = [upgrade for upgrade in self.expected.upgrades if self._lost(upgrade) and upgrade not in bases | disputed]
            if not ended:
                return
            for upgrade in ended:
                self.counted("upgrade refunded after a dispute")
                self.give_back(upgrade)

    def _lost(self, upgrade: Owned) -> bool:
        """Tell whether a purchase that an upgrade stands on was charged back."""
        base = self.expected.upgrades.get(upgrade)
        return base is not None and (base not in self.expected.owned or self._lost(base))
