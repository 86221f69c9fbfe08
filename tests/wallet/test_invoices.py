"""Invoices: one for each sale, a credit note for each refund or lost dispute, numbered without a gap and never changed."""

import csv
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.utils import timezone

from marketplace.accounts.services import delete_account
from marketplace.core.errors import InvalidInput
from marketplace.ui.pdf import PdfDocument
from tests.eager import drain
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from wallet.invoice_csv import invoice_csv_lines
from wallet.invoice_differences import invoice_differences
from wallet.invoice_documents import invoice_document, top_up_receipt
from wallet.invoice_numbers import fiscal_year_of, highest_possible_sequence, invoice_number
from wallet.models import BillingDetails, ExchangeRate, Invoice, Journal, Order, Seller
from wallet.models.invoices import InvoiceKind
from wallet.models.top_ups import EventKind
from wallet.selectors import invoice_of_order, invoices, invoices_of_month
from wallet.services import invoices as service
from wallet.services.billing import save_billing_details, save_seller
from wallet.services.card_refunds import refund_top_up
from wallet.services.invoices import issue_invoices
from wallet.services.offers import PurchaseRequest
from wallet.services.quotes import make_quote
from wallet.services.refunds import refund_order
from wallet.services.spending import spend

from .invoice_cases import BANGALORE, BERLIN, GSTIN, MUMBAI, PARIS, billed, buyer_at, issue, operator, rate, vendor_as_seller
from .payees import account_of, earned, paid_payout, payee
from .tampering import unguarded
from .top_up_cases import deliver_event, paid_top_up
from .wallet_payout_cases import refund_to_deleted_account

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("books_agree")]


def test_without_a_seller_no_invoice_is_issued_and_the_tax_rate_of_the_listing_applies() -> None:
    order = bought(on_sale(tax_rate_bp=1800), buyer_at(MUMBAI))
    assert (order.seller, order.tax_treatment, order.tax_minor) == (None, "listing", 7_612)
    assert issue() == []
    operator()
    assert issue() == []


def test_sale_to_another_state_is_split_and_invoiced_as_it_was() -> None:
    seller = operator(BANGALORE | {"tax_id": GSTIN}, service_code="998439")
    rate("IN", 1800)
    buyer = buyer_at(MUMBAI)
    order = bought(on_sale(title="Halden", tax_rate_bp=500), buyer)
    assert (order.price_minor, order.tax_treatment, order.tax_rate_bp, order.tax_minor) == (49_900, "inter_state", 1800, 7_612)
    billed(buyer, BERLIN)
    (invoice,) = issue()
    assert (invoice.kind, invoice.order, invoice.seller, invoice.sequence) == ("invoice", order, seller, 1)
    assert (invoice.gross_minor, invoice.tax_minor, invoice.net_minor, invoice.currency) == (49_900, 7_612, 42_288, "INR")
    assert (invoice.country, invoice.region, invoice.service_code) == ("IN", "27", "998439")
    assert invoice.buyer_details is not None
    assert (invoice.buyer_name, invoice.buyer_details.city, invoice.seller_details.tax_id) == ("Bo Buyer", "Mumbai", GSTIN)
    assert "Halden" in invoice.description
    document = invoice_document(invoice)
    assert f"GSTIN {GSTIN}" in words_of(document)
    assert "998439" in words_of(document)
    assert document.grid is not None
    assert document.grid.rows[-1] == ("Total", "", "₹499.00")
    assert ("Buyer", "Bo Buyer, 2 Marine Drive, 400001 Mumbai, 27-Maharashtra, India") in document.facts


