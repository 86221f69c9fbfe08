"""Disputes freeze the wallet's balance up to their amount, and suspend what it does not cover; won they restore it, lost they take it back by new entries."""

import itertools
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from catalog.models import ListingStats
from catalog.services.purchase_counts import count_purchases
from library.errors import LicenseSuspended
from library.models import Licence
from library.selectors import owned_licence
from library.services.links import issue_link, open_link, url_of
from marketplace.core.audit import history_of
from marketplace.core.errors import InvalidInput, InvalidTransition, Problem
from tests.callers import said
from tests.eager import drain
from tests.factories import UserFactory
from tests.shop import archive, bought, funded, on_sale
from wallet import bounds
from wallet.card_credit import card_credit
from wallet.errors import InsufficientBalance
from wallet.models import CardReversal, LedgerAccount, Order, ProviderEvent, ReversalPart, TopUp
from wallet.models.top_ups import EventKind
from wallet.providers import SimulatedProvider
from wallet.providers.base import Refund
from wallet.selectors import wallet_of, with_transfer_sums
from wallet.services.card_refunds import refund_top_up, send_refund
from wallet.services.refunds import refund_order

from .payees import account_of, earned, paid_payout, payee
from .refund_request_cases import vendor_of
from .top_up_cases import deliver_event, paid_top_up, requested_top_up
from .wallet_payout_cases import requested_payout

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("digested_books_agree")]

PRICE, WON, LOST = 49_900, EventKind.DISPUTE_WON, EventKind.DISPUTE_LOST
# Of a price of 499.00 without tax, of which the platform keeps a fifth.
SHARE = 39_920


def accounts(kind: str) -> int:
    return sum(account.transfers_minor for account in with_transfer_sums(LedgerAccount.objects.filter(kind=kind)))


def bought_with(top_up: TopUp, **fields: Any) -> Order:
    return bought(on_sale(**fields), top_up.user)


def test_dispute_freezes_the_credit_and_its_purchases_and_a_won_one_restores_both() -> None:
    top_up = paid_top_up(amount_minor=60_000)
    order = bought_with(top_up)
    assert deliver_event(top_up, EventKind.DISPUTED, reversal="dp_1").status == "Disputed"
    assert history_of(top_up)[0].data == {"dispute": "dp_1"}
    assert (wallet_of(top_up.user).balance_inr_minor, accounts("frozen"), accounts("withheld")) == (0, 10_100, SHARE)
    assert earned(vendor_of(order))["INR"] == 0
    assert Licence.objects.get().suspended_at is not None
    assert deliver_event(top_up, EventKind.DISPUTE_WON, reversal="dp_1").status == "Succeeded"
    ending = history_of(CardReversal.objects.get())[0]
    assert (ending.action, ending.data) == ("reversal.kept", {"currency": "INR", "amountMinor": 60_000})
    assert (wallet_of(top_up.user).balance_inr_minor, accounts("frozen"), accounts("withheld")) == (10_100, 0, 0)
    assert earned(vendor_of(order))["INR"] == SHARE
    assert Licence.objects.get().suspended_at is None
    deliver_event(top_up, EventKind.DISPUTED, reversal="dp_2", event_id="dp_2")
    assert Licence.objects.get().suspended_at is not None


def test_lost_dispute_takes_credit_then_the_whole_purchase_and_nothing_is_owed() -> None:
    top_up = paid_top_up(amount_minor=60_000)
    order = bought_with(top_up)
    deliver_event(top_up, EventKind.DISPUTED)
    assert deliver_event(top_up, EventKind.DISPUTE_LOST).status == "Returned"
    order.refresh_from_db()
    assert (order.status, Licence.objects.get().is_current) == ("ChargedBack", False)
    kinds = ("frozen", "withheld", "commission", "tax", "receivable", "funding")
    assert {kind: accounts(kind) for kind in kinds} == dict.fromkeys(kinds, 0)
    assert earned(vendor_of(order))["INR"] == 0
    # Nothing is left to dispute.
    deliver_event(top_up, EventKind.DISPUTED, reversal="another", event_id="another")
    assert (CardReversal.objects.count(), accounts("funding")) == (1, 0)
    # It can be bought again, with other money.
    paid_top_up(top_up.user)
    assert bought(order.listing, top_up.user).status == "Completed"
    count_purchases()
    assert ListingStats.objects.get(listing=order.listing).purchases == 1


