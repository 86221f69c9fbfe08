"""What vendors see of their sales: their own only, refunds below zero, the ledger's sums, few queries however much was sold."""

import csv
import datetime as dt
import io
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from catalog.models import Listing
from marketplace.ui.charts import Period, Step
from marketplace.ui.formatting import short_money
from marketplace.web.sales_summary import MONTH, charts_of, since_of, summaries_of
from tests.factories import UserFactory
from tests.shop import bought, funded, on_sale
from tests.vendors.cases import make_vendor
from tests.wallet.payees import account_of, paid_payout, payee
from vendors.models import PayoutDetails, VendorProfile, VendorStatus
from wallet.models import Order
from wallet.sales import SalesTotals, sales_totals_of
from wallet.selectors import earnings_of
from wallet.services.due_payouts import next_run
from wallet.services.refunds import refund_order

from .markup import read

pytestmark = [pytest.mark.django_db, pytest.mark.database_full]

Browse = Callable[..., Client]
PAGES = ("sales", "sales-listings", "sales-statement", "payouts")
# 20 % of 499.00 are the platform's.
SHARE = 39_920
NOW = dt.datetime(2026, 3, 15, 12, tzinfo=dt.UTC)


@pytest.fixture
def vendor() -> VendorProfile:
    return payee()


@pytest.fixture
def listing(vendor: VendorProfile) -> Listing:
    return on_sale(store=vendor.store, title="Aurora Sans")


def refunded(order: Order) -> Order:
    return refund_order(order=order, reason="test", actor=None)


def paid(vendor: VendorProfile, run: str = "2026-03") -> None:
    paid_payout(account_of(vendor), run)


def rows_of(page: Any) -> list[list[str]]:
    html = BeautifulSoup(page.content, "html.parser")
    for evidence in html.select("a[href$='/evidence.json']"):
        evidence.decompose()
    rows = html.select("table.table tbody tr")
    return [[" ".join(cell.get_text().split()) for cell in row.select("td:not([data-label=When])")] for row in rows]


@pytest.mark.parametrize("status", [None, VendorStatus.PENDING, VendorStatus.SUSPENDED])
def test_sales_pages_redirect_users_who_are_no_approved_vendors_to_the_studio(browse: Browse, status: VendorStatus | None) -> None:
    client = browse(UserFactory() if status is None else make_vendor(status).user)
    names = (*PAGES, "payouts-csv", "sales-invoices", "vendor-refund-requests")
    for address in (*map(reverse, names), reverse("sales-invoices-csv", args=["2026-11"])):
        assert client.get(address)["Location"] == reverse("studio"), address


def test_sales_page_with_an_invalid_period_or_cursor_is_not_found(browse: Browse, listing: Listing, vendor: VendorProfile) -> None:
    bought(listing)
    client = browse(vendor.user)
    queries = {
        "sales": ("last=", "last=1y"),
        "sales-listings": ("page=0", "page=x", "page=²", "page=2"),
        "payouts": ("page=99999999999",),
        "sales-statement": ("after=x", "after=%00"),
    }
    for name, query in [(name, query) for name, each in queries.items() for query in each]:
        assert client.get(f"{reverse(name)}?{query}").status_code == 404, query


@pytest.mark.slow
def test_refund_after_the_payout_makes_the_balance_negative(browse: Browse, listing: Listing, vendor: VendorProfile) -> None:
    order = bought(listing)
    paid(vendor)
    refunded(order)
    client = browse(vendor.user)
    for name in ("sales", "payouts"):
        text = read(client.get(reverse(name)))
        assert "\N{MINUS SIGN}₹399.20" in text
        assert "deducted from your next sales" in text


