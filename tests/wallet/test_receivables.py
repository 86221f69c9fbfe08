"""What a buyer owes after a lost dispute is taken from later credit, or written off by staff."""

import pytest

from marketplace.accounts.models import User
from marketplace.accounts.services import delete_account
from marketplace.core.errors import InvalidTransition, Problem
from marketplace.core.models import AuditEntry
from tests.eager import drain, sent_mails
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet.admin.effects import unclaimed_refund_effects
from wallet.card_credit import card_credit, payable_of
from wallet.models import Journal, LedgerAccount, Order, TopUp
from wallet.models.top_ups import EventKind
from wallet.selectors import owed_by, wallet_of
from wallet.services.card_refunds import refund_top_up
from wallet.services.funding import credit_wallet
from wallet.services.receivables import write_off
from wallet.services.refunds import refund_order
from wallet.services.wallet_payouts import pay_wallet_payout
from wallet.unclaimed import unclaimed_minor

from .top_up_cases import deliver_event, indebted, paid_top_up, requested_top_up
from .wallet_payout_cases import requested_payout

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("digested_books_agree")]

PRICE, PART = 49_900, 10_000


def added(user: User, amount_minor: int) -> None:
    credit_wallet(user=user, currency="INR", amount_minor=amount_minor, reason="test", actor=None)


def lost_after_deletion(user: User | None = None, *, refunded: Order | None = None) -> tuple[TopUp, Order]:
    """Return a top-up of which 100.00 INR were disputed and lost after its owner deleted the account, and the order that it paid."""
    top_up = paid_top_up(user, PRICE)
    order = bought(on_sale(), top_up.user)
    delete_account(user=top_up.user, reason="test", actor=None)
    if refunded is not None:
        refund_order(order=refunded, reason="test", actor=None)
    for kind in (EventKind.DISPUTED, EventKind.DISPUTE_LOST):
        deliver_event(top_up, kind, amount_minor=PART)
    return top_up, order


def test_top_up_pays_what_is_owed_first_and_its_receipt_says_so() -> None:
    user = indebted()
    deliver_event(requested_top_up(user), EventKind.FAILED)
    paid_top_up(user, 25_000, "USD")
    assert (wallet_of(user).balance_usd_minor, owed_by(user.pk)) == (25_000, {"INR": PART})
    top_up = paid_top_up(user, 25_000)
    assert (wallet_of(user).balance_inr_minor, owed_by(user.pk)) == (15_000, {})
    receipt = next(message for message in sent_mails() if str(top_up.pk) in message.body)
    assert "₹100.00" in receipt.body
    assert "₹150.00" in receipt.body


def test_credit_that_does_not_suffice_pays_a_part() -> None:
    user = indebted()
    added(user, 4_000)
    assert (wallet_of(user).balance_inr_minor, owed_by(user.pk)) == (0, {"INR": 6_000})


def test_debt_is_paid_at_once_from_credit_that_came_during_the_dispute() -> None:
    top_up = paid_top_up(amount_minor=PRICE)
    bought(on_sale(), top_up.user)
    deliver_event(top_up, EventKind.DISPUTED, amount_minor=PART)
    added(top_up.user, 25_000)
    deliver_event(top_up, EventKind.DISPUTE_LOST, amount_minor=PART)
    assert (wallet_of(top_up.user).balance_inr_minor, owed_by(top_up.user_id)) == (15_000, {})


def test_refund_of_a_purchase_pays_what_is_owed_and_the_mail_says_so() -> None:
    user = indebted()
    refund_order(order=user.orders.get(), reason="test", actor=None)
    assert (wallet_of(user).balance_inr_minor, owed_by(user.pk)) == (PRICE - PART, {})
    (message,) = [message for message in sent_mails() if message.to == [user.email] and "refunded" in message.subject]
    assert "₹100.00" in message.body


