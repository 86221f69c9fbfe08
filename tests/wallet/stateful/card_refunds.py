"""Steps of random histories: card payments that staff refund in every state, disputes after payouts, and accounts that are deactivated meanwhile."""

from unittest.mock import patch

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from marketplace.accounts.models import User
from marketplace.core.errors import NotFound
from wallet.models import CardReversal, TopUp
from wallet.models.top_ups import EventKind
from wallet.providers import SimulatedProvider
from wallet.providers.base import Refund
from wallet.services.card_refunds import refund_top_up, send_refund

from ..top_up_cases import deliver_event, requested_top_up
from ..wallet_payout_cases import requested_payout
from .base import BUYERS, CURRENCIES, LISTINGS, attempted
from .model import Added
from .purchases import Buying
from .vendor_payouts import PayingVendors

ENDS = st.sampled_from([EventKind.DISPUTE_WON, EventKind.DISPUTE_LOST])


class CardRefunding(Buying, PayingVendors):
    """Staff refund, banks refuse or take their time, and tell of disputes in between."""

    @rule(data=st.data(), accepted=st.booleans(), at_once=st.booleans(), disputed=st.booleans())
    def refund_to_card(self, data: st.DataObject, accepted: bool, at_once: bool, disputed: bool) -> None:  # noqa: FBT001 - drawn by name
        """Refund a payment to its card, perhaps one that is disputed or gone; a dispute that is told meanwhile waits."""
        if not self.expected.added:
            return
        name = data.draw(st.sampled_from(list(self.expected.added)[-5:]))
        self.refund_one(name, accepted=accepted, at_once=at_once, disputed=disputed)

    def refund_one(self, name: str, *, accepted: bool = True, at_once: bool = True, disputed: bool = False) -> None:
        """Refund one payment."""
        added, top_up = self.expected.added[name], TopUp.objects.get(pk=name)
        key = (added.buyer, added.currency)
        amount = min(added.amount - added.returned, self.expected.by_card[key])
        refused = name in self.expected.frozen or amount < 1
        _, met = attempted(lambda: refund_top_up(top_up=top_up, reason="test", actor=self.staff))
        assert met == ("invalid_transition" if refused else "")
        if met:
            self.counted("refund_to_card", met)
            return
        reversal = CardReversal.objects.get(top_up=top_up, status="Open")
        assert reversal.amount_minor == amount
        if disputed:
            self.tell_case(top_up, name, EventKind.DISPUTED)
        self._answered(top_up, reversal, accepted=accepted, at_once=at_once)
        if accepted:
            self.expected.balances[key] -= amount
            self.expected.by_card[key] -= amount
            added.returned += amount
        else:
            # What is owed is collected from the credit that returns.
            self.expected.collect(key)
        if disputed:
            self.disputed(added, name, added.amount)
        self.counted("refund_to_card", f"{'returned' if accepted else 'kept'}{' and disputed' if disputed else ''}")

    def _answered(self, top_up: TopUp, reversal: CardReversal, *, accepted: bool, at_once: bool) -> None:
        """Let the provider answer: at once, or by an event."""
        answer = Refund(f"re-{reversal.pk}", done=at_once) if accepted or not at_once else None
        with patch.object(SimulatedProvider, "refund", return_value=answer):
            send_refund.call(str(reversal.pk))
        if not at_once:
            kind = EventKind.REFUNDED if accepted else EventKind.REFUND_FAILED
            told = {"event_id": f"end-{reversal.pk}", "reversal": f"re-{reversal.pk}", "amount_minor": reversal.amount_minor}
            for _ in range(2):
                deliver_event(top_up, kind, **told)

    @rule(buyer=BUYERS, listing=LISTINGS, currency=CURRENCIES, paid_out=st.booleans(), end=ENDS)
    def dispute_what_was_bought(self, buyer: int, listing: int, currency: str, paid_out: bool, end: EventKind) -> None:  # noqa: FBT001 - drawn by name
        """Buy with a card, perhaps with nothing else in the wallet and let the vendor be paid, and dispute the payment."""
        if paid_out:
            self.empty(buyer, currency)
        before = len(self.expected.added)
        self.add_by_card(buyer=buyer, currency=currency, amount=49_900, often=1)
        if len(self.expected.added) == before:
            return
        self.buy(buyer=buyer, listing=listing, tier="personal", currency=currency, key=None, through="page")
        if paid_out:
            self.pay_everybody(currency=currency, verb="pay")
        name = list(self.expected.added)[-1]
        for kind in (EventKind.DISPUTED, end):
            self.dispute_one(name, kind, 1)
        if paid_out:
            self.write_off_debt(buyer=buyer, currency=currency)

    def empty(self, buyer: int, currency: str) -> None:
        """Let all credit return to where it came from."""
        if (buyer, currency) in self.expected.waiting:
            mine = [key for key, owner in self.expected.wallet_payouts.items() if owner == (buyer, currency)]
            self.end_one(mine[-1], "pay")
        self.withdraw(buyer=buyer, currency=currency, amount=None)
        for name in [name for name, added in self.expected.added.items() if (added.buyer, added.currency) == (buyer, currency)]:
            if self.expected.by_card[buyer, currency]:
                self.refund_one(name)

    @rule(buyer=BUYERS, currency=CURRENCIES)
    def deactivate_for_a_while(self, buyer: int, currency: str) -> None:
        """Deactivate an account: it cannot ask for anything, but a payment on a page that was open is credited."""
        user = self.buyers[buyer]
        top_up, met = attempted(lambda: requested_top_up(user, 100, currency))
        if met:
            assert met == "top_up_limit_exceeded"
            return
        User.objects.filter(pk=user.pk).update(is_active=False)
        for ask in (lambda: requested_top_up(user, 100, currency), lambda: requested_payout(user, 1, currency)):
            with pytest.raises(NotFound):
                ask()
        deliver_event(top_up, EventKind.SUCCEEDED)
        User.objects.filter(pk=user.pk).update(is_active=True)
        self.expected.credit((buyer, currency), 100, by_card=100)
        self.expected.added[str(top_up.pk)] = Added(buyer, currency, 100, self.now, self.numbered())
        self.counted("pay while deactivated")