def test_earnings_of_a_vendor_who_also_buys_are_not_taken_for_credit() -> None:
    vendor = vendor_of(bought(on_sale()))
    top_up = paid_top_up(vendor, 1_000)
    for spend_more in (lambda: requested_payout(vendor, 1_001), lambda: bought(on_sale(), vendor)):
        with pytest.raises(InsufficientBalance) as refusal:
            spend_more()
        assert refusal.value.members["balance"] == 10
    deliver_event(top_up, EventKind.DISPUTED)
    assert (wallet_of(vendor).balance_inr_minor, accounts("frozen"), earned(vendor)["INR"]) == (0, 1_000, SHARE)


def test_operator_bears_a_lost_dispute_whose_vendor_share_was_paid_out() -> None:
    vendor = payee()
    top_up = paid_top_up(amount_minor=PRICE)
    order = bought_with(top_up, store=vendor.store)
    paid_payout(account_of(vendor))
    deliver_event(top_up, EventKind.DISPUTED)
    deliver_event(top_up, EventKind.DISPUTE_LOST)
    assert (earned(vendor_of(order))["INR"], accounts("receivable")) == (0, -SHARE)


def test_purchases_are_attributed_newest_first_and_those_before_the_top_up_never() -> None:
    user = funded(inr=PRICE)
    before = bought(on_sale(), user)
    top_up = paid_top_up(user, 2 * PRICE)
    older, newer = bought_with(top_up, price_inr_minor=60_000), bought_with(top_up, price_inr_minor=39_800)
    funding = paid_top_up(user, 30_000)
    deliver_event(top_up, EventKind.DISPUTED)
    # 300.00 are frozen in the wallet; 698.00 are missing, which the two purchases make up.
    assert set(ReversalPart.objects.values_list("order", flat=True)) == {older.pk, newer.pk}
    deliver_event(funding, EventKind.DISPUTED)
    assert before.reversal_parts.count() == 0
    # Nothing is left that the other top-up could have bought.
    assert CardReversal.objects.get(top_up=funding).parts.count() == 0
    deliver_event(funding, EventKind.DISPUTE_LOST)
    assert accounts("receivable") == -30_000
    deliver_event(top_up, EventKind.DISPUTE_WON)
    # The credit that was frozen pays what is owed.
    assert (wallet_of(user).balance_inr_minor, accounts("receivable")) == (0, 0)