def test_price_is_the_same_for_all_and_the_tax_follows_the_buyers_details_and_connection() -> None:
    operator(BERLIN)
    rate("DE", 1900)
    rate("FR", 2000)
    consumer = PARIS | {"tax_id": ""}
    cases = (
        (funded(inr=49_900), ("domestic", 1900, 7_967)),
        (buyer_at(PARIS), ("reverse_charge", 0, 0)),
        (buyer_at(consumer), ("domestic", 1900, 7_967)),
        (buyer_at(consumer, "FR"), ("destination", 2000, 8_317)),
    )
    for buyer, taxed in cases:
        order = bought(on_sale(), buyer)
        assert (order.price_minor, (order.tax_treatment, order.tax_rate_bp, order.tax_minor)) == (49_900, taxed)
    # The last one moves.
    billed(cases[-1][0], BERLIN)
    assert bought(on_sale(), cases[-1][0]).tax_treatment == "domestic"


def test_domestic_invoice_names_the_region_whose_rate_applied_also_where_it_is_the_buyers() -> None:
    operator(PARIS | {"region": "Corse"})
    rate("FR", 2000)
    rate("FR", 1000, region="Corse")
    rate("FR", 850, region="Martinique")
    cases = (
        (funded(inr=49_900), "Corse", 1000),
        (buyer_at(PARIS | {"region": "Martinique"}), "Martinique", 850),
        (buyer_at(PARIS), "", 2000),
        # A consumer whose foreign country is not shown twice.
        (buyer_at(BERLIN | {"region": "Berlin", "tax_id": ""}), "Corse", 1000),
    )
    for buyer, *_ in cases:
        bought(on_sale(), buyer)
    places = [(invoice.treatment, invoice.country, invoice.region, invoice.tax_rate_bp) for invoice in issue()]
    assert places == [("domestic", "FR", region, rate_bp) for _, region, rate_bp in cases]


def test_evidence_of_the_country_is_kept_until_the_country_changes() -> None:
    buyer = buyer_at(PARIS, "FR")
    assert billed(buyer, PARIS | {"street": "2 rue de Rivoli"}).connection_country == "FR"
    assert billed(buyer, BERLIN).connection_country == ""


def test_tax_rate_in_force_on_the_day_of_the_sale_applies() -> None:
    operator(BERLIN)
    today = timezone.now().date()
    rate("DE", 1900, valid_to=today - timedelta(days=1))
    assert bought(on_sale(tax_rate_bp=500)).tax_rate_bp == 500
    rate("DE", 1600, valid_from=today - timedelta(days=3))
    rate("DE", 1700, valid_from=today + timedelta(days=2))
    assert bought(on_sale(tax_rate_bp=500)).tax_rate_bp == 1600


def test_quoted_price_stands_and_its_tax_follows_the_details_at_the_purchase() -> None:
    operator(BERLIN)
    rate("DE", 1900)
    buyer, listing = funded(inr=100_000), on_sale()
    quote = make_quote(buyer=buyer, purchase=PurchaseRequest(str(listing.pk)))
    assert quote.tax_minor == 7_967
    billed(buyer, PARIS)
    receipt, _ = spend(buyer=buyer, purchase=PurchaseRequest(str(listing.pk)), quote_id=str(quote.pk))
    assert (receipt.debited_minor, receipt.tax_minor) == (49_900, 0)


def test_vendor_who_is_the_seller_invoices_with_numbers_of_their_own() -> None:
    operator()
    listing = on_sale()
    seller = vendor_as_seller(listing.store.owner)
    first, second = bought(listing), bought(on_sale())
    assert (first.seller, second.seller) == (seller, Seller.objects.get(vendor=None))
    assert sorted((invoice.seller == seller, invoice.sequence) for invoice in issue()) == [(False, 1), (True, 1)]
    billed(listing.store.owner, BERLIN)
    seller.refresh_from_db()
    assert seller.details.city == "Berlin"


