"""Steps of random histories: wallet payouts."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from wallet import bounds
from wallet.models import LedgerAccount, WalletPayout
from wallet.services.wallet_payouts import cancel_wallet_payout, pay_wallet_payout, refuse_wallet_payout

from ..wallet_payout_cases import requested_payout
from .base import BUYERS, CURRENCIES, Circumstances, attempted

AMOUNTS = st.none() | st.sampled_from([0, 1, 77, 49_900]) | st.integers(1, 300_000)
ENDINGS = st.sampled_from(["pay", "refuse", "cancel", "cancel of someone else"])


class Withdrawing(Circumstances):
    """Owners ask, staff pay or refuse, owners cancel, in any order and again."""

    @rule(buyer=BUYERS, currency=CURRENCIES, amount=AMOUNTS)
    def withdraw(self, buyer: int, currency: str, amount: int | None) -> None:
        """Ask for money, perhaps for all of it or for more than there is."""
        key = (buyer, currency)
        balance = self.expected.balances[key]
        # What was paid by card returns only to its card, unless it has returned there already, and what was taken for it is not written off.
        unreturned = sum(added.amount - added.returned for added in self.expected.added.values() if (added.buyer, added.currency) == key)
        holds = balance - min(self.expected.by_card[key], unreturned + self.expected.written_off[key])
        wanted = holds if amount is None else amount
        refusal = "payout_open" if key in self.expected.waiting else ""
        # A history takes less than a day by the clock that requests are counted by.
        often = list(self.expected.wallet_payouts.values()).count(key) >= bounds.WALLET_PAYOUTS_A_DAY
        refusal = refusal or ("too_many_payouts" if often else "")
        by_card = holds < balance and holds < max(wanted, 1) <= balance
        refusal = refusal or ("returns_to_card" if by_card else "")
        refusal = refusal or ("invalid_amount" if wanted < 1 else "insufficient_balance" if wanted > holds else "")
        wallet_payout, met = attempted(lambda: requested_payout(self.buyers[buyer], amount, currency))
        self.counted("withdraw", met)
        assert met == refusal
        if not met:
            assert wallet_payout.amount_minor == wanted
            from_card = max(wanted - (balance - self.expected.by_card[key]), 0)
            self.expected.balances[key] -= wanted
            self.expected.by_card[key] -= from_card
            self.expected.waiting[key] = (wanted, from_card)
            self.expected.wallet_payouts[str(wallet_payout.pk)] = key

    @rule(buyer=BUYERS, currency=CURRENCIES, ending=ENDINGS)
    def withdraw_and_end(self, buyer: int, currency: str, ending: str) -> None:
        """Ask for a part of new credit, and let that end."""
        self.credit(buyer=buyer, currency=currency, amount=5_000)
        self.withdraw(buyer=buyer, currency=currency, amount=1_000)
        if self.expected.wallet_payouts:
            self.end_one(list(self.expected.wallet_payouts)[-1], ending)

    @rule(data=st.data(), ending=ENDINGS)
    def end_a_wallet_payout(self, data: st.DataObject, ending: str) -> None:
        """Pay, refuse or cancel one that waits, or that was ended before."""
        if not self.expected.wallet_payouts:
            return
        # The newest are those that may wait.
        known = list(self.expected.wallet_payouts)[-4:]
        self.end_one(known[data.draw(st.integers(0, len(known) - 1))], ending)

    def end_one(self, key: str, ending: str) -> None:
        """End a wallet payout, or try to."""
        wallet_payout = WalletPayout.objects.get(pk=key)
        buyer, currency = self.expected.wallet_payouts[str(wallet_payout.pk)]
        waits = wallet_payout.status == "Waiting"
        refusal = "not_found" if ending == "cancel of someone else" else "" if waits else "invalid_transition"
        _, met = attempted(lambda: self.end(wallet_payout, buyer, ending))
        self.counted(f"{ending} a wallet payout", met)
        assert met == refusal
        if not met:
            waited = self.expected.waiting.pop((buyer, currency))
            if ending != "pay":
                self.expected.credit((buyer, currency), *waited)

    def end(self, wallet_payout: WalletPayout, buyer: int, ending: str) -> None:
        """End it so."""
        if ending == "pay":
            pay_wallet_payout(wallet_payout=wallet_payout, reference="T", actor=self.staff)
        elif ending == "refuse":
            refuse_wallet_payout(wallet_payout=wallet_payout, reason="test", actor=self.staff)
        else:
            cancel_wallet_payout(wallet_payout=wallet_payout, actor=self.buyers[buyer if ending == "cancel" else 1 - buyer])

    def compare(self) -> None:
        """Compare what is held."""
        super().compare()
        accounts = LedgerAccount.objects.filter(kind="held", owner__in=self.buyers, balance_minor__gt=0)
        held = {(owner, currency): balance for owner, currency, balance in accounts.values_list("owner_id", "currency", "balance_minor")}
        assert held == {(self.buyers[buyer].pk, currency): amount for (buyer, currency), (amount, _) in self.expected.waiting.items()}