@pytest.mark.parametrize(("reversed_minor", "suspended"), [(PRICE // 2 - 1, False), (PRICE // 2, True)])
def test_purchase_behind_a_dispute_is_not_refunded_meanwhile_and_suspended_if_half_of_its_price_is_disputed(
    reversed_minor: int,
    suspended: bool,  # noqa: FBT001 - a case of the table
) -> None:
    top_up = paid_top_up(amount_minor=PRICE)
    order = bought_with(top_up)
    deliver_event(top_up, EventKind.DISPUTED, amount_minor=reversed_minor)
    assert (Licence.objects.get().suspended_at is not None) is suspended
    assert accounts("withheld") == (SHARE if suspended else 0)
    with pytest.raises(InvalidTransition):
        refund_order(order=order, reason="test", actor=None)
    deliver_event(top_up, EventKind.DISPUTE_WON)
    assert Licence.objects.get().suspended_at is None


# In the second case the last dispute takes less than the tax.
@pytest.mark.parametrize("lost", [(PRICE // 2,), (PRICE // 2 - 1, 1)])
def test_tax_of_a_purchase_that_ends_is_returned_whole_as_its_credit_note_says(lost: tuple[int, ...]) -> None:
    top_up = paid_top_up(amount_minor=PRICE)
    order = bought_with(top_up, tax_rate_bp=1800)
    for part, kind in itertools.product(lost, (EventKind.DISPUTED, LOST)):
        deliver_event(top_up, kind, amount_minor=part, reversal=f"of {part}", event_id=f"{kind} of {part}")
    order.refresh_from_db()
    assert (order.status, accounts("tax"), accounts("receivable")) == ("ChargedBack", 0, -sum(lost[:-1]))
    # The rest of what is missing is taken from the vendor's share; tax that is not missing is the marketplace's.
    rest = lost[-1] - order.tax_minor
    assert earned(vendor_of(order))["INR"] == order.vendor_share_minor - max(rest, 0)
    assert accounts("commission") == order.commission_minor + max(-rest, 0)


def test_small_disputes_end_the_purchase_once_half_of_its_price_is_lost_and_until_then_are_owed() -> None:
    user = UserFactory()
    top_ups = [paid_top_up(user, PRICE // 2), paid_top_up(user, PRICE // 2)]
    order, part = bought_with(top_ups[1]), PRICE // 4
    for index, top_up in enumerate(top_ups):
        deliver_event(top_up, EventKind.DISPUTED, amount_minor=part, reversal=f"case-{index}", event_id=f"opened-{index}")
        deliver_event(top_up, EventKind.DISPUTE_LOST, amount_minor=part, reversal=f"case-{index}", event_id=f"lost-{index}")
        order.refresh_from_db()
        assert (order.status, Licence.objects.get().is_current) == (("ChargedBack", False) if index else ("Completed", True))
        if not index:
            assert (earned(vendor_of(order))["INR"], accounts("receivable")) == (SHARE, -part)


@pytest.mark.parametrize(
    ("ends", "last_first", "status"),
    [
        ((WON, WON), True, "Completed"),
        *(((WON, LOST), last_first, "Completed") for last_first in (False, True)),
        *(((LOST, WON), last_first, "Completed") for last_first in (False, True)),
        *(((LOST, LOST), last_first, "ChargedBack") for last_first in (False, True)),
    ],
)
def test_purchase_with_two_disputes_is_suspended_by_what_is_lost_or_disputed_and_ends_by_what_is_lost(
    ends: tuple[EventKind, EventKind],
    last_first: bool,  # noqa: FBT001 - a case of the table
    status: str,
) -> None:
    user = UserFactory()
    top_ups = [paid_top_up(user, PRICE // 2), paid_top_up(user, PRICE // 2)]
    order, parts = bought_with(top_ups[1]), (PRICE * 2 // 5, PRICE // 5)
    for index, top_up in enumerate(top_ups):
        deliver_event(top_up, EventKind.DISPUTED, amount_minor=parts[index], reversal=f"case-{index}", event_id=f"opened-{index}")
    assert Licence.objects.get().suspended_at is not None
    first, second = (1, 0) if last_first else (0, 1)
    deliver_event(top_ups[first], ends[first], amount_minor=parts[first], reversal=f"case-{first}", event_id="first-ended")
    # The second one suspended it.
    still = not last_first or ends[first] == LOST
    assert (Licence.objects.get().suspended_at is not None, accounts("withheld")) == (still, SHARE if still else 0)
    assert earned(vendor_of(order))["INR"] == (0 if still else SHARE)
    deliver_event(top_ups[second], ends[second], amount_minor=parts[second], reversal=f"case-{second}", event_id="second-ended")
    order.refresh_from_db()
    licence, stands = Licence.objects.get(), status == "Completed"
    assert (order.status, licence.is_current, accounts("withheld")) == (status, stands, 0)
    if stands:
        lost = sum(part for part, end in zip(parts, ends, strict=True) if end == LOST)
        assert (licence.suspended_at, accounts("receivable"), earned(vendor_of(order))["INR"]) == (None, -lost, SHARE)


def test_purchase_that_a_dispute_suspended_is_not_attributed_to_the_next_one() -> None:
    user = UserFactory()
    suspending, later = (paid_top_up(user, PRICE // 2) for _ in range(2))
    bought_with(later)
    for top_up in (suspending, later):
        deliver_event(top_up, EventKind.DISPUTED, event_id=f"disputed {top_up.pk}", reversal=f"case {top_up.pk}")
    assert ReversalPart.objects.get().reversal.top_up == suspending


def test_dispute_reaches_an_older_purchase_only_beyond_the_price_of_the_newest() -> None:
    top_up, other = paid_top_up(amount_minor=PRICE + 2), funded(inr=4 * PRICE)
    _, older, newer = (bought_with(top_up, price_inr_minor=price) for price in (1, 1, PRICE))
    # Another wallet has later entries.
    for _ in range(4):
        bought(on_sale(), other)
    deliver_event(top_up, EventKind.DISPUTED, amount_minor=PRICE + 1)
    rows = ReversalPart.objects.values_list("order", "reversed_minor", "suspended")
    assert set(rows) == {(newer.pk, PRICE, True), (older.pk, 1, True)}


@pytest.mark.parametrize(("end", "expected"), [(WON, ("Succeeded", 50_000)), (LOST, ("Returned", 0))])
def test_events_of_a_dispute_in_any_order_and_one_of_them_twice_have_the_same_result(end: EventKind, expected: tuple[str, int]) -> None:
    for order in itertools.permutations((EventKind.SUCCEEDED, EventKind.DISPUTED, end)):
        top_up = requested_top_up()
        for kind in (*order, order[0]):
            deliver_event(top_up, kind)
        assert (top_up.status, wallet_of(top_up.user).balance_inr_minor) == expected, order
    assert not ProviderEvent.objects.filter(processed_at=None).exists()


def test_disputes_of_one_top_up_that_overlap_are_all_applied_once_the_first_ends_however_late() -> None:
    top_up = paid_top_up(amount_minor=50_000)
    names, part = ("first", "second", "third"), {"amount_minor": 10_000}
    # Another provider has a payment of the same id.
    told = {"kind": "disputed", "payment_reference": top_up.payment_reference, "currency": "INR", "occurred_at": timezone.now(), **part}
    ProviderEvent.objects.create(provider="stripe", event_id="of stripe", **told)
    for name in names:
        deliver_event(top_up, EventKind.DISPUTED, **part, reversal=name, event_id=name)
    assert CardReversal.objects.count() == 1
    # They wait for as long as it takes; what belongs to none of our payments does not.
    deliver_event(requested_top_up(), EventKind.DISPUTED, event_id="of another")
    days = timedelta(days=bounds.PROVIDER_EVENT_DAYS)
    for age, waiting in ((days - timedelta(hours=1), {"second", "third", "of another", "of stripe"}), (days, {"second", "third"})):
        with patch("django.utils.timezone.now", return_value=timezone.now() + age):
            said("purge", "wallet")
        assert set(ProviderEvent.objects.filter(processed_at=None).values_list("event_id", flat=True)) == waiting
    # The last one ends before the second.
    for name in ("third", "second", "first"):
        deliver_event(top_up, EventKind.DISPUTE_LOST, **part, reversal=name, event_id=f"{name} lost")
    assert not ProviderEvent.objects.filter(processed_at=None).exists()
    assert CardReversal.objects.filter(status="Returned").count() == len(names)
    top_up.refresh_from_db()
    assert (top_up.status, wallet_of(top_up.user).balance_inr_minor) == ("Succeeded", 20_000)


def test_dispute_of_more_than_was_paid_freezes_what_was_paid() -> None:
    user = funded(inr=500_000)
    top_up = paid_top_up(user)
    deliver_event(top_up, EventKind.DISPUTED, amount_minor=9_999_999)
    assert wallet_of(user).balance_inr_minor == 500_000
    deliver_event(top_up, EventKind.DISPUTED, amount_minor=0, reversal="another", event_id="another")
    assert CardReversal.objects.count() == 1
    # One in another currency is reconciled by itself.
    deliver_event(paid_top_up(user, currency="USD"), EventKind.DISPUTED)


def test_part_that_a_lost_dispute_left_can_be_disputed_and_refunded() -> None:
    top_up = paid_top_up(amount_minor=50_000)
    for amount_minor, case in ((20_000, "first"), (10_000, "second")):
        deliver_event(top_up, EventKind.DISPUTED, amount_minor=amount_minor, reversal=case, event_id=case)
        with pytest.raises(InvalidTransition):
            refund_top_up(top_up=top_up, reason="test", actor=UserFactory())
        lost = deliver_event(top_up, EventKind.DISPUTE_LOST, amount_minor=amount_minor, reversal=case, event_id=f"{case} lost")
        assert lost.status == "Succeeded"
    refund_top_up(top_up=top_up, reason="test", actor=UserFactory())
    drain()
    top_up.refresh_from_db()
    assert (top_up.status, wallet_of(top_up.user).balance_inr_minor, accounts("funding")) == ("Returned", 0, 0)
    refund = CardReversal.objects.get(kind="refund")
    assert refund.reference == f"refund-{refund.pk}"


def test_dispute_or_refund_in_another_currency_is_refused() -> None:
    top_up = paid_top_up()
    for kind in (EventKind.DISPUTED, EventKind.DISPUTE_LOST, EventKind.REFUNDED):
        deliver_event(top_up, kind, currency="USD")
        assert ProviderEvent.objects.get(kind=kind).outcome.startswith("refused")
    assert (top_up.status, wallet_of(top_up.user).balance_inr_minor, CardReversal.objects.count()) == ("Succeeded", 50_000, 0)


@pytest.mark.parametrize(("end", "other"), [(WON, LOST), (LOST, WON)])
def test_second_and_different_outcome_of_a_dispute_is_refused(end: EventKind, other: EventKind) -> None:
    top_up = paid_top_up()
    for kind in (EventKind.DISPUTED, end, other):
        deliver_event(top_up, kind)
    assert ProviderEvent.objects.get(kind=other).outcome.startswith("refused")
    deliver_event(top_up, end, event_id="again")
    assert ProviderEvent.objects.get(event_id="again").outcome.startswith("ignored")


def test_suspended_licence_downloads_nothing_until_the_dispute_is_won_and_a_valid_one_is_used_before_a_wider() -> None:
    user, listing = funded(inr=PRICE), on_sale(archive())
    bought(listing, user)
    top_up = paid_top_up(user, 200_000)
    bought(listing, user, license_slug="commercial")
    licence = owned_licence(user, listing.slug)
    assert licence.tier.slug == "commercial"
    link = url_of(issue_link(licence=licence)).rsplit("/", 1)[1]
    deliver_event(top_up, EventKind.DISPUTED)
    assert owned_licence(user, listing.slug).tier.slug == "personal"
    licence.refresh_from_db()
    with pytest.raises(LicenseSuspended):
        open_link(token=link)
    with pytest.raises(LicenseSuspended):
        issue_link(licence=licence)
    deliver_event(top_up, EventKind.DISPUTE_WON)
    assert open_link(token=link).licence == licence


def test_credit_of_a_purchase_that_was_refunded_after_a_won_dispute_is_frozen_by_the_next() -> None:
    top_up = paid_top_up(amount_minor=2 * PRICE)
    kept, order = bought_with(top_up), bought_with(top_up)
    deliver_event(top_up, EventKind.DISPUTED)
    deliver_event(top_up, EventKind.DISPUTE_WON)
    refund_order(order=order, reason="test", actor=None)
    deliver_event(top_up, EventKind.DISPUTED, reversal="second", event_id="second")
    assert (wallet_of(top_up.user).balance_inr_minor, ReversalPart.objects.get(reversal__status="Open").order) == (0, kept)


def test_card_credit_returns_to_its_card_and_never_to_a_bank() -> None:
    user = funded(inr=10_000)
    top_up = paid_top_up(user)
    with pytest.raises(Problem) as excinfo:
        requested_payout(user, 10_001)
    assert (excinfo.value.code, excinfo.value.members["available"]) == ("returns_to_card", 100.0)
    assert requested_payout(user).amount_minor == 10_000
    refund_top_up(top_up=top_up, reason="test", actor=UserFactory())
    drain()
    top_up.refresh_from_db()
    assert (top_up.status, wallet_of(user).balance_inr_minor, accounts("funding")) == ("Returned", 0, -10_000)


def test_purchase_and_its_refund_do_not_turn_card_credit_into_other_credit() -> None:
    user = funded(inr=10_000)
    paid_top_up(user)
    order = bought(on_sale(), user)
    wallet = LedgerAccount.objects.get(kind="wallet", owner=user)
    # What was not paid by card is spent first.
    assert card_credit(wallet) == 60_000 - PRICE
    refund_order(order=order, reason="test", actor=None)
    drain()
    assert card_credit(wallet) == 50_000
    with pytest.raises(Problem):
        requested_payout(user, 10_001)


def test_refund_that_the_provider_sends_later_settles_by_its_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SimulatedProvider, "refund", lambda *_, **__: Refund("later", done=False))
    top_up, staff = paid_top_up(), UserFactory()
    refund_top_up(top_up=top_up, reason="test", actor=staff)
    drain()
    with pytest.raises(InvalidTransition):
        refund_top_up(top_up=top_up, reason="test", actor=staff)
    # A dispute waits for the refund's end.
    assert deliver_event(top_up, EventKind.DISPUTED).status == "Succeeded"
    assert (wallet_of(top_up.user).balance_inr_minor, accounts("frozen")) == (0, 50_000)
    deliver_event(top_up, EventKind.REFUND_FAILED, reversal="later")
    assert (top_up.status, wallet_of(top_up.user).balance_inr_minor) == ("Disputed", 0)
    assert list(CardReversal.objects.order_by("id").values_list("kind", "status")) == [("refund", "Kept"), ("dispute", "Open")]
    # The job asks no second time.
    monkeypatch.setattr(SimulatedProvider, "refund", None)
    send_refund.call(str(CardReversal.objects.get(kind="refund").pk))


def test_refund_that_the_provider_refuses_returns_to_the_wallet_and_a_dispute_that_waited_is_applied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SimulatedProvider, "refund", lambda *_, **__: None)
    top_up, other = paid_top_up(), paid_top_up()
    for each in (top_up, other):
        refund_top_up(top_up=each, reason="test", actor=UserFactory())
    # The bank's dispute is told after staff have asked for the refund, and before the job has run.
    deliver_event(top_up, EventKind.DISPUTED)
    drain()
    for each, expected in ((other, ("Succeeded", 50_000)), (top_up, ("Disputed", 0))):
        each.refresh_from_db()
        assert (each.status, wallet_of(each.user).balance_inr_minor) == expected
    assert accounts("frozen") == 50_000


def test_refund_is_not_taken_for_a_dispute_without_an_id_nor_for_a_refund_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    top_up = paid_top_up()
    deliver_event(top_up, EventKind.DISPUTED, reversal="")
    deliver_event(top_up, EventKind.REFUNDED, reversal="by-hand")
    assert CardReversal.objects.get().reference == ""
    other = paid_top_up()
    monkeypatch.setattr(SimulatedProvider, "refund", lambda *_, **__: None)
    refund_top_up(top_up=other, reason="test", actor=UserFactory())
    drain()
    deliver_event(other, EventKind.REFUNDED, reversal="by-hand")
    assert set(other.reversals.values_list("reference", "status")) == {("", "Kept"), ("by-hand", "Returned")}
    monkeypatch.setattr(SimulatedProvider, "refund", lambda *_, **__: Refund("ours", done=False))
    third = paid_top_up()
    refund_top_up(top_up=third, reason="test", actor=UserFactory())
    # Neither one of another amount before ours has its id, nor one of the same amount afterwards.
    deliver_event(third, EventKind.REFUNDED, reversal="of another amount", amount_minor=1)
    drain()
    deliver_event(third, EventKind.REFUNDED, reversal="of the same amount", event_id="later")
    assert set(third.reversals.values_list("reference", "status")) == {("ours", "Open")}
    # But one of the same amount before.
    fourth = paid_top_up()
    refund_top_up(top_up=fourth, reason="test", actor=UserFactory())
    deliver_event(fourth, EventKind.REFUNDED, reversal="ours already")
    assert set(fourth.reversals.values_list("reference", "status")) == {("ours already", "Returned")}


def test_refund_that_was_made_at_the_provider_is_taken_from_the_wallet() -> None:
    top_up = paid_top_up()
    deliver_event(top_up, EventKind.REFUNDED, amount_minor=20_000, reversal="by-hand")
    assert (top_up.status, wallet_of(top_up.user).balance_inr_minor) == ("Succeeded", 30_000)
    deliver_event(top_up, EventKind.REFUNDED, amount_minor=30_000, reversal="the-rest", event_id="the-rest")
    assert (top_up.status, wallet_of(top_up.user).balance_inr_minor) == ("Returned", 0)


def test_refund_of_a_spent_or_unpaid_top_up_or_without_a_reason_is_refused() -> None:
    top_up, staff = paid_top_up(amount_minor=PRICE), UserFactory()
    with pytest.raises(InvalidInput):
        refund_top_up(top_up=top_up, reason=" ", actor=staff)
    bought_with(top_up)
    for refused in (top_up, requested_top_up()):
        with pytest.raises(InvalidTransition):
            refund_top_up(top_up=refused, reason="test", actor=staff)


def test_ended_dispute_and_its_record_of_an_order_are_never_changed_or_deleted(subtests: pytest.Subtests) -> None:
    top_up = paid_top_up()
    bought_with(top_up)
    deliver_event(top_up, EventKind.DISPUTED)
    deliver_event(top_up, EventKind.DISPUTE_LOST)
    open_again = {"status": "Open", "closing_journal": None, "decided_at": None}
    refused: tuple[tuple[Any, tuple[dict[str, Any], ...]], ...] = (
        (CardReversal, ({"amount_minor": 1}, {"freeze_journal": None}, {"kind": "refund"}, open_again)),
        (
            ReversalPart,
            ({"withheld_minor": 1}, {"suspended": False}, {"order": bought(on_sale())}, {"taken_minor": 0}, {"ended": False}),
        ),
    )
    for model, changes in refused:
        for change in changes:
            with subtests.test(str(change)), pytest.raises(IntegrityError), transaction.atomic():
                model.objects.update(**change)
        with subtests.test("deleted"), pytest.raises(IntegrityError), transaction.atomic():
            model.objects.get().delete()


def test_second_open_dispute_of_a_top_up_is_refused_by_the_database() -> None:
    top_up = paid_top_up()
    deliver_event(top_up, EventKind.DISPUTED)
    with pytest.raises(IntegrityError, match=r"cardreversal_one_open|top_up_id"), transaction.atomic():
        CardReversal.objects.create(top_up=top_up, kind="dispute", reference="x", amount_minor=1)
