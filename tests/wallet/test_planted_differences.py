"""Each check of the reconciliation: it passes states that look alike, and finds the one fault that it is for."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection, transaction
from django.utils import timezone

from library.models import Licence
from tests.eager import drain
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet.invoice_differences import invoice_differences
from wallet.models import CardReversal, Invoice, Journal, LedgerAccount, Order, ReversalPart, TopUp, Transfer, VendorPayout, WalletPayout
from wallet.models.ledger import AccountKind
from wallet.models.top_ups import EventKind
from wallet.providers import SimulatedProvider
from wallet.reconciliation import differences
from wallet.services.card_refunds import refund_top_up
from wallet.services.ledger import open_account
from wallet.services.refunds import refund_order
from wallet.services.vendor_payouts import bounce_payout
from wallet.services.wallet_payouts import cancel_wallet_payout, pay_wallet_payout

from .invoice_cases import issue, operator, vendor_as_seller
from .payees import account_of, earning, exported_payout, payee
from .tampering import unguarded
from .top_up_cases import deliver_event, paid_top_up, requested_top_up
from .wallet_payout_cases import requested_payout

pytestmark = [pytest.mark.django_db, pytest.mark.database]

PRICE = 49_900
WON, LOST = EventKind.DISPUTE_WON, EventKind.DISPUTE_LOST


def spent(price: int = PRICE, **fields: Any) -> TopUp:
    """Return a top-up of which all was spent on one purchase."""
    top_up = paid_top_up(amount_minor=price)
    bought(on_sale(price_inr_minor=price, **fields), top_up.user)
    return top_up


def disputed(top_up: TopUp, *ends: EventKind, amount_minor: int | None = None) -> CardReversal:
    for kind in (EventKind.DISPUTED, *ends):
        deliver_event(top_up, kind, amount_minor=amount_minor or top_up.amount_minor)
    return CardReversal.objects.get(top_up=top_up)


def part_of(top_up: TopUp, *ends: EventKind, amount_minor: int | None = None) -> ReversalPart:
    return disputed(top_up, *ends, amount_minor=amount_minor).parts.get()


def planted(row: Any, **changes: Any) -> list[str]:
    """Return the differences after a change past the triggers, where there was none before."""
    assert list(differences()) == []
    return planted_in(row, **changes)


def planted_in(row: Any, **changes: Any) -> list[str]:
    """Return the differences after another change past the triggers."""
    with unguarded():
        type(row).objects.filter(pk=row.pk).update(**changes)
    return list(differences())


def half_taken() -> ReversalPart:
    """Return the record of a purchase that a lost dispute ended, of whose vendor's share a part was enough."""
    return part_of(spent(tax_rate_bp=1800), LOST, amount_minor=PRICE // 2)


def test_reconciliation_passes_disputes_and_refunds_in_every_state(monkeypatch: pytest.MonkeyPatch) -> None:
    requested_top_up()
    # Two at a time of the same kind, with other amounts, in both currencies.
    for factor in (1, 2):
        price = PRICE * factor
        # Too little to suspend the purchase; all of it; the wallet's credit; and an end of each.
        disputed(spent(price), amount_minor=price // 3)
        disputed(spent(price))
        disputed(paid_top_up(amount_minor=price))
        for end in (WON, LOST):
            disputed(spent(price), end, amount_minor=price // 3)
            disputed(spent(price), end)
            disputed(paid_top_up(amount_minor=price), end)
        part_of(spent(price, tax_rate_bp=1800), LOST, amount_minor=price // 2)
        dollars = paid_top_up(amount_minor=1_000 * factor, currency="USD")
        disputed(dollars)
    # Both currencies of one buyer, both of one vendor, and a refund in each state.
    disputed(paid_top_up(dollars.user))
    listing = on_sale()
    for currency, price in (("INR", PRICE), ("USD", 1_000)):
        top_up = paid_top_up(amount_minor=price, currency=currency)
        bought(listing, top_up.user, currency=currency)
        part_of(top_up)
    refund_top_up(top_up=paid_top_up(), reason="test", actor=UserFactory())
    drain()
    monkeypatch.setattr(SimulatedProvider, "refund", lambda *_, **__: None)
    for _ in range(2):
        drain()
        refund_top_up(top_up=paid_top_up(), reason="test", actor=UserFactory())
    assert set(CardReversal.objects.values_list("kind", "status")) == {
        (kind, status) for kind in ("dispute", "refund") for status in ("Open", "Kept", "Returned")
    }
    assert list(differences()) == []


@pytest.mark.parametrize(
    "change",
    [
        {"user": UserFactory},
        {"currency": "USD"},
        {"amount_minor": 49_999},
        {"provider": "another"},
        {"payment_reference": "another"},
    ],
    ids=str,
)
def test_top_up_that_is_not_its_credit_is_a_difference(change: dict[str, Any]) -> None:
    top_up = paid_top_up()
    change = {name: value() if callable(value) else value for name, value in change.items()}
    assert planted(top_up, **change) == [f"top-up {top_up.pk} and its credit differ"]


def test_top_up_whose_journal_is_of_another_kind_or_amount_is_a_difference() -> None:
    top_up = paid_top_up()
    assert top_up.journal is not None
    sentence = f"top-up {top_up.pk} and its credit differ"
    assert sentence in planted(top_up.journal, wallet_net_minor=1)
    with unguarded():
        Journal.objects.update(wallet_net_minor=50_000)
    refund = {"kind": "unfreeze", "undoes": top_up.journal}
    assert sentence in planted(top_up.journal, **refund)


def closing_of(reversal: CardReversal) -> Journal:
    assert reversal.closing_journal is not None
    return reversal.closing_journal


def test_dispute_whose_journal_is_of_another_kind_or_moved_elsewhere_is_a_difference() -> None:
    reversal = disputed(paid_top_up(), LOST)
    sentence, closing = f"dispute {reversal.pk} and its transfers differ", closing_of(reversal)
    assert sentence in planted(closing, kind="write_off")
    with unguarded():
        Journal.objects.filter(pk=closing.pk).update(kind="card_return")
    elsewhere = open_account("INR", AccountKind.PAYOUT, None)
    assert sentence in planted(closing.transfers.get(), credit=elsewhere)


def test_won_dispute_whose_journal_returns_something_else_is_a_difference() -> None:
    reversal = disputed(paid_top_up(), WON)
    sentence = f"dispute {reversal.pk} and its transfers differ"
    assert sentence in planted(closing_of(reversal), undoes=paid_top_up().journal)


def test_lost_dispute_that_froze_nothing_and_returned_another_amount_is_a_difference() -> None:
    reversal = disputed(spent(), LOST)
    assert planted(reversal, amount_minor=1) == [f"dispute {reversal.pk} and its transfers differ"]


def test_withheld_balance_that_differs_from_what_is_disputed_is_a_difference() -> None:
    part_of(spent())
    withheld = LedgerAccount.objects.get(kind="withheld")
    assert f"withheld account {withheld.pk} holds ₹0.01, what is disputed or refunded is ₹399.20" in planted(withheld, balance_minor=1)


def test_share_withheld_in_another_amount_than_its_journal_is_a_difference() -> None:
    part = part_of(spent())
    assert f"journal {part.withholding_journal_id} withholds another amount than its purchases add up to" in planted(part, withheld_minor=1)


def test_share_released_in_another_amount_than_its_journal_is_a_difference() -> None:
    part = half_taken()
    assert part.taken_minor > 1
    sentence = f"journal {part.release_journal_id} releases another amount than its purchases add up to"
    assert planted(part, taken_minor=part.taken_minor - 1) == [sentence]


def test_share_still_withheld_after_the_end_of_a_dispute_is_a_difference() -> None:
    for part in (half_taken(), part_of(spent(), WON)):
        sentence, released = f"order {part.order_id}: a share is withheld for a dispute or refund that has ended", part.release_journal
        assert sentence in planted(part, release_journal=None)
        with unguarded():
            ReversalPart.objects.filter(pk=part.pk).update(release_journal=released)


def test_licence_of_a_disputed_purchase_that_is_not_suspended_and_another_that_is_are_differences() -> None:
    top_up, won = spent(), spent()
    part_of(top_up), part_of(won, WON)
    for owner, suspended_at in ((top_up.user, None), (won.user, timezone.now())):
        licence = Licence.objects.get(holder=owner)
        before = licence.suspended_at
        assert planted(licence, suspended_at=suspended_at) == [
            f"order {licence.order_id} is disputed and its licence not suspended, or the other way round"
        ]
        Licence.objects.filter(pk=licence.pk).update(suspended_at=before)


def test_upgrade_of_a_disputed_purchase_that_is_not_suspended_is_a_difference() -> None:
    top_up = spent()
    order = Order.objects.get()
    paid_top_up(top_up.user, PRICE)
    upgrade = bought(order.listing, top_up.user, license_slug="commercial", upgrade_from="personal")
    disputed(top_up)
    licence = Licence.objects.get(order_id=upgrade.pk)
    assert planted(licence, suspended_at=None) == [f"order {upgrade.pk} is disputed and its licence not suspended, or the other way round"]


@pytest.mark.parametrize(
    ("end", "change", "what"),
    [
        (None, {"freeze_journal": None}, "freezes credit for no dispute or refund"),
        (WON, {"status": "Open", "closing_journal": None, "decided_at": None}, "ends no dispute or refund"),
        (LOST, {"status": "Open", "closing_journal": None, "decided_at": None}, "ends no dispute or refund"),
    ],
)
def test_journal_of_a_dispute_that_does_not_exist_is_a_difference(end: EventKind | None, change: dict[str, Any], what: str) -> None:
    reversal = disputed(paid_top_up(), *filter(None, [end]))
    (name,) = {"freeze_journal", "closing_journal"} & change.keys()
    assert f"journal {getattr(reversal, name).pk} {what}" in planted(reversal, **change)


@pytest.mark.parametrize(
    ("ends", "change", "what"),
    [
        ((), {"withholding_journal": None, "withheld_minor": 0}, "withholds a share for no dispute or refund"),
        ((WON,), {"release_journal": None}, "releases a share of no dispute or refund"),
    ],
)
def test_journal_of_a_share_that_is_not_recorded_is_a_difference(ends: Any, change: dict[str, Any], what: str) -> None:
    part = part_of(spent(), *ends)
    (name,) = {"withholding_journal", "release_journal"} & change.keys()
    assert f"journal {getattr(part, name).pk} {what}" in planted(part, **change)


def test_transfer_between_currencies_is_a_difference() -> None:
    sale = bought(on_sale()).journals.get()
    transfer = sale.transfers.all()[0]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            connection.check_constraints()
            for side in ("debit", "credit"):
                cursor.execute(f"ALTER TABLE wallet_transfer DROP CONSTRAINT transfer_{side}_in_currency")
    for side, kind in (("debit", AccountKind.PAYOUT), ("credit", AccountKind.COMMISSION)):
        dollars = open_account("USD", kind, None)
        own = getattr(transfer, f"{side}_id")
        assert f"transfer {transfer.pk} is between accounts of different currencies" in planted(transfer, **{side: dollars})
        with unguarded():
            Transfer.objects.filter(pk=transfer.pk).update(**{side: own})


def another_tier(licence: Licence) -> dict[str, Any]:
    return {"tier": bought(on_sale(), license_slug="commercial").tier}


def of_another(licence: Licence) -> dict[str, Any]:
    return {"holder": UserFactory()}


@pytest.mark.parametrize("change", [another_tier, of_another])
def test_licence_that_is_not_what_its_order_bought_is_a_difference(change: Callable[[Licence], dict[str, Any]]) -> None:
    order = bought(on_sale())
    licence = Licence.objects.get(order_id=order.pk)
    assert planted(licence, **change(licence)) == [f"licence {licence.pk} differs from what order {order.pk} bought"]


def upgraded() -> tuple[Order, Order]:
    order = bought(on_sale())
    return order, bought(order.listing, order.buyer, license_slug="commercial", upgrade_from="personal")


def test_licence_replaced_without_an_upgrade_or_upgraded_without_being_replaced_is_a_difference() -> None:
    first, _ = upgraded()
    for order, replaced_at in ((first, None), (bought(on_sale()), timezone.now())):
        licence = Licence.objects.get(order_id=order.pk)
        before = licence.replaced_at
        assert planted(licence, replaced_at=replaced_at) == [f"licence {licence.pk} is replaced without an upgrade, or the other way round"]
        Licence.objects.filter(pk=licence.pk).update(replaced_at=before)


@pytest.mark.parametrize("other", ["buyer", "listing", "currency"])
def test_upgrade_of_a_purchase_of_another_buyer_listing_or_currency_is_a_difference(other: str) -> None:
    first, upgrade = upgraded()
    buyer, listing = first.buyer, first.listing
    wrong = {
        "buyer": lambda: bought(listing),
        "listing": lambda: bought(on_sale(), buyer),
        "currency": lambda: bought(listing, paid_top_up(buyer, 10_000, "USD").user, currency="USD", license_slug="extended"),
    }[other]()
    assert planted(upgrade, upgraded_from=wrong) == [f"order {upgrade.pk} upgrades a purchase of another buyer, listing or currency"]


@pytest.mark.parametrize(
    "change",
    [
        {"account": lambda: earning("USD")},
        {"status": "Bounced", "reason": "x", "settled_at": timezone.now, "return_journal": lambda: bounced().return_journal},
    ],
    ids=["account", "return"],
)
def test_payout_that_is_not_its_transfer_or_was_returned_by_that_of_another_is_a_difference(change: dict[str, Any]) -> None:
    payout = exported_payout(earning())
    change = {name: value() if callable(value) else value for name, value in change.items()}
    if "return_journal" in change:
        with unguarded():
            VendorPayout.objects.exclude(pk=payout.pk).update(status="Paid", return_journal=None, reason="")
    sentence = f"payout {payout.pk} and its transfer differ"
    with unguarded():
        VendorPayout.objects.filter(pk=payout.pk).update(**change)
    assert sentence in list(differences())


def bounced() -> VendorPayout:
    """Return the second payout of a vendor that bounced."""
    account = earning()
    for run in ("b", "c"):
        payout = bounce_payout(payout=exported_payout(account, run), reason="test", actor=None)
    return payout


def exported_twice() -> VendorPayout:
    """Return the second payout of a vendor."""
    profile = payee()
    for run in ("y", "z"):
        bought(on_sale(store=profile.store))
        payout = exported_payout(account_of(profile), run)
    return payout


@pytest.mark.parametrize("changed", ["kind", "undoes", "amount", "from elsewhere", "to elsewhere"])
def test_payout_whose_return_is_not_its_transfer_back_is_a_difference(changed: str) -> None:
    payout, other = bounced(), exported_payout(earning(), "d")
    back = payout.return_journal
    assert back is not None
    funding = open_account("INR", AccountKind.FUNDING, None)
    rows: dict[str, tuple[Any, dict[str, Any]]] = {
        "kind": (back, {"kind": "release", "undoes": None}),
        "undoes": (back, {"undoes": other.journal}),
        "amount": (back, {"vendor_net_minor": 1}),
        "from elsewhere": (back.transfers.get(), {"debit": funding}),
        "to elsewhere": (back.transfers.get(), {"credit": funding}),
    }
    row, change = rows[changed]
    assert f"payout {payout.pk} and its transfer differ" in planted(row, **change)


@pytest.mark.parametrize("changed", ["kind", "elsewhere", "twice", "account", "currency"])
def test_payout_whose_journal_is_no_payout_is_a_difference(changed: str) -> None:
    payout = exported_twice()
    transfer = payout.journal.transfers.get()
    funding = open_account("INR", AccountKind.FUNDING, None)
    if changed == "twice":
        assert list(differences()) == []
        Transfer.objects.create(journal=payout.journal, debit=transfer.credit, credit_id=funding, amount_minor=1, currency="INR")
        found = list(differences())
    elif changed == "kind":
        found = planted(payout.journal, kind="manual_payout")
    elif changed == "currency":
        found = planted(payout.batch, currency="USD", transfer_currency="USD")
    elif changed == "account":
        with unguarded():
            VendorPayout.objects.filter(pk=payout.pk).update(account=funding)
        found = planted_in(transfer, debit=funding)
    else:
        found = planted(transfer, credit=funding)
    assert f"payout {payout.pk} and its transfer differ" in found


def paid(amount_minor: int = 200) -> WalletPayout:
    return pay_wallet_payout(wallet_payout=requested_payout(funded(inr=PRICE), amount_minor), reference="T1", actor=UserFactory())


def cancelled(amount_minor: int = 200) -> WalletPayout:
    user = funded(inr=PRICE)
    return cancel_wallet_payout(wallet_payout=requested_payout(user, amount_minor), actor=user)


def test_reconciliation_passes_payouts_in_every_state() -> None:
    for amount_minor in (200, 300):
        paid(amount_minor)
        cancelled(amount_minor)
        user = funded(inr=PRICE, usd=10_000)
        cancel_wallet_payout(wallet_payout=requested_payout(user, amount_minor + 10), actor=user)
        # One waits in each currency.
        requested_payout(user, amount_minor + 50)
        requested_payout(user, amount_minor + 70, "USD")
    bounced()
    exported_payout(earning(), "d")
    assert list(differences()) == []


@pytest.mark.parametrize("kind", ["card_return", "write_off"])
def test_paid_wallet_payout_whose_journal_is_no_settlement_is_a_difference(kind: str) -> None:
    payout = paid()
    assert f"wallet payout {payout.pk} and its transfers differ" in planted(payout.closing_journal, kind=kind)


@pytest.mark.parametrize(("make", "side"), [(paid, "credit"), (cancelled, "debit")])
def test_wallet_payout_that_ended_by_another_transfer_is_a_difference(make: Callable[[], WalletPayout], side: str) -> None:
    payout, funding = make(), open_account("INR", AccountKind.FUNDING, None)
    assert payout.closing_journal is not None
    assert f"wallet payout {payout.pk} and its transfers differ" in planted(payout.closing_journal.transfers.get(), **{side: funding})


def test_wallet_payout_whose_hold_is_of_another_kind_or_transfer_is_a_difference() -> None:
    payout, funding = requested_payout(funded(inr=PRICE), 200), open_account("INR", AccountKind.FUNDING, None)
    sentence, transfer = f"wallet payout {payout.pk} and its transfers differ", payout.hold.transfers.get()
    assert sentence in planted(transfer, credit=funding)
    with unguarded():
        Transfer.objects.filter(pk=transfer.pk).update(credit=transfer.credit)
    assert sentence in planted(payout.hold, kind="freeze")


def test_journal_that_returns_a_wallet_payout_which_is_still_waiting_is_a_difference() -> None:
    payout = cancelled()
    waiting = {"status": "Waiting", "closing_journal": None, "payment_details": "x"}
    assert f"journal {payout.closing_journal_id} ends a wallet payout that does not exist" in planted(payout, **waiting)


def refunded_purchase() -> Order:
    order = bought(on_sale())
    refund_order(order=order, reason="broken", actor=None)
    return order


def returned_purchase() -> Order:
    """Return a purchase of which a lost dispute returned the payment."""
    return part_of(spent(), LOST).order


@pytest.mark.parametrize(
    ("kind", "make"),
    [("invoice", refunded_purchase), ("credit_note", refunded_purchase), ("credit_note", returned_purchase)],
    ids=["invoice", "refund", "return"],
)
def test_document_that_is_not_what_its_order_says_is_a_difference(kind: str, make: Callable[[], Order]) -> None:
    operator()
    order, other, unreturned = make(), make(), bought(on_sale())
    issue()
    assert list(invoice_differences()) == []
    document, another = (Invoice.objects.get(order=each, kind=kind) for each in (order, other))
    own_journal = Journal.objects.get(order=order, kind="refund" if kind == "invoice" else "sale")
    row, parts = Invoice.objects.filter(pk=document.pk), ReversalPart.objects.filter(order=order)
    changes: list[Callable[[], object]] = [
        lambda: row.update(seller=vendor_as_seller(UserFactory())),
        lambda: row.update(vendor=UserFactory()),
        lambda: row.update(gross_minor=document.gross_minor + 1),
        lambda: row.update(tax_minor=document.tax_minor + 1),
        lambda: row.update(currency="USD"),
        lambda: row.update(order=bought(on_sale())),
        lambda: row.update(journal=own_journal),
        lambda: row.update(journal=another.journal),
    ]
    if kind == "credit_note":
        changes += [lambda: row.update(corrects=Invoice.objects.get(order=unreturned))]
    if make is returned_purchase:
        changes += [lambda: parts.update(ended=False, taken_minor=0), lambda: Order.objects.filter(pk=order.pk).update(status="Completed")]
    for change in changes:
        with transaction.atomic():
            with unguarded():
                change()
            assert f"invoice {document.number} is not what its order says" in list(invoice_differences())
            transaction.set_rollback(True)


def test_sale_or_refund_without_a_document_is_a_difference_after_an_hour_if_it_had_a_seller() -> None:
    with patch("django.utils.timezone.now", return_value=timezone.now() - timedelta(hours=2)):
        # Without a seller there are no invoices.
        refunded_purchase(), returned_purchase()
        operator()
        orders = refunded_purchase(), returned_purchase()
        # What is paid by a bank to a deleted account has no document of its own.
        Journal.objects.create(kind="refund_payout", order=orders[0], reason="paid out")
    refunded_purchase(), returned_purchase()
    journals = Journal.objects.filter(order__in=orders, kind__in=("sale", "refund"))
    assert sorted(invoice_differences()) == sorted(
        [
            *(f"journal {journal.pk} has no invoice after an hour: run issue_invoices --all" for journal in journals),
            f"order {orders[1].pk} was charged back and has no credit note after an hour: run issue_invoices --all",
        ]
    )
    issue()
    assert list(invoice_differences()) == []
