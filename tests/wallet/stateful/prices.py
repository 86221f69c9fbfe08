"""Steps of random histories: discounts that begin and end, and upgrades of licences."""

import datetime as dt

from hypothesis import strategies as st
from hypothesis.stateful import rule

from catalog.models import Discount

from .base import KEYS, LISTINGS, THROUGH, TIERS
from .model import FACTORS, Added, Frozen
from .purchases import Buying, Owned

# By the clock of the database, which a history does not move.
_PAST = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


class MovingPrices(Buying):
    """Vendors give discounts and end them, and buyers replace licences by higher ones."""

    @rule(listing=LISTINGS, percent=st.sampled_from([1, 33, 50, 90]))
    def give_discount(self, listing: int, percent: int) -> None:
        self.counted("give_discount")
        Discount.objects.filter(listing=self.listings[listing]).delete()
        ends = dt.datetime.max.replace(tzinfo=dt.UTC)
        Discount.objects.create(listing=self.listings[listing], percent=percent, starts_at=_PAST, ends_at=ends)
        self.terms[listing].discount_percent = percent

    @rule(listing=LISTINGS)
    def end_discount(self, listing: int) -> None:
        self.counted("end_discount")
        Discount.objects.filter(listing=self.listings[listing]).update(ends_at=_PAST + dt.timedelta(days=1))
        self.terms[listing].discount_percent = 0

    @rule(data=st.data(), tier=TIERS, key=KEYS, through=THROUGH)
    def upgrade(self, data: st.DataObject, tier: str, key: str | None, through: str) -> None:
        """Replace a licence, perhaps one that is disputed or replaced already, or by one that is not higher."""
        if not self.expected.owned:
            return
        first = data.draw(st.sampled_from(sorted(self.expected.owned)))
        buyer, listing, origin = first
        bought, terms = self.expected.owned[first], self.terms[listing]
        replaced = first in self.expected.upgrades.values()
        full = terms.price(tier, bought.currency)
        price = max((full or 0) - self.paid_for(first), 0)
        refusals = [
            *([] if terms.published else ["not_found"]),
            *(["upgrade_unavailable"] if replaced or first in self.suspended() else []),
            *(["already_owned"] if (buyer, listing, tier) in self.expected.owned else []),
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
        base = self.expected.upgrades.get(upgrade)
        return base is not None and (base not in self.expected.owned or self._lost(base))