def test_debt_is_paid_from_other_credit_before_that_of_a_card() -> None:
    user = funded(inr=0)
    top_up = paid_top_up(user, PRICE)
    bought(on_sale(), user)
    added(user, 5_000)
    requested_payout(user)
    for kind in (EventKind.DISPUTED, EventKind.DISPUTE_LOST):
        deliver_event(top_up, kind, amount_minor=PART)
    later = paid_top_up(user, 20_000)
    assert card_credit(LedgerAccount.objects.get(kind="wallet", owner=user, currency="INR")) == 10_000
    # What it paid of the debt does not return to its card.
    assert refund_top_up(top_up=later, reason="test", actor=UserFactory()).reversals.get().amount_minor == 10_000


def test_debt_paid_by_card_does_not_reduce_later_payouts() -> None:
    user = indebted()
    paid_top_up(user, 25_000)
    added(user, 30_000)
    wallet = LedgerAccount.objects.get(kind="wallet", owner=user, currency="INR")
    for _ in range(2):
        payout = requested_payout(user, 10_000)
        assert card_credit(wallet) == 15_000
        pay_wallet_payout(wallet_payout=payout, reference="test", actor=UserFactory())
    assert requested_payout(user).amount_minor == 10_000


def test_refund_after_a_debt_was_paid_by_bank_can_be_withdrawn_as_far_as_it_cannot_return_to_the_card() -> None:
    user = indebted()
    added(user, PART)
    refund_order(order=user.orders.get(), reason="test", actor=None)
    assert payable_of(user) == {"INR": (PRICE, PART)}
    pay_wallet_payout(wallet_payout=requested_payout(user), reference="test", actor=UserFactory())
    refund_top_up(top_up=user.top_ups.get(), reason="test", actor=UserFactory())
    drain()
    delete_account(user=user, reason="test", actor=None)
    assert payable_of(user) == {"INR": (0, 0)}


def test_refund_after_a_debt_was_written_off_cannot_be_withdrawn_as_nothing_came_in_for_it() -> None:
    user, staff = indebted(), UserFactory()
    write_off(user=user, currency="INR", reason="test", actor=staff)
    refund_order(order=user.orders.get(), reason="test", actor=None)
    assert payable_of(user) == {"INR": (PRICE, 0)}
    # As much as has not returned of the top-up returns to its card, and the rest can be spent.
    refund_top_up(top_up=user.top_ups.get(), reason="test", actor=staff)
    drain()
    assert (user.top_ups.get().status, payable_of(user)) == ("Returned", {"INR": (PART, 0)})


def test_lost_dispute_of_a_top_up_that_paid_a_debt_restores_the_debt() -> None:
    user = indebted()
    later = paid_top_up(user, PART)
    assert owed_by(user.pk) == {}
    for kind in (EventKind.DISPUTED, EventKind.DISPUTE_LOST):
        deliver_event(later, kind, reversal="later", event_id=f"later-{kind}")
    assert owed_by(user.pk) == {"INR": PART}


def test_debt_that_is_written_off_is_not_collected() -> None:
    user, staff = indebted(), UserFactory()
    write_off(user=user, currency="INR", reason="too small to collect", actor=staff)
    journal = Journal.objects.get(kind="write_off")
    assert (journal.reason, journal.actor) == ("too small to collect", staff)
    entry = AuditEntry.objects.get(action="receivable.write_off")
    assert (entry.actor, entry.reason, entry.data["amountMinor"]) == (staff, "too small to collect", PART)
    paid_top_up(user, 25_000)
    assert (wallet_of(user).balance_inr_minor, owed_by(user.pk)) == (25_000, {})
    with pytest.raises(InvalidTransition):
        write_off(user=user, currency="INR", reason="again", actor=staff)


def test_write_off_without_a_reason_or_by_the_debtor_is_refused() -> None:
    user = indebted()
    for reason, actor, code in ((" ", UserFactory(), "invalid_input"), ("test", user, "self_review")):
        with pytest.raises(Problem) as excinfo:
            write_off(user=user, currency="INR", reason=reason, actor=actor)
        assert excinfo.value.code == code
    with pytest.raises(Problem):
        write_off(user=user, currency="USD", reason="test", actor=UserFactory())
    assert not Journal.objects.filter(kind="write_off").exists()