@pytest.mark.slow
def test_statement_shows_the_split_of_each_price_and_its_reversal_by_a_refund(browse: Browse, vendor: VendorProfile) -> None:
    order = bought(on_sale(store=vendor.store, title="Aurora <Sans>", tax_rate_bp=1800))
    paid(vendor)
    refunded(order)
    minus = "\N{MINUS SIGN}"
    assert rows_of(browse(vendor.user).get(reverse("sales-statement"))) == [
        ["Aurora <Sans> refund, Personal", f"{minus}₹499.00", "₹76.12", "₹84.58", f"{minus}₹338.30"],
        ["Payout taken out of your balance to be paid", "—", "—", "—", f"{minus}₹338.30"],
        ["Aurora <Sans> sale, Personal", "₹499.00", f"{minus}₹76.12", f"{minus}₹84.58", "₹338.30"],
    ]


@pytest.mark.slow
def test_sales_are_added_up_by_listing_most_sold_first(browse: Browse, listing: Listing, vendor: VendorProfile) -> None:
    other = on_sale(store=vendor.store, title="Borealis")
    for _ in range(2):
        bought(other)
    refunded(bought(listing))
    bought(on_sale(title="Of someone else"))
    client = browse(vendor.user)
    for name in ("sales", "sales-listings"):
        page = client.get(reverse(name))
        assert rows_of(page) == [["Borealis", "2", "0", "₹798.40"], ["Aurora Sans", "1", "1", "₹0.00"]]


@pytest.mark.slow
def test_sales_totals_are_by_day_and_month_in_utc(listing: Listing, vendor: VendorProfile) -> None:
    kolkata = dt.timezone(dt.timedelta(hours=5, minutes=30))
    for at in (dt.datetime(2026, 2, 28, 23, 59, tzinfo=dt.UTC), dt.datetime(2026, 3, 1, 5, tzinfo=kolkata), NOW):
        with patch("django.utils.timezone.now", lambda at=at: at):
            order = bought(listing)
    with patch("django.utils.timezone.now", lambda: NOW):
        refunded(order)
    accounts = earnings_of(vendor.user)
    days = sales_totals_of(accounts, since=dt.datetime(2026, 2, 1, tzinfo=dt.UTC), step=Step.DAY)["INR"]
    assert days == {
        dt.datetime(2026, 2, 28, tzinfo=dt.UTC): SalesTotals(2, 0, 2 * SHARE, 0),
        dt.datetime(2026, 3, 15, tzinfo=dt.UTC): SalesTotals(1, 1, SHARE, -SHARE),
    }
    takings = sales_totals_of(accounts, since=dt.datetime(2026, 2, 1, tzinfo=dt.UTC), step=Step.MONTH)
    assert {moment.month: each.net_minor for moment, each in takings["INR"].items()} == {2: 2 * SHARE, 3: 0}
    assert sales_totals_of(accounts, since=dt.datetime(2026, 3, 16, tzinfo=dt.UTC), step=Step.DAY) == {"INR": {}}
    (summary,) = summaries_of(accounts, takings, NOW)
    assert (summary.due_minor, summary.this_month_minor, summary.last_month_minor, summary.comparison) == (
        2 * SHARE,
        0,
        2 * SHARE,
        "So far 0% of last month",
    )


def test_monthly_totals_always_begin_at_the_first_of_the_last_month() -> None:
    for now in (NOW, dt.datetime(2026, 3, 31, 23, tzinfo=dt.UTC), dt.datetime(2026, 1, 1, tzinfo=dt.UTC)):
        start = since_of(MONTH.period(now), now)
        assert (start.day, (now.month - start.month) % 12) == (1, 1)


def test_charts_draw_refunds_below_zero_and_add_up_currencies_as_numbers_only() -> None:
    period = Period.last(2, Step.DAY, until=NOW)
    yesterday, today = period.points
    takings = {"INR": {yesterday: SalesTotals(3, 1, 300, -500)}, "USD": {today: SalesTotals(1, 0, 10, 0)}}
    counts, rupees, dollars = charts_of(takings, period, MONTH)
    assert [list(series.values) for series in counts.series] == [[3, 1], [-1, 0]]
    assert [list(series.values) for series in rupees.series] == [[300, 0], [-500, 0], [-200, 0]]
    assert [list(series.values) for series in dollars.series] == [[0, 10], [0, 0], [0, 10]]
    assert "₹3.00" in rupees.description


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0, "₹0"), (250, "₹2.50"), (-250, "\N{MINUS SIGN}₹2.50"), (100_00, "₹100"), (-1_234_567_00, "\N{MINUS SIGN}₹1.2m")],
)
def test_amounts_on_a_chart_axis_are_abbreviated(amount: int, words: str) -> None:
    assert short_money(amount, "INR") == words