def test_seller_with_wrong_numbering_or_without_billing_details_and_a_second_operator_are_refused(subtests: pytest.Subtests) -> None:
    wrong: tuple[dict[str, Any], ...] = (
        {"number_pattern": "INV"},
        {"number_pattern": "{year}{number}{number}"},
        {"number_pattern": "INV {year} {number}"},
        {"number_pattern": "{0.__class__}{year}{number}"},
        {"number_pattern": "INVOICE/{year}/{number}"},
        {"time_zone": "Mars/Olympus"},
        {"tax_currency": "rupees"},
    )
    for fields in wrong:
        with subtests.test(str(fields)), pytest.raises(InvalidInput):
            operator(**fields)
    with pytest.raises(InvalidInput):
        save_seller(seller=Seller(vendor=UserFactory()), changed=[], details=BANGALORE, actor=UserFactory())
    assert not Seller.objects.exists()
    operator()
    with pytest.raises(InvalidInput):
        operator()


def test_numbering_of_a_seller_whose_account_is_deleted_can_be_changed_for_the_credit_notes_to_come() -> None:
    vendor = UserFactory()
    details_id = vendor_as_seller(vendor).details_id
    delete_account(user=vendor, reason="test", actor=None)
    seller = Seller.objects.get()
    seller.number_pattern = "C{year}/{number}"
    save_seller(seller=seller, changed=["number_pattern"], details={}, actor=UserFactory(is_staff=True))
    seller.refresh_from_db()
    assert (seller.number_pattern, seller.details_id) == ("C{year}/{number}", details_id)


def test_refund_has_a_credit_note_that_repeats_the_invoice() -> None:
    seller = operator()
    rate("IN", 1800)
    order = bought(on_sale(), buyer_at(MUMBAI))
    issue()
    save_seller(seller=seller, changed=[], details=BERLIN, actor=UserFactory())
    refund_order(order=order, reason="broken", actor=None)
    invoice, note = issue()
    assert (note.kind, note.sequence, note.corrects) == ("credit_note", 2, invoice)
    assert (note.gross_minor, note.tax_minor, note.treatment, note.seller_details) == (49_900, 7_612, "inter_state", invoice.seller_details)


def test_purchases_that_a_lost_dispute_ended_have_credit_notes_and_those_of_a_won_one_none() -> None:
    operator()
    user = paid_top_up(amount_minor=2 * 49_900).user
    lost, won = user.top_ups.get(), paid_top_up(amount_minor=49_900)
    orders = [bought(on_sale(), user), bought(on_sale(), user), bought(on_sale(), won.user)]
    for top_up, end in ((lost, EventKind.DISPUTE_LOST), (won, EventKind.DISPUTE_WON)):
        deliver_event(top_up, EventKind.DISPUTED)
        deliver_event(top_up, end)
    with patch.object(service, "BATCH", 2):
        *invoices, first, second = issue()
    assert [(each.kind, each.order) for each in invoices] == [("invoice", order) for order in orders]
    assert [(each.kind, each.order, each.corrects, each.sequence) for each in (first, second)] == [
        ("credit_note", orders[0], invoices[0], 4),
        ("credit_note", orders[1], invoices[1], 5),
    ]
    assert first.journal == second.journal == lost.reversals.get().closing_journal
    assert "card" in invoice_document(first).paragraphs[-1]
    assert f"Corrects Invoice {invoices[0].number}" in words_of(invoice_document(first))
    assert issue()[5:] == []
    orders[0].refresh_from_db()
    assert invoice_of_order(user, str(orders[0].pk), InvoiceKind.CREDIT_NOTE) == first


@pytest.mark.parametrize("paid_out", [False, True])
def test_shares_in_the_csv_of_a_purchase_that_a_dispute_ended_sum_up_to_what_the_vendor_has_earned(*, paid_out: bool) -> None:
    operator()
    vendor, top_up = payee(), paid_top_up(amount_minor=49_900)
    order = bought(on_sale(store=vendor.store, tax_rate_bp=1800), top_up.user)
    if paid_out:
        paid_payout(account_of(vendor))
    for kind in (EventKind.DISPUTED, EventKind.DISPUTE_LOST):
        deliver_event(top_up, kind, amount_minor=40_000)
    issue()
    rows = list(csv.DictReader(invoice_csv_lines(invoices())))
    share, commission, net = (round(sum(100 * float(row[name]) for row in rows)) for name in ("vendorShare", "commission", "net"))
    assert (len(rows), share) == (2, earned(vendor.user)["INR"] + (order.vendor_share_minor if paid_out else 0))
    assert (net, share + commission) == (0, 0)


