"""Refunds: a mirror image, once, with everything that hangs on the purchase."""

from unittest.mock import patch

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from catalog.models import ListingStats
from catalog.services.purchase_counts import count_purchases
from library.models import Licence
from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.errors import InvalidInput, InvalidTransition, SelfReview
from marketplace.core.models import AuditEntry
from tests.eager import drain
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet import bounds
from wallet.card_credit import card_part_of
from wallet.models import CardReversal, Journal, LedgerAccount, Order, TopUp, Transfer
from wallet.models.top_ups import EventKind
from wallet.providers import SimulatedProvider
from wallet.providers.base import Refund
from wallet.reconciliation import differences
from wallet.selectors import wallet_of
from wallet.services.card_refunds import refund_top_up
from wallet.services.digests import digest_ledger
from wallet.services.refunds import pay_unclaimed, refund_order
from wallet.unclaimed import unclaimed_minor, unclaimed_refunds, unclaimed_sums

from .top_up_cases import deliver_event, paid_top_up
from .wallet_payout_cases import refund_to_deleted_account

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("books_agree")]


def test_refund_without_a_reason_or_by_the_buyer_is_refused() -> None:
    order = bought(on_sale())
    with pytest.raises(InvalidInput):
        refund_order(order=order, reason="", actor=UserFactory())
    with pytest.raises(SelfReview):
        refund_order(order=order, reason="I changed my mind.", actor=order.buyer)
    assert Order.objects.get().status == "Completed"


def test_refund_reverses_every_transfer_and_revokes_the_licence_once() -> None:
    user, admin, listing = funded(inr=100_000), UserFactory(), on_sale(tax_rate_bp=1800)
    order = bought(listing, user)
    refund_order(order=order, reason="broken", actor=admin)
    with pytest.raises(InvalidTransition):
        refund_order(order=order, reason="again", actor=admin)
    sale, refund = Journal.objects.filter(order=order).order_by("id")
    assert (refund.undoes, refund.actor, refund.reason) == (sale, admin, "broken")
    forth = set(Transfer.objects.filter(journal=sale).values_list("debit", "credit", "amount_minor", "currency"))
    back = set(Transfer.objects.filter(journal=refund).values_list("credit", "debit", "amount_minor", "currency"))
    assert forth == back
    assert len(forth) == 3
    assert wallet_of(user).balance_inr_minor == 100_000
    assert Licence.objects.get().revoked_at is not None
    count_purchases()
    assert ListingStats.objects.get(listing=listing).purchases == 0
    for action in ("order.refund", "licence.revoke"):
        assert AuditEntry.objects.filter(action=action, actor=admin, reason="broken").count() == 1


def test_refund_of_a_free_order_takes_the_licence_back() -> None:
    order = bought(on_sale(price_inr_minor=0))
    refund_order(order=order, reason="mistake", actor=None)
    assert Licence.objects.get().revoked_at is not None
    assert not Journal.objects.filter(order=order).exists()


def test_only_refunds_to_deleted_accounts_are_paid_by_hand() -> None:
    staff = UserFactory()
    stands, refunded = refund_to_deleted_account(), bought(on_sale())
    refund_order(order=refunded, reason="broken", actor=staff)
    free = refund_to_deleted_account(price_inr_minor=0)
    refund_order(order=free, reason="broken", actor=staff)
    for order in (stands, refunded, free):
        with pytest.raises(InvalidTransition):
            pay_unclaimed(order=order, reference="T1", reason="By the receipt.", actor=staff)
    refund_order(order=stands, reason="broken", actor=staff)
    for reference, reason in (("", "By the receipt."), ("x" * (bounds.PAYMENT_REFERENCE_CHARS + 1), "By the receipt."), ("T1", " ")):
        with pytest.raises(InvalidInput):
            pay_unclaimed(order=stands, reference=reference, reason=reason, actor=staff)
    assert list(unclaimed_refunds()) == [stands]


def test_refund_to_a_deleted_account_waits_to_be_claimed_and_is_paid_once() -> None:
    order, staff = refund_to_deleted_account(), UserFactory()
    refund_order(order=order, reason="broken", actor=staff)
    assert wallet_of(order.buyer).balance_inr_minor == 0
    refund = Journal.objects.get(order=order, kind="refund")
    assert (refund.wallet_id, refund.vendor_net_minor) == (None, -order.vendor_share_minor)
    assert not refund.transfers.exclude(credit__kind="unclaimed", credit__owner__isnull=True).exists()
    assert not Licence.objects.get(order_id=order.pk).is_current
    list(digest_ledger(until=refund.at))
    unclaimed = LedgerAccount.objects.get(kind="unclaimed")
    assert (unclaimed.balance_minor, list(unclaimed_refunds()), list(differences())) == (49_900, [order], [])
    pay_unclaimed(order=order, reference="UTR 1", reason="By the receipt.", actor=staff)
    with pytest.raises(InvalidTransition):
        pay_unclaimed(order=order, reference="UTR 2", reason="By the receipt.", actor=staff)
    list(digest_ledger(until=Journal.objects.get(order=order, kind="refund_payout").at))
    unclaimed.refresh_from_db()
    assert (unclaimed.balance_minor, list(unclaimed_refunds()), list(differences())) == (0, [], [])
    entry = AuditEntry.objects.get(action="order.pay_unclaimed")
    assert (entry.actor, entry.reason, entry.data["reference"]) == (staff, "By the receipt.", "UTR 1")