def test_account_with_a_debt_is_deleted_only_after_it_is_paid_or_written_off() -> None:
    user = indebted()
    with pytest.raises(Problem):
        delete_account(user=user, reason="test", actor=None)
    write_off(user=user, currency="INR", reason="test", actor=UserFactory())
    delete_account(user=user, reason="test", actor=None)
    user.refresh_from_db()
    assert user.deleted


def test_refund_to_a_deleted_account_pays_its_debt_from_what_cannot_return_to_the_card_and_all_else_returns_there() -> None:
    top_up, order = lost_after_deletion()
    assert owed_by(top_up.user_id) == {"INR": PART}
    refund_order(order=order, reason="test", actor=None)
    assert owed_by(top_up.user_id) == {}
    assert (payable_of(top_up.user), unclaimed_minor(order)) == ({"INR": (PRICE - PART, 0)}, 0)
    drain()
    top_up.refresh_from_db()
    assert (top_up.status, wallet_of(top_up.user).balance_inr_minor) == ("Returned", 0)


def test_refund_to_a_deleted_account_that_paid_without_a_card_leaves_unclaimed_what_it_does_not_owe() -> None:
    user = funded(inr=PRICE)
    order = bought(on_sale(), user)
    lost_after_deletion(user)
    refund_order(order=order, reason="test", actor=None)
    # Another's wallet is not theirs.
    funded(usd=500)
    assert (owed_by(user.pk), payable_of(user), unclaimed_minor(order)) == ({}, {"INR": (0, 0)}, PRICE - PART)


def test_staff_who_pay_a_refund_to_a_deleted_account_see_what_it_has_owed_since() -> None:
    user = funded(inr=PRICE)
    order = bought(on_sale(), user)
    lost_after_deletion(user, refunded=order)
    assert "owes ₹100.00" in unclaimed_refund_effects(order)[0]


def test_refund_to_a_deleted_account_is_card_credit_only_as_far_as_it_returns_to_the_card() -> None:
    top_up, order = lost_after_deletion()
    write_off(user=top_up.user, currency="INR", reason="the account is deleted", actor=UserFactory())
    refund_order(order=order, reason="test", actor=None)
    assert (payable_of(top_up.user), unclaimed_minor(order)) == ({"INR": (PRICE - PART, 0)}, PART)
    drain()
    assert payable_of(top_up.user) == {"INR": (0, 0)}


def test_two_refunds_to_a_deleted_account_return_to_its_card_together_at_most_what_it_can_take() -> None:
    top_up = paid_top_up(amount_minor=2 * PRICE)
    orders = [bought(on_sale(), top_up.user), bought(on_sale(), top_up.user)]
    delete_account(user=top_up.user, reason="test", actor=None)
    for kind in (EventKind.DISPUTED, EventKind.DISPUTE_LOST):
        deliver_event(top_up, kind, amount_minor=PART)
    write_off(user=top_up.user, currency="INR", reason="the account is deleted", actor=UserFactory())
    for order in orders:
        refund_order(order=order, reason="test", actor=None)
    assert [unclaimed_minor(order) for order in orders] == [0, PART]
    drain()
    assert wallet_of(top_up.user).balance_inr_minor == 0


def test_credit_that_a_deleted_account_got_back_during_a_dispute_returns_to_its_card_once_it_is_won() -> None:
    top_up = paid_top_up(amount_minor=2 * PRICE)
    first, _ = bought(on_sale(), top_up.user), bought(on_sale(), top_up.user)
    delete_account(user=top_up.user, reason="test", actor=None)
    deliver_event(top_up, EventKind.DISPUTED, amount_minor=PRICE)
    refund_order(order=first, reason="test", actor=None)
    drain()
    assert wallet_of(top_up.user).balance_inr_minor == PRICE
    deliver_event(top_up, EventKind.DISPUTE_WON, amount_minor=PRICE)
    drain()
    assert wallet_of(top_up.user).balance_inr_minor == 0