def test_credit_note_of_a_lost_dispute_is_its_sellers_and_waits_until_it_is_due() -> None:
    operator()
    listing, top_up = on_sale(), paid_top_up(amount_minor=49_900)
    seller = vendor_as_seller(listing.store.owner)
    order = bought(listing, top_up.user)
    (invoice,) = issue()
    deliver_event(top_up, EventKind.DISPUTED)
    deliver_event(top_up, EventKind.DISPUTE_LOST)
    end = Journal.objects.get(closed_reversal__top_up=top_up).at
    assert issue_invoices(until=end - timedelta(microseconds=1)) == 0
    assert issue_invoices(until=end) == 1
    note = Invoice.objects.get(kind="credit_note")
    assert (note.order, note.seller, note.sequence, note.corrects) == (order, seller, 2, invoice)


def test_credit_note_of_a_refund_says_where_it_returned_even_if_the_account_is_deleted_afterwards() -> None:
    operator()
    by_card = bought(on_sale(), paid_top_up(amount_minor=49_900).user)
    delete_account(user=by_card.buyer, reason="test", actor=None)
    deleted = "The buyer's account is deleted: what was paid by card returns to the card, less what the buyer owes; the rest is paid out on request."
    for order, sentence in (
        (refund_to_deleted_account(), deleted),
        (by_card, deleted),
        (bought(on_sale(), paid_top_up(amount_minor=49_900).user), "Returned to prepaid credit."),
    ):
        refund_order(order=Order.objects.get(pk=order.pk), reason="broken", actor=None)
        issue()
        note = Invoice.objects.get(kind="credit_note", order=order)
        assert invoice_document(note).paragraphs[-1] == sentence
    # It is spent, so that the account can be deleted.
    bought(on_sale(), note.order.buyer)
    delete_account(user=note.order.buyer, reason="test", actor=None)
    assert invoice_document(Invoice.objects.get(pk=note.pk)).paragraphs[-1] == "Returned to prepaid credit."


def test_invoices_of_a_month_are_in_the_order_of_their_numbers_whenever_their_sales_committed() -> None:
    operator(time_zone="UTC")
    early, late = bought(on_sale()).journals.get(), bought(on_sale()).journals.get()
    with unguarded():
        for journal, day in ((early, 20), (late, 19)):
            Journal.objects.filter(pk=journal.pk).update(at=datetime(2026, 6, day, tzinfo=UTC))
    issue()
    assert [invoice.journal for invoice in invoices_of_month(date(2026, 6, 1))] == [early, late]


def test_lost_dispute_without_a_credit_note_after_an_hour_or_with_that_of_another_sale_is_reported() -> None:
    operator()
    with patch("django.utils.timezone.now", return_value=timezone.now() - timedelta(hours=2)):
        top_up = paid_top_up(amount_minor=49_900)
        order = bought(on_sale(), top_up.user)
        deliver_event(top_up, EventKind.DISPUTED)
        deliver_event(top_up, EventKind.DISPUTE_LOST)
    assert sum(str(order.pk) in sentence for sentence in invoice_differences()) == 1
    other = bought(on_sale())
    *_, note, _ = issue()
    assert list(invoice_differences()) == []
    for corrected, sentences in ((other, 1), (order, 0)):
        with unguarded():
            Invoice.objects.filter(pk=note.pk).update(corrects=Invoice.objects.get(order=corrected, kind=InvoiceKind.INVOICE))
        assert len(list(invoice_differences())) == sentences