def test_second_payment_of_an_unclaimed_refund_is_refused_by_the_database() -> None:
    order, staff = refund_to_deleted_account(), UserFactory()
    refund_order(order=order, reason="broken", actor=staff)
    pay_unclaimed(order=order, reference="UTR 1", reason="By the receipt.", actor=staff)
    with pytest.raises(IntegrityError), transaction.atomic():
        Journal.objects.create(kind="refund_payout", order=order, reason="twice")


def left_by(buyer: User, price_inr_minor: int = 49_900) -> Order:
    order = bought(on_sale(price_inr_minor=price_inr_minor, tax_rate_bp=1800), buyer)
    delete_account(user=buyer, reason="test", actor=None)
    return order


def test_what_was_paid_by_card_is_found_in_as_many_queries_for_many_top_ups_as_for_one() -> None:
    asked = []
    for amounts in ((9_000,), (2_000, 3_000, 4_000)):
        buyer = funded(inr=40_900)
        for amount in amounts:
            paid_top_up(buyer, amount)
        sale = Journal.objects.get(order=bought(on_sale(), buyer), kind="sale")
        with CaptureQueriesContext(connection) as queries:
            assert card_part_of(sale) == 9_000
        asked.append(len(queries))
    assert asked[0] == asked[1]


def test_refund_of_what_a_deleted_account_paid_by_card_returns_to_the_card_and_only_the_rest_waits() -> None:
    buyer = funded(inr=9_900)
    first, second = paid_top_up(buyer, 10_000), paid_top_up(buyer, 30_000)
    order = left_by(buyer)
    refund_order(order=order, reason="broken", actor=UserFactory())
    drain()
    assert {(reversal.top_up_id, reversal.amount_minor, reversal.status) for reversal in CardReversal.objects.all()} == {
        (first.pk, 10_000, "Returned"),
        (second.pk, 30_000, "Returned"),
    }
    assert (unclaimed_minor(order), unclaimed_sums(), wallet_of(buyer).balance_inr_minor) == (9_900, {"INR": 9_900}, 0)
    pay_unclaimed(order=order, reference="UTR 1", reason="By the receipt.", actor=UserFactory())
    assert AuditEntry.objects.get(action="order.pay_unclaimed").data["amountMinor"] == 9_900
    assert unclaimed_minor(order) == 0


def test_refund_of_a_deleted_account_during_another_refund_or_dispute_of_the_card_returns_to_the_card_after_it(
    subtests: pytest.Subtests,
) -> None:
    for begun, ended in ((None, EventKind.REFUNDED), (EventKind.DISPUTED, EventKind.DISPUTE_LOST)):
        with subtests.test(ended.value):
            buyer = UserFactory()
            top_up = paid_top_up(buyer, 80_000)
            order, last = bought(on_sale(price_inr_minor=30_000), buyer), left_by(buyer, price_inr_minor=50_000)
            if begun is None:
                with patch.object(SimulatedProvider, "refund", return_value=Refund(f"refund-{top_up.pk}", done=False)):
                    refund_order(order=last, reason="broken", actor=UserFactory())
                    drain()
            else:
                deliver_event(top_up, begun, amount_minor=50_000)
            refund_order(order=order, reason="broken", actor=UserFactory())
            drain()
            assert wallet_of(buyer).balance_inr_minor == 30_000
            reference = CardReversal.objects.get(top_up=top_up).reference
            deliver_event(top_up, ended, event_id=f"end-{top_up.pk}", reversal=reference, amount_minor=50_000)
            drain()
            top_up.refresh_from_db()
            assert (wallet_of(buyer).balance_inr_minor, top_up.status, list(differences())) == (0, "Returned", [])


def test_card_that_refuses_the_refund_of_a_deleted_account_is_tried_again_by_staff() -> None:
    order = left_by(paid_top_up(UserFactory(), 49_900).user)
    with patch.object(SimulatedProvider, "refund", return_value=None):
        refund_order(order=order, reason="broken", actor=UserFactory())
        drain()
    assert (wallet_of(order.buyer).balance_inr_minor, list(unclaimed_refunds())) == (49_900, [])
    refund_top_up(top_up=TopUp.objects.get(), reason="again", actor=UserFactory())
    drain()
    assert (TopUp.objects.get().status, wallet_of(order.buyer).balance_inr_minor) == ("Returned", 0)
