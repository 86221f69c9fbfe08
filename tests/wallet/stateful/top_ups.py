"""Steps of random histories: card payments, which banks dispute, and what that freezes."""

import datetime as dt
from typing import Any

from django.conf import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from wallet.models import LedgerAccount, TopUp
from wallet.models.top_ups import EventKind
from wallet.selectors import with_transfer_sums
from wallet.services.receivables import write_off

from ..top_up_cases import deliver_event, requested_top_up
from .base import BUYERS, CURRENCIES, attempted
from .model import Added, Frozen
from .wallet_payouts import Withdrawing

DISPUTES = st.sampled_from([EventKind.DISPUTED, EventKind.DISPUTED, EventKind.DISPUTE_WON, EventKind.DISPUTE_LOST])


class Adding(Withdrawing):
    """Buyers add credit by card, and their banks dispute it, in any order and again."""

    @rule(buyer=BUYERS, currency=CURRENCIES, amount=st.sampled_from([100, 7_700, 49_900]), often=st.integers(1, 2))
    def add_by_card(self, buyer: int, currency: str, amount: int, often: int) -> None:
        """Pay for credit, of which the provider tells once or twice."""
        limits = settings.TOP_UP_LIMITS[currency]
        recent = [
            a for a in self.expected.added.values() if (a.buyer, a.currency) == (buyer, currency) and a.at > self.now - dt.timedelta(days=1)
        ]
        held = self.expected.balances[buyer, currency]
        beyond = sum(a.amount for a in recent) + amount > limits["day"] or held + amount > limits["balance"]
        top_up, met = attempted(lambda: requested_top_up(self.buyers[buyer], amount, currency))
        self.counted("add_by_card", met)
        assert met == ("top_up_limit_exceeded" if beyond else "")
        if met:
            return
        for _ in range(often):
            deliver_event(top_up, EventKind.SUCCEEDED)
        self.expected.credit((buyer, currency), amount, by_card=amount)
        self.expected.added[str(top_up.pk)] = Added(buyer, currency, amount, self.now, self.numbered())

    @rule(data=st.data(), kind=DISPUTES, parts=st.sampled_from([1, 1, 2, 5]))
    def dispute(self, data: st.DataObject, kind: EventKind, parts: int) -> None:
        """Tell of a dispute, perhaps of a part, or of its end, perhaps of its end first, or of one that has ended."""
        if not self.expected.added:
            return
        self.dispute_one(data.draw(st.sampled_from(list(self.expected.added)[-10:])), kind, parts)

    def dispute_one(self, name: str, kind: EventKind, parts: int) -> None:
        """Tell of the dispute of one payment."""
        added = self.expected.added[name]
        amount = added.amount // parts
        self.tell_case(TopUp.objects.get(pk=name), name, kind, amount_minor=amount)
        self.disputed(added, name, amount)
        if kind != EventKind.DISPUTED and name in self.expected.frozen:
            self._ended(added, self.expected.frozen.pop(name), lost=kind == EventKind.DISPUTE_LOST)
        self.counted(f"{kind} of a card payment")

    def tell_case(self, top_up: TopUp, name: str, kind: EventKind, **told: Any) -> None:
        """Tell of the one dispute that a payment can have here."""
        deliver_event(top_up, kind, event_id=f"{kind}-{name}-{self.numbered()}", reversal=f"case-{name}", **told)

    def disputed(self, added: Added, name: str, amount: int) -> None:
        """Freeze what is disputed, unless the dispute is known or all of the payment has returned."""
        amount = min(amount, added.amount - added.returned)
        if amount and not added.disputed:
            added.disputed = True
            self.expected.frozen[name] = self._frozen(added, amount)

    def _frozen(self, added: Added, amount: int) -> Frozen:
        """Freeze what the wallet holds, and attribute the rest to the newest purchases: half of a price suspends."""
        key, expected = (added.buyer, added.currency), self.expected
        credit = min(amount, expected.balances[key])
        by_card = min(credit, expected.by_card[key])
        expected.balances[key] -= credit
        expected.by_card[key] -= by_card
        missing, parts, purchases = amount - credit, {}, []
        taken = {owned for frozen in expected.frozen.values() for owned, _ in frozen.purchases}
        mine = [
            (b.number, owned)
            for owned, b in expected.owned.items()
            if (owned[0], b.currency) == key and b.price and b.number > added.number
        ]
        for _, owned in sorted(mine, reverse=True):
            if missing < 1:
                break
            if owned in taken:
                continue
            bought, seller = expected.owned[owned], (owned[1], added.currency)
            before = expected.disputed[bought.order_id]
            part = min(bought.price - before, missing)
            if part < 1:
                continue
            missing -= part
            parts[bought.order_id] = part
            expected.disputed[bought.order_id] = before + part
            if 2 * (before + part) < bought.price:
                continue
            withheld = min(bought.earned, max(expected.earnings[seller], 0))
            if withheld:
                expected.earnings[seller] -= withheld
            purchases.append((owned, withheld))
        return Frozen(credit, by_card, amount - credit, purchases, parts)

    def _ended(self, added: Added, frozen: Frozen, *, lost: bool) -> None:
        """Restore everything, or take it."""
        key, expected = (added.buyer, added.currency), self.expected
        missing = frozen.missing if lost else 0
        ending = self._lost_with(frozen) if lost else []
        missing -= min(missing, sum(expected.owned[owned].tax for owned in ending))
        for owned, withheld in frozen.purchases:
            taken = min(withheld, missing) if owned in ending else 0
            missing -= taken
            if withheld:
                expected.earnings[owned[1], added.currency] += withheld - taken
        if lost:
            ended = [expected.owned.pop(owned) for owned in ending]
            added.returned += frozen.credit + frozen.missing
            missing -= min(missing, sum(bought.price - bought.earned - bought.tax for bought in ended))
            expected.owed[key] += missing
            self._stay_suspended([owned for owned, _ in frozen.purchases if owned not in ending])
        else:
            expected.balances[key] += frozen.credit
            expected.by_card[key] += frozen.by_card
            for order, part in frozen.parts.items():
                expected.disputed[order] -= part
        expected.collect(key)

    def _stay_suspended(self, standing: list[tuple[int, int, str]]) -> None:
        """Let the newest other dispute suspend what is lost and disputed by half or more."""
        for owned in standing:
            bought, seller = self.expected.owned[owned], (owned[1], self.expected.owned[owned].currency)
            others = [frozen for frozen in self.expected.frozen.values() if bought.order_id in frozen.parts]
            if others and 2 * self.expected.disputed[bought.order_id] >= bought.price:
                withheld = min(bought.earned, max(self.expected.earnings[seller], 0))
                if withheld:
                    self.expected.earnings[seller] -= withheld
                others[-1].purchases.append((owned, withheld))

    def _lost_with(self, frozen: Frozen) -> list[tuple[int, int, str]]:
        """Return the purchases of which half or more is lost with this dispute."""
        expected, ending = self.expected, []
        orders = {bought.order_id: owned for owned, bought in expected.owned.items()}
        for order, part in frozen.parts.items():
            expected.lost[order] += part
            if order in orders and 2 * expected.lost[order] >= expected.owned[orders[order]].price:
                ending.append(orders[order])
        return ending

    @rule(buyer=BUYERS, currency=CURRENCIES)
    def write_off_debt(self, buyer: int, currency: str) -> None:
        """Forgive what is owed."""
        owed = self.expected.owed[buyer, currency]
        if owed:
            self.counted("write_off")
            write_off(user=self.buyers[buyer], currency=currency, reason="test", actor=self.staff)
            self.expected.written_off[buyer, currency] += self.expected.owed.pop((buyer, currency))

    def compare(self) -> None:
        """Compare what is frozen, withheld and owed."""
        super().compare()
        open_ones = [(self.expected.added[name], frozen) for name, frozen in self.expected.frozen.items()]
        sums = {
            "frozen": sum(frozen.credit for _, frozen in open_ones),
            "withheld": sum(withheld for _, frozen in open_ones for _, withheld in frozen.purchases),
            "receivable": -sum(self.expected.owed.values()),
        }
        held = dict.fromkeys(sums, 0)
        for account in with_transfer_sums(LedgerAccount.objects.filter(kind__in=sums)):
            held[account.kind] += account.transfers_minor
        assert held == sums