def test_invoice_numbers_follow_the_ledger_across_small_batches_and_a_free_order_has_none() -> None:
    operator()
    orders = [bought(on_sale()), bought(on_sale())]
    bought(on_sale(price_inr_minor=0, base_price_minor=0))
    orders.append(bought(on_sale()))
    with patch.object(service, "BATCH", 2):
        invoices = issue()
    assert [(invoice.order, invoice.number[-5:]) for invoice in invoices] == list(zip(orders, ("00001", "00002", "00003"), strict=True))
    assert issue() == invoices


def test_invoice_of_a_recent_sale_waits_for_sales_that_commit_late() -> None:
    operator()
    bought(on_sale())
    assert issue_invoices() == 0
    with patch("django.utils.timezone.now", return_value=timezone.now() + timedelta(seconds=45)):
        assert issue_invoices() == 1


def test_number_that_leaves_a_gap_is_refused_by_the_database() -> None:
    operator()
    bought(on_sale())
    bought(on_sale())
    with patch.object(service, "_last_issued_sequence", return_value=1), pytest.raises(DatabaseError), transaction.atomic():
        issue()
    assert [invoice.sequence for invoice in issue()] == [1, 2]


def test_invoice_without_the_previous_number_of_its_seller_and_year_is_reported() -> None:
    seller, listing = operator(), on_sale()
    vendor_as_seller(listing.store.owner)
    for _ in range(3):
        bought(on_sale())
        bought(listing)
    second = next(invoice for invoice in issue() if invoice.seller == seller and invoice.sequence == 2)
    # The third invoice lacks the second one, which lacks a first one in its new year.
    for year, sentences in ((second.fiscal_year + 1, 2), (second.fiscal_year, 0)):
        with unguarded():
            Invoice.objects.filter(pk=second.pk).update(fiscal_year=year)
        assert len(list(invoice_differences())) == sentences


def test_issued_invoice_is_never_changed_or_deleted() -> None:
    operator()
    bought(on_sale())
    (invoice,) = issue()
    for change in ({"number": "X"}, {"gross_minor": 1}, {"buyer_name": "Eve"}):
        with pytest.raises(DatabaseError), transaction.atomic():
            Invoice.objects.filter(pk=invoice.pk).update(**change)
    with pytest.raises(DatabaseError), transaction.atomic():
        Invoice.objects.filter(pk=invoice.pk)._raw_delete("default")


def test_billing_details_are_replaced_not_edited() -> None:
    user = UserFactory()
    details = billed(user, MUMBAI)
    with pytest.raises(DatabaseError), transaction.atomic():
        BillingDetails.objects.filter(pk=details.pk).update(name="Eve")
    assert billed(user, MUMBAI) == details
    assert billed(user, PARIS) != details
    assert BillingDetails.objects.filter(owner=user, current=True).count() == 1


def test_fiscal_year_begins_by_the_time_zone_of_the_seller_and_with_number_one() -> None:
    operator()
    # The last minute of the year in India, and the first.
    for minute in (29, 30):
        with patch("django.utils.timezone.now", return_value=datetime(2026, 3, 31, 18, minute, tzinfo=UTC)):
            bought(on_sale())
        issued = issue()
    assert [(invoice.fiscal_year, invoice.number) for invoice in issued] == [(2025, "INV/25-26/00001"), (2026, "INV/26-27/00001")]


@pytest.mark.parametrize(
    ("day", "month", "year", "label"),
    [
        (date(2026, 12, 31), 1, 2026, "2026"),
        (date(2026, 3, 31), 4, 2025, "25-26"),
        (date(2099, 4, 1), 4, 2099, "99-00"),
    ],
)
def test_fiscal_year_is_named_by_its_beginning(day: date, month: int, year: int, label: str) -> None:
    assert fiscal_year_of(day, month) == year
    assert invoice_number("A-{year}-{number}", year=year, month=month, sequence=123_456) == f"A-{label}-123456"


