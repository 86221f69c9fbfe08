"""Steps of random histories: vendors' payouts, prepared, exported, paid, bounced, cancelled and held in any order."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from vendors.models import VendorProfile
from vendors.services.payout_details import hold_payouts, release_payouts
from wallet.models import PayoutBatch, VendorPayout
from wallet.selectors import vendor_accounts
from wallet.services.due_payouts import SkippedPayout
from wallet.services.vendor_payouts import (
    bounce_payout,
    cancel_batch,
    cancel_payout,
    export_batch,
    mark_payout_paid,
    open_batch,
    prepare_payout,
)

from .base import CURRENCIES, LISTINGS, attempted
from .wallet_payouts import Withdrawing

WHICH = st.sampled_from(["waiting", "waiting", "waiting", "new", "old"])
ENDS = st.sampled_from(["export", "export", "cancel"])
# What follows from which status, by the decisions.
AFTER = {
    "pay": ({"Exported"}, "Paid"),
    "bounce": ({"Exported", "Paid"}, "Bounced"),
    "cancel": ({"Prepared"}, "Cancelled"),
}


class PayingVendors(Withdrawing):
    """Operators prepare runs of two currencies, export or cancel them, and settle their payouts."""

    @rule(data=st.data(), which=WHICH, minimum=st.sampled_from([1, 1, 1000]))
    def prepare_for_a_vendor(self, data: st.DataObject, which: str, minimum: int) -> None:
        """Prepare the payout of what a vendor earned, perhaps in a run that paid before, or is over."""
        if not self.expected.earnings:
            return
        # Mostly of somebody who is owed something.
        owed = sorted(key for key, held in self.expected.earnings.items() if held > 0) or sorted(self.expected.earnings)
        listing, currency = data.draw(st.sampled_from(owed))
        self.prepare(listing, currency, self.run(which, currency), minimum)

    def prepare(self, listing: int, currency: str, run: str, minimum: int) -> None:
        """Prepare one payout."""
        held = self.expected.earnings[listing, currency]
        account = vendor_accounts(currency=currency).get(owner=self.listings[listing].store.owner_id)
        batches = self.expected.batches
        waiting = next((other for (other, code), status in batches.items() if code == currency and status == "Prepared"), None)
        status = batches.get((run, currency))
        refusal = "invalid_transition" if status in ("Exported", "Cancelled") else ""
        refusal = refusal or ("payout_batch_open" if waiting not in (None, run) else "")
        outcome, met = attempted(
            lambda: prepare_payout(
                account=account, batch=open_batch(run=run, currency=currency, actor=None), minimum_minor=minimum, actor=None
            )
        )
        assert met == refusal
        withheld = "withheld" if isinstance(outcome, SkippedPayout) else ""
        self.counted("prepare for a vendor", met or withheld)
        if outcome is None:
            return
        batches[run, currency] = "Prepared"
        again = (listing, currency, run) in self.expected.runs
        assert bool(withheld) == (not again and (held < minimum or listing in self.expected.held))
        if isinstance(outcome, VendorPayout) and not again:
            assert outcome.amount_minor == held
            self.expected.runs.add((listing, currency, run))
            self.expected.earnings[listing, currency] = 0
            self.expected.payouts[str(outcome.pk)] = [run, listing, currency, held, "Prepared"]

    @rule(which=st.sampled_from(["waiting", "waiting", "waiting", "old"]), currency=CURRENCIES, end=ENDS)
    def end_a_batch(self, which: str, currency: str, end: str) -> None:
        """Export a batch or cancel it, perhaps one that is over. What cannot be paid by then is the vendor's again."""
        run = self.run(which, currency)
        status = self.expected.batches.get((run, currency))
        if status is None:
            return
        batch = PayoutBatch.objects.get(run=run, currency=currency)
        own = [p for p in self.expected.payouts.values() if p[0] == run and p[2] == currency and p[4] == "Prepared"]
        # Of whose sales more was refunded since than they earned, the next run pays what is left.
        able = [p for p in own if p[1] not in self.expected.held and self.expected.earnings[p[1], currency] >= 0]
        left = able if end == "export" else []
        refusal = "invalid_transition" if status != "Prepared" or (end == "export" and not left) else ""
        _, met = attempted(
            lambda: export_batch(batch=batch, actor=None) if end == "export" else cancel_batch(batch=batch, reason="test", actor=None)
        )
        assert met == refusal
        self.counted(f"{end} a batch", met)
        if met:
            return
        self.expected.batches[run, currency] = "Exported" if end == "export" else "Cancelled"
        for payout in own:
            if payout in left:
                payout[4] = "Exported"
            else:
                self.back(payout, "Cancelled")

    @rule(currency=CURRENCIES, verb=st.sampled_from(sorted(AFTER)))
    def pay_everybody(self, currency: str, verb: str) -> None:
        """Prepare and export the payouts of all who are owed something, and settle the last one."""
        for listing in [listing for (listing, code), held in self.expected.earnings.items() if code == currency and held > 0]:
            self.prepare(listing, currency, self.run("waiting", currency), 1)
        self.end_a_batch(which="waiting", currency=currency, end="export")
        if self.expected.payouts:
            self.settle(list(self.expected.payouts)[-1], verb)

    @rule(data=st.data(), verb=st.sampled_from(sorted(AFTER)))
    def settle_a_payout(self, data: st.DataObject, verb: str) -> None:
        """Record a payout as paid or bounced, or cancel it; in its turn, or not."""
        if not self.expected.payouts:
            return
        # Mostly one that is not settled yet.
        waits = [key for key, payout in self.expected.payouts.items() if payout[4] in AFTER[verb][0]]
        known = waits or list(self.expected.payouts)[-4:]
        self.settle(known[data.draw(st.integers(0, len(known) - 1))], verb)

    def settle(self, key: str, verb: str) -> None:
        """Settle one payout."""
        expected, payout = self.expected.payouts[key], VendorPayout.objects.get(pk=key)
        sources, after = AFTER[verb]
        reason: dict[str, Any] = {} if verb == "pay" else {"reason": "test"}
        settle: Any = {"pay": mark_payout_paid, "bounce": bounce_payout, "cancel": cancel_payout}[verb]
        _, met = attempted(lambda: settle(payout=payout, actor=None, **reason))
        assert met == ("" if expected[4] in sources else "invalid_transition")
        self.counted(f"{verb} a payout", met)
        if met:
            return
        if after == "Paid":
            expected[4] = after
        else:
            self.back(expected, after)

    @rule(listing=LISTINGS, released=st.booleans())
    def hold_or_release_payouts(self, listing: int, released: bool) -> None:  # noqa: FBT001 - drawn by name
        """Hold a vendor's payouts, or release them."""
        if released != (listing in self.expected.held):
            return
        profile = VendorProfile.objects.get(store=self.listings[listing].store)
        deed = release_payouts if listing in self.expected.held else hold_payouts
        deed(profile=profile, reason="test", actor=self.staff)
        self.expected.held ^= {listing}
        self.counted(deed.__name__)

    def run(self, which: str, currency: str) -> str:
        """Return the name of a run: the one that is being prepared, one that is over, or a new one."""
        runs = [(run, status) for (run, code), status in self.expected.batches.items() if code == currency]
        wanted = {"waiting": [run for run, status in runs if status == "Prepared"], "old": [run for run, _ in runs], "new": []}[which]
        return wanted[-1] if wanted else str(len(runs))

    def back(self, payout: list[Any], status: str) -> None:
        """Give the amount of a payout back in the model."""
        _, listing, currency, amount, _ = payout
        payout[4] = status
        self.expected.earnings[listing, currency] += amount
