"""Random lives: vendors' payouts, prepared, exported, paid, bounced and cancelled in any order."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from marketplace.core.errors import Problem
from wallet.models import PayoutBatch, VendorPayout
from wallet.selectors import vendor_accounts
from wallet.services.due_payouts import WithheldPayout
from wallet.services.vendor_payouts import (
    bounce_payout,
    cancel_batch,
    cancel_payout,
    export_batch,
    mark_payout_paid,
    open_batch,
    prepare_payout,
)

from .circumstances import CURRENCIES, LISTINGS, RUNS
from .paying_out import Withdrawing

# What follows from which status, by the decisions.
AFTER = {
    "pay": ({"Exported"}, "Paid"),
    "bounce": ({"Exported", "Paid"}, "Bounced"),
    "cancel": ({"Prepared"}, "Cancelled"),
}


class PayingVendors(Withdrawing):
    """Operators prepare runs of two currencies, export or cancel them, and settle their payouts."""

    @rule(listing=LISTINGS, currency=CURRENCIES, run=RUNS, minimum=st.sampled_from([1, 1000]))
    def prepare_for_a_vendor(self, listing: int, currency: str, run: str, minimum: int) -> None:
        """Prepare the payout of what a vendor earned, perhaps in a run that paid before, or is over."""
        account = vendor_accounts(currency=currency).filter(owner=self.listings[listing].store.owner_id).first()
        held = self.expected.earnings.get((listing, currency))
        assert (account is None) == (held is None)
        if account is None or held is None:
            return
        batches = self.expected.batches
        waiting = next((other for (other, code), status in batches.items() if code == currency and status == "Prepared"), None)
        status = batches.get((run, currency))
        refusal = "invalid_transition" if status in ("Exported", "Cancelled") else ""
        refusal = refusal or ("payout_batch_open" if waiting not in (None, run) else "")
        met, outcome = "", None
        try:
            batch = open_batch(run=run, currency=currency, actor=None)
            outcome = prepare_payout(account=account, batch=batch, minimum_minor=minimum, actor=None)
        except Problem as problem:
            met = problem.code
        assert met == refusal
        self.counted("prepare for a vendor", met)
        if outcome is None:
            return
        batches[run, currency] = "Prepared"
        again = (listing, currency, run) in self.expected.runs
        assert isinstance(outcome, WithheldPayout) == (not again and held < minimum)
        if isinstance(outcome, VendorPayout) and not again:
            assert outcome.amount_minor == held
            self.expected.runs.add((listing, currency, run))
            self.expected.earnings[listing, currency] = 0
            self.expected.payouts[str(outcome.pk)] = [run, listing, currency, held, "Prepared"]

    @rule(run=RUNS, currency=CURRENCIES, end=st.sampled_from(["export", "export", "cancel"]))
    def end_a_batch(self, run: str, currency: str, end: str) -> None:
        """Export a batch or cancel it, perhaps one that is over."""
        batch = PayoutBatch.objects.filter(run=run, currency=currency).first()
        status = self.expected.batches.get((run, currency))
        assert (batch is None) == (status is None)
        if batch is None:
            return
        own = [
            payout for payout in self.expected.payouts.values() if payout[0] == run and payout[2] == currency and payout[4] == "Prepared"
        ]
        # Sales were refunded since: the next run pays what is left.
        too_much = [payout for payout in own if self.expected.earnings[payout[1], currency] < 0]
        refusal = "invalid_transition" if status != "Prepared" or (end == "export" and len(own) == len(too_much)) else ""
        met = self.attempt_settlement(
            lambda: export_batch(batch=batch, actor=None) if end == "export" else cancel_batch(batch=batch, reason="test", actor=None)
        )
        assert met == refusal
        self.counted(f"{end} a batch", met)
        if met:
            return
        self.expected.batches[run, currency] = "Exported" if end == "export" else "Cancelled"
        for payout in own:
            payout[4] = "Exported"
            if end == "cancel" or payout in too_much:
                self.back(payout, "Cancelled")

    @rule(data=st.data(), verb=st.sampled_from(sorted(AFTER)))
    def settle_a_payout(self, data: st.DataObject, verb: str) -> None:
        """Record a payout as paid or bounced, or cancel it; in its turn, or not."""
        if not self.expected.payouts:
            return
        # The newest are those that may wait.
        known = list(self.expected.payouts)[-4:]
        key = known[data.draw(st.integers(0, len(known) - 1))]
        expected, payout = self.expected.payouts[key], VendorPayout.objects.get(pk=key)
        sources, after = AFTER[verb]
        reason: dict[str, Any] = {} if verb == "pay" else {"reason": "test"}
        settle: Any = {"pay": mark_payout_paid, "bounce": bounce_payout, "cancel": cancel_payout}[verb]
        met = self.attempt_settlement(lambda: settle(payout=payout, actor=None, **reason))
        assert met == ("" if expected[4] in sources else "invalid_transition")
        self.counted(f"{verb} a payout", met)
        if met:
            return
        if after == "Paid":
            expected[4] = after
        else:
            self.back(expected, after)

    def attempt_settlement(self, deed: Any) -> str:
        """Return the code that a deed is refused with; empty if it is done."""
        try:
            deed()
        except Problem as problem:
            return problem.code
        return ""

    def back(self, payout: list[Any], status: str) -> None:
        """Give the amount of a payout back in the model."""
        _, listing, currency, amount, _ = payout
        payout[4] = status
        self.expected.earnings[listing, currency] += amount