def test_invoice_shows_the_tax_in_the_currency_of_tax_returns_if_there_is_a_rate() -> None:
    operator(tax_currency="inr")
    rate("IN", 1800)
    bought(on_sale(), funded(usd=1000), currency="USD")
    (without_rate,) = issue()
    assert (without_rate.tax_currency, without_rate.exchange_rate) == ("", None)
    today = timezone.now().date()
    for day, value in ((date(2020, 1, 1), "80"), (today - timedelta(days=1), "84.505"), (date(2999, 1, 1), "1")):
        ExchangeRate.objects.create(currency="USD", tax_currency="INR", rate=Decimal(value), valid_from=day)
    for currency, tax_currency in (("USD", "EUR"), ("INR", "EUR")):
        ExchangeRate.objects.create(currency=currency, tax_currency=tax_currency, rate=2, valid_from=today)
    bought(on_sale(), funded(usd=1000), currency="USD")
    bought(on_sale())
    _, in_dollars, in_rupees = issue()
    # 152.54 cents of tax are rounded to two equal halves of 76.
    assert (in_dollars.tax_minor, in_dollars.tax_currency, in_dollars.tax_in_tax_currency_minor) == (152, "INR", 12_845)
    assert (in_rupees.tax_currency, in_rupees.tax_in_tax_currency_minor) == ("", None)
    notes = [[note for note in invoice_document(each).paragraphs if note.startswith("Tax in")] for each in (in_dollars, in_rupees)]
    assert notes == [["Tax in INR: 128.45 (1 USD = 84.505 INR)."], []]


@pytest.mark.parametrize(("pattern", "room"), [("INV/{year}/{number}", 999_999), ("A{year}{number}", 9_999_999_999)])
def test_highest_invoice_number_fills_the_sixteen_characters(pattern: str, room: int) -> None:
    assert highest_possible_sequence(pattern, year=2026, month=4) == room
    assert len(invoice_number(pattern, year=2026, month=4, sequence=room)) == 16


def test_command_fails_when_invoice_numbers_of_a_seller_run_out_and_still_issues_those_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    operator()
    vendor = on_sale()
    vendor_as_seller(vendor.store.owner)
    first, second, other = bought(on_sale()), bought(on_sale()), bought(vendor)
    monkeypatch.setattr(service, "highest_possible_sequence", lambda pattern, **_: 1 if pattern.startswith("INV/{year}") else 99)
    Seller.objects.filter(vendor=vendor.store.owner).update(number_pattern="V/{year}/{number}")
    with patch.object(service, "GRACE", timedelta(seconds=-1)), pytest.raises(CommandError, match="Shorten the pattern"):
        call_command("issue_invoices")
    assert {invoice.order for invoice in Invoice.objects.all()} == {first, other}
    monkeypatch.setattr("wallet.invoice_differences.highest_possible_sequence", lambda *_, **__: 1)
    warned = [sentence for sentence in invoice_differences() if "shorten the pattern" in sentence]
    assert len(warned) == len({invoice.seller for invoice in Invoice.objects.all()}) == 2
    monkeypatch.undo()
    assert second in [invoice.order for invoice in issue()]


def test_journal_that_commits_late_gets_the_next_number() -> None:
    operator()
    early = bought(on_sale())
    late = bought(on_sale())
    hidden = Journal.objects.filter(order=early)
    due = service._find_due
    with patch.object(service, "_find_due", lambda *given, **chosen: [pair for pair in due(*given, **chosen) if pair[1] == late]):
        issue()
    assert hidden.get().at < Journal.objects.get(order=late).at
    assert [invoice.order for invoice in issue()] == [late, early]