@pytest.mark.slow
def test_payouts_are_listed_and_downloaded_and_no_cell_is_a_formula(browse: Browse, listing: Listing, vendor: VendorProfile) -> None:
    PayoutDetails.objects.update(label='=HYPERLINK("x")')
    for run in ("2026-02", "2026-03"):
        bought(listing)
        paid(vendor, run)
    client = browse(vendor.user, confirmed=True)
    page = client.get(reverse("payouts"))
    assert [row[0] for row in rows_of(page)] == ["2026-03", "2026-02"]
    answer = client.get(reverse("payouts-csv"))
    assert answer["Content-Disposition"].startswith('attachment; filename="payouts-')
    assert "no-store" in answer["Cache-Control"]
    header, first, second = csv.reader(io.StringIO(b"".join(answer).decode()))
    assert [first[0], second[0]] == ["2026-03", "2026-02"]
    assert dict(zip(header, first, strict=True))["bankAccount"] == '\'=HYPERLINK("x")'
    assert dict(zip(header, first, strict=True))["amount"] == "399.20"


@pytest.mark.slow
def test_payouts_page_shows_the_next_payout_or_why_there_is_none(browse: Browse, listing: Listing, vendor: VendorProfile) -> None:
    bought(listing)
    page = browse(vendor.user).get(reverse("payouts"))
    read(page)
    rupees, dollars = page.context["next_payouts"]
    assert (rupees.currency, rupees.amount_minor, rupees.reason) == ("INR", SHARE, "")
    assert (dollars.currency, dollars.amount_minor, dollars.reason) == ("USD", 0, "below_minimum")
    assert rupees.on.day == 5
    assert rupees.on > timezone.now().date()


@pytest.mark.parametrize(
    ("day", "after", "on"),
    [
        (5, (2026, 3, 4), (2026, 3, 5)),
        (5, (2026, 3, 5), (2026, 4, 5)),
        (31, (2026, 1, 31), (2026, 2, 28)),
        (31, (2026, 12, 31), (2027, 1, 31)),
    ],
)
def test_next_run_is_on_the_operators_day_or_the_last_of_a_shorter_month(
    settings: Any, day: int, after: tuple[int, int, int], on: tuple[int, int, int]
) -> None:
    settings.PAYOUT_DAY = day
    assert next_run(after=dt.datetime(*after, tzinfo=dt.UTC)) == dt.date(*on)


@pytest.mark.slow
def test_sales_pages_send_few_queries(browse: Browse, vendor: VendorProfile, django_assert_max_num_queries: Callable[..., Any]) -> None:
    buyer = funded(inr=100_000_000, usd=100_000)
    for number in range(26):
        bought(on_sale(store=vendor.store, title=f"Font {number}"), buyer)
    bought(on_sale(store=vendor.store), buyer, currency="USD")
    paid(vendor)
    client = browse(vendor.user, confirmed=True)
    for address in ("sales", "sales?last=12m", "sales-listings", "sales-listings?page=2", "sales-statement", "payouts"):
        name, _, query = address.partition("?")
        with django_assert_max_num_queries(9):
            page = client.get(f"{reverse(name)}?{query}")
        read(page)
        assert len(page.content) < 75_000
    older = client.get(reverse("sales-statement")).context["next"]
    assert len(client.get(older).context["lines"]) == 28 - 25
    assert len(client.get(f"{reverse('sales-listings')}?page=2").context["listings"]) == 27 - 25
    # One more asks whether a second factor could confirm it.
    with django_assert_max_num_queries(9):
        assert len(b"".join(client.get(reverse("payouts-csv"))).splitlines()) == 2
