"""Pages of a vendor's sales, earnings and payouts."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from marketplace.accounts.pages import SignedInRequest, confirmed_page
from marketplace.api.pagination import newest_first
from marketplace.ui.charts import Span
from vendors.models import VendorProfile
from vendors.studio.access import vendor_page
from wallet.models import VendorPayout
from wallet.sales import payouts_of, sales_by_listing, sales_totals_of
from wallet.selectors import earnings_of, journals_of
from wallet.services.due_payouts import next_payouts
from wallet.spreadsheets import amount_text, csv_lines, csv_response, escape_formula

from ..paging import cursor_context, cursor_of, page_context, page_of
from ..sales_summary import MONTH, SPANS, charts_of, parts_of, since_of, summaries_of

ROWS = 25
TOP = 10
CSV_HEADER = ("run", "at", "currency", "amount", "bankAccount", "status", "journal")


@vendor_page("GET")
def sales(request: SignedInRequest, profile: VendorProfile) -> HttpResponseBase:
    """Show what is due, this month compared with the last, sales and earnings over time, and the listings that sold most."""
    span, accounts, now = _span_of(request), earnings_of(request.user), timezone.now()
    period = span.period(now)
    totals = sales_totals_of(accounts, since=since_of(period, now), step=span.step)
    listings = list(sales_by_listing(accounts, since=period.start)[: TOP + 1]) if accounts else []
    context = {
        "span": span,
        "spans": SPANS.values(),
        "summaries": summaries_of(accounts, totals, now),
        "charts": charts_of(totals, period, span),
        "listings": [_listing_row(row, accounts) for row in listings[:TOP]],
        "more": len(listings) > TOP,
        "accounts": accounts,
        "profile": profile,
    }
    return render(request, "studio/sales/sales.html", context)


@vendor_page("GET")
def by_listing(request: SignedInRequest, profile: VendorProfile) -> HttpResponseBase:
    """Show what each listing sold, page by page."""
    span, accounts = _span_of(request), earnings_of(request.user)
    period = span.period(timezone.now())
    page = page_of(request, list(sales_by_listing(accounts, since=period.start)) if accounts else [], ROWS)
    context = {
        "span": span,
        "spans": SPANS.values(),
        "listings": [_listing_row(row, accounts) for row in page],
        "accounts": accounts,
        **page_context(page, f"last={span.key}&"),
    }
    return render(request, "studio/sales/listings.html", context)


@vendor_page("GET")
def statement(request: SignedInRequest, profile: VendorProfile) -> HttpResponseBase:
    """Show each sale, refund and payout with the parts of its price, newest first."""
    with cursor_of(request) as cursor:
        page = newest_first(map(journals_of, earnings_of(request.user)), "at", limit=ROWS, cursor=cursor)
    context = {"lines": [(line, parts_of(line)) for line in page.rows], **cursor_context(request, page)}
    return render(request, "studio/sales/statement.html", context)


@vendor_page("GET")
def payouts(request: SignedInRequest, profile: VendorProfile) -> HttpResponseBase:
    """Show the bank accounts, the next payout in each currency, and the payouts so far."""
    accounts = earnings_of(request.user)
    page = page_of(request, payouts_of(accounts), ROWS)
    context = {
        "accounts": accounts,
        "next_payouts": next_payouts(profile=profile, accounts=accounts),
        "payouts": page,
        **page_context(page),
        "profile": profile,
    }
    return render(request, "studio/sales/payouts.html", context)


@vendor_page("GET")
@confirmed_page
def payouts_csv(request: SignedInRequest, profile: VendorProfile) -> HttpResponseBase:
    """Return all payouts as CSV."""
    rows = payouts_of(earnings_of(request.user)).iterator(chunk_size=500)
    return csv_response(csv_lines(CSV_HEADER, map(_csv_row, rows)), f"payouts-{profile.store.slug}-{timezone.now():%Y-%m-%d}.csv")


def _csv_row(payout: VendorPayout) -> tuple[object, ...]:
    at = f"{payout.journal.at.astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"
    amount, bank_account = amount_text(payout.amount_minor), escape_formula(payout.details.label)
    return (payout.batch.run, at, payout.account.currency, amount, bank_account, payout.status, payout.journal_id)


def _span_of(request: SignedInRequest) -> Span:
    span = SPANS.get(request.GET.get("last", MONTH.key))
    if span is None:
        raise Http404
    return span


def _listing_row(row: dict[str, Any], accounts: Sequence[Any]) -> dict[str, Any]:
    """Return the row with its earnings in the order of the accounts."""
    return row | {"earned": [(account.currency, row[f"net_{account.currency}"]) for account in accounts]}