def test_missing_and_inconsistent_invoices_are_reported() -> None:
    operator()
    order = bought(on_sale())
    issue()
    with patch("django.utils.timezone.now", return_value=timezone.now() - timedelta(hours=2)):
        forgotten = bought(on_sale())
    assert [sentence for sentence in invoice_differences() if str(Journal.objects.get(order=forgotten).pk) in sentence]
    issue_invoices()
    assert len(list(invoice_differences())) == 1
    issue_invoices(everything=True)
    assert list(invoice_differences()) == []
    Order.objects.filter(pk=order.pk).update(seller=None)
    assert len(list(invoice_differences())) == 1
    other_tax = {"tax_minor": order.tax_minor + 1, "commission_minor": order.commission_minor - 1}
    Order.objects.filter(pk=order.pk).update(seller=Seller.objects.get(), **other_tax)
    assert len(list(invoice_differences())) == 1
    Order.objects.filter(pk=order.pk).update(tax_minor=order.tax_minor, commission_minor=order.commission_minor)
    refund_order(order=order, reason="broken", actor=None)
    *_, note = issue()
    for corrected, sentences in ((forgotten, 1), (order, 0)):
        with unguarded():
            Invoice.objects.filter(pk=note.pk).update(corrects=Invoice.objects.get(order=corrected, kind=InvoiceKind.INVOICE))
        assert len(list(invoice_differences())) == sentences


def test_invoice_shows_the_legally_required_facts_and_no_internal_ids() -> None:
    operator(BERLIN)
    order = bought(on_sale(), buyer_at(PARIS))
    refund_order(order=order, reason="broken", actor=None)
    issued = issue()
    assert len(issued) == 2
    for invoice in issued:
        document = invoice_document(invoice)
        assert ("Seller", "Markt GmbH, Hauptstr. 1, 10827 Berlin, Germany") in document.facts
        words = words_of(document)
        assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}", words)
        assert "Reverse charge" in words
        for expected in (invoice.number, f"tax ID {BERLIN['tax_id']}", f"tax ID {PARIS['tax_id']}", PARIS["street"], BERLIN["city"]):
            assert expected in words


def test_sale_before_the_seller_moved_is_invoiced_from_the_former_address() -> None:
    seller = operator()
    rate("IN", 1800)
    order = bought(on_sale(), buyer_at({**MUMBAI, "region": "29"}))
    save_seller(seller=seller, changed=[], details={**MUMBAI, "tax_id": ""}, actor=order.buyer)
    (invoice,) = issue()
    assert (invoice.treatment, invoice.region, invoice.seller_details.city) == ("intra_state", "29", "Bengaluru")


def words_of(document: PdfDocument) -> str:
    return " ".join([document.title, document.subtitle, *document.paragraphs, *(" ".join(fact) for fact in document.facts)])


def test_receipt_of_a_top_up_names_seller_and_buyer_of_that_time_and_no_internal_ids() -> None:
    seller = operator(BERLIN)
    top_up = paid_top_up(buyer_at(PARIS))
    save_seller(seller=seller, changed=[], details={**MUMBAI, "tax_id": ""}, actor=top_up.user)
    save_billing_details(user=top_up.user, values={**PARIS, "street": "2 rue Neuve"}, actor=top_up.user)
    document = top_up_receipt(top_up)
    words = words_of(document)
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}", words)
    for expected in (top_up.payment_reference, BERLIN["tax_id"], BERLIN["city"], PARIS["tax_id"], PARIS["street"]):
        assert expected in words
    assert document.grid is not None
    assert document.grid.rows[-1] == ("Total", "₹500.00")


def test_receipt_of_a_top_up_says_what_returned_to_the_card() -> None:
    top_up = paid_top_up()
    refund_top_up(top_up=top_up, reason="asked for", actor=UserFactory())
    drain()
    assert ("Returned to the card", "₹500.00") in top_up_receipt(top_up).facts


def test_sales_of_a_seller_who_became_inactive_are_invoiced_and_later_ones_have_no_seller() -> None:
    seller = operator()
    order = bought(on_sale())
    Seller.objects.filter(pk=seller.pk).update(is_active=False)
    assert bought(on_sale()).seller is None
    assert [invoice.order for invoice in issue()] == [order]
    order.refresh_from_db()
    assert order.seller == seller
