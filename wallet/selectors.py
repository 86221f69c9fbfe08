"""Queries of wallets and orders. A wallet without an account has a balance of zero."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, F, FilteredRelation, OuterRef, Q, QuerySet, Sum

from marketplace.accounts.models import User
from marketplace.core.database import row_by_id, subquery_sum
from marketplace.core.errors import NotFound
from marketplace.core.money import Currency

from .errors import InvoicePending, NotInvoiced
from .licensees import with_licensee
from .models import (
    BillingDetails,
    CoveredJournal,
    CreditReference,
    Invoice,
    Journal,
    LedgerAccount,
    Order,
    Quote,
    RefundRequest,
    ReversalPart,
    Seller,
    Transfer,
    VendorPayout,
    WalletPayout,
    WalletSettings,
)
from .models.invoices import InvoiceKind
from .models.ledger import AccountKind, JournalKind
from .models.orders import OrderStatus
from .models.top_ups import ReversalStatus
from .models.wallet_payouts import WalletPayoutStatus

# Longer than any transaction, as each gives up after seconds of waiting.
MAX_TRANSACTION_DURATION = timedelta(hours=1)


@dataclass(frozen=True)
class Wallet:
    """A user's balances and preferred currency."""

    balance_inr_minor: int
    balance_usd_minor: int
    currency_preference: str

    def balance_minor(self, currency: str) -> int:
        """Return the balance in one of the wallet's currencies."""
        return self.balance_inr_minor if currency == Currency.INR else self.balance_usd_minor


def wallet_of(user: User) -> Wallet:
    """Return the user's balances and preference, in one query."""
    owned = User.objects.filter(pk=user.pk).annotate(
        wallet=FilteredRelation("ledger_accounts", condition=Q(ledger_accounts__kind=AccountKind.WALLET))
    )
    rows = list(owned.values_list("wallet__currency", "wallet__balance_minor", "wallet_settings__currency_preference"))
    balances = {currency: minor for currency, minor, _ in rows}
    return Wallet(balances.get(Currency.INR, 0), balances.get(Currency.USD, 0), rows[0][2] or Currency.INR.value)


def balances_of(user: User) -> dict[str, int]:
    """Return the balances by currency, without currencies that were never funded."""
    return dict(accounts_of(user).values_list("currency", "balance_minor"))


def with_upgrades(order_ids: Iterable[uuid.UUID]) -> set[uuid.UUID]:
    """Return the ids of these orders, of the upgrades of their licences, and of the upgrades of those."""
    found = added = set(order_ids)
    while added:
        added = set(Order.objects.filter(upgraded_from__in=added).values_list("pk", flat=True)) - found
        found |= added
    return found


def currency_preference_of(user: User) -> str:
    """Return the user's preferred currency."""
    chosen = WalletSettings.objects.filter(owner=user).values_list("currency_preference", flat=True).first()
    return chosen or Currency.INR.value


def upgrade_of(order: Order) -> Order | None:
    """Return the order of the upgrade that replaced this one's licence; None if there is none, or it was refunded."""
    return order.upgrades.filter(status=OrderStatus.COMPLETED).first()


def orders_of(user: User) -> QuerySet[Order]:
    """Return the user's purchases, newest first."""
    return with_licensee(Order.objects.filter(buyer=user).select_related("upgraded_from", "terms").order_by("-created_at", "-id"))


def order_of(user: User, order_id: str) -> Order:
    """Return one of the user's purchases with the relations of its receipt.

    Raises:
        NotFound: it is not theirs.
    """
    order = row_by_id(orders_of(user).select_related("listing__store", "buyer", "quote", "refund_request", "upgraded_from"), order_id)
    if order is None:
        raise NotFound
    return order


def sale_of(vendor: User, order_id: uuid.UUID) -> Order:
    """Return one of a vendor's sales.

    Raises:
        NotFound: it is not theirs.
    """
    order = Order.objects.select_related("quote", "upgraded_from").filter(listing__store__owner=vendor, pk=order_id).first()
    if order is None:
        raise NotFound
    return order


def billing_details_of(user: User | None) -> BillingDetails | None:
    """Return the billing details of a user, or of the operator; None if there are none."""
    return BillingDetails.objects.filter(owner=user, current=True).first()


def billing_details_at(user: User | None, time: datetime) -> BillingDetails | None:
    """Return the billing details of a user, or of the operator, at a time; the first ones if there were none yet."""
    rows = BillingDetails.objects.select_related("logo").filter(owner=user)
    return rows.filter(created_at__lte=time).order_by("-created_at").first() or rows.order_by("created_at").first()


def operator_seller() -> Seller | None:
    """Return the operator as a seller, None before the details are entered."""
    return Seller.objects.select_related("details").filter(vendor__isnull=True).first()


def invoice_of_order(user: User, order_id: str, kind: InvoiceKind = InvoiceKind.INVOICE) -> Invoice:
    """Return the invoice or credit note of one of the user's purchases.

    Raises:
        NotFound: it is not their purchase.
        InvoicePending: it is not issued yet.
        NotInvoiced: there is none, and none is due.
    """
    order = order_of(user, order_id)
    invoice = invoices().filter(order=order, kind=kind).first()
    if invoice is not None:
        return invoice
    raise InvoicePending(headers={"Retry-After": "30"}) if is_invoiced(order, kind) else NotInvoiced


def is_invoiced(order: Order, kind: InvoiceKind) -> bool:
    """Tell whether an order has a document, or will have it within a minute."""
    return order.seller_id is not None and order.price_minor > 0 and (kind == InvoiceKind.INVOICE or order.status != OrderStatus.COMPLETED)


def charged_back_without_credit_note() -> QuerySet[ReversalPart]:
    """Return the parts of reversals that ended their purchase, which has no credit note yet, oldest first.

    Each comes with the reversal's journal, which returned the payment to the card.
    """
    ended = ReversalPart.objects.filter(ended=True, reversal__status=ReversalStatus.PAYMENT_RETURNED)
    noted = Invoice.objects.filter(order=OuterRef("order"), kind=InvoiceKind.CREDIT_NOTE)
    return ended.filter(~Exists(noted)).select_related("reversal__closing_journal").order_by("reversal__closing_journal", "order")


def invoices() -> QuerySet[Invoice]:
    """Return the documents with what they show, newest first."""
    related = (
        "seller",
        "seller_details",
        "buyer_details",
        "journal",
        "corrects",
        "corrected_by__seller_details",
        "corrected_by__buyer_details",
    )
    return Invoice.objects.select_related(*related).order_by("-id")


def invoices_of_month(month: date, *, vendor: User | None = None) -> QuerySet[Invoice]:
    """Return the documents of a month, of all sellers or of one vendor's sales, by seller in the order of their numbers."""
    after = (month.replace(day=28) + timedelta(days=4)).replace(day=1)
    rows = invoices().select_related("order__listing__store").prefetch_related("order__reversal_parts")
    rows = rows.filter(date__gte=month, date__lt=after)
    if vendor is not None:
        rows = rows.filter(vendor=vendor)
    return rows.order_by("seller_id", "fiscal_year", "sequence")


def quote_of(user: User, quote_id: str) -> Quote | None:
    """Return the user's quote with its listing and `used_by`, the order that used it; None if it is not theirs."""
    quotes = Quote.objects.select_related("listing__store", "listing__category", "tier").annotate(used_by=F("orders__pk"))
    return row_by_id(quotes.filter(owner=user), quote_id)


def journals_of(account: LedgerAccount) -> QuerySet[Journal]:
    """Return the journals of a wallet or vendor account, newest first, with their orders."""
    side = "wallet" if account.kind == AccountKind.WALLET else "vendor"
    return Journal.objects.filter(**{side: account}).select_related("order", side).order_by("-at", "-id")


def accounts_of(user: User, kind: AccountKind = AccountKind.WALLET) -> QuerySet[LedgerAccount]:
    """Return the user's accounts of one kind, one for each used currency."""
    return LedgerAccount.objects.filter(kind=kind, owner=user)


def credit_of(*, source: str, reference: str) -> CreditReference | None:
    """Return the credit for a payment, None if there is none."""
    references = CreditReference.objects.select_related("journal__wallet__owner")
    return references.filter(source=source, reference=reference).first()


def with_transfer_sums(accounts: QuerySet[LedgerAccount], *conditions: Q) -> "QuerySet[Any, Any]":
    """Return the accounts with `transfers_minor`, the sum of their transfers that meet the conditions."""
    moved = Transfer.objects.filter(*conditions)
    credited = subquery_sum(moved.filter(credit=OuterRef("pk")), "amount_minor", by="credit")
    debited = subquery_sum(moved.filter(debit=OuterRef("pk")), "amount_minor", by="debit")
    return accounts.annotate(transfers_minor=credited - debited)


def with_earnings(accounts: QuerySet[LedgerAccount]) -> "QuerySet[Any, Any]":
    """Return vendors' accounts with `unpaid_minor`, as `unpaid_earnings` returns it.

    It is the balance, which includes all journals that a digest covers, plus those that none covers yet. These are searched among recent
    journals only: one that commits more than `MAX_TRANSACTION_DURATION` after it began is included once it is covered.
    """
    last_covered = CoveredJournal.objects.order_by("-ledger_digest", "-position").values_list("journal__at", flat=True).first()
    uncovered = Journal.objects.filter(vendor=OuterRef("pk"), covered__isnull=True)
    if last_covered is not None:
        uncovered = uncovered.filter(at__gt=last_covered - MAX_TRANSACTION_DURATION)
    return accounts.annotate(unpaid_minor=F("balance_minor") + subquery_sum(uncovered, "vendor_net_minor", by="vendor"))


def unpaid_earnings(account_id: uuid.UUID) -> int:
    """Return the earnings in a vendor's account that are not paid out, negative after refunds of paid ones."""
    return int(with_earnings(LedgerAccount.objects.filter(pk=account_id)).get().unpaid_minor)


def owed_by(user_id: uuid.UUID) -> dict[str, int]:
    """Return what a buyer owes for card payments that were returned, by currency."""
    accounts = with_transfer_sums(LedgerAccount.objects.filter(kind=AccountKind.RECEIVABLE, owner=user_id))
    return {account.currency: -account.transfers_minor for account in accounts.order_by("currency") if account.transfers_minor < 0}


def collected_from(credit: Journal) -> int:
    """Return how much of a credit was taken at once to repay what the owner of the wallet owed."""
    later = Journal.objects.filter(wallet=credit.wallet, wallet_entry=(credit.wallet_entry or 0) + 1, kind=JournalKind.REPAYMENT)
    return -(later.values_list("wallet_net_minor", flat=True).first() or 0)


def earnings_of(user: User) -> list[Any]:
    """Return a vendor's accounts with `unpaid_minor`, one for each currency with earnings."""
    return list(with_earnings(accounts_of(user, AccountKind.VENDOR)))


def vendor_accounts(*, currency: str, store_slug: str | None = None) -> QuerySet[LedgerAccount]:
    """Return the accounts of vendors in a currency with their owners and stores, by store."""
    accounts = LedgerAccount.objects.filter(kind=AccountKind.VENDOR, currency=currency).select_related("owner__store")
    return (accounts if store_slug is None else accounts.filter(owner__store__slug=store_slug)).order_by("owner__store__slug")


def accounts_to_pay() -> QuerySet[LedgerAccount]:
    """Return vendors' accounts with earnings, as of the last digest, for staff's lists; a payout run asks `accounts_due`."""
    return LedgerAccount.objects.filter(kind=AccountKind.VENDOR, balance_minor__gt=0)


def accounts_due(*, currency: str, minimum_minor: int) -> QuerySet[Any]:
    """Return vendors' accounts in a currency with earnings of at least an amount, as `unpaid_minor`, by their stores."""
    return with_earnings(vendor_accounts(currency=currency)).filter(unpaid_minor__gte=max(minimum_minor, 1))


def due_sums(*, currency: str, minimum_minor: int) -> dict[str, int]:
    """Return the number and the total of the accounts that are due, without checking whether each can be paid."""
    due = accounts_due(currency=currency, minimum_minor=minimum_minor)
    return due.order_by().aggregate(count=Count("pk"), total=Sum("unpaid_minor", default=0))


def vendor_payouts() -> QuerySet[VendorPayout]:
    """Return the payouts to vendors, newest first, with their relations."""
    return VendorPayout.objects.select_related("batch", "journal", "account__owner__store", "details").order_by("-id")


def wallet_payouts() -> QuerySet[WalletPayout]:
    """Return the wallet payouts with their relations."""
    return WalletPayout.objects.select_related("hold", "closing_journal__actor", "wallet__owner")


def wallet_payout_of(user: User, wallet_payout_id: uuid.UUID) -> WalletPayout:
    """Return a user's wallet payout.

    Raises:
        NotFound: it is not theirs.
    """
    wallet_payout = wallet_payouts().filter(wallet__owner=user, pk=wallet_payout_id).first()
    if wallet_payout is None:
        raise NotFound
    return wallet_payout


def open_wallet_payouts_of(user_id: uuid.UUID) -> QuerySet[WalletPayout]:
    """Return a user's waiting wallet payouts, at most one for each currency."""
    return wallet_payouts().filter(wallet__owner=user_id, status=WalletPayoutStatus.WAITING).order_by("wallet__currency")


def refund_requests() -> QuerySet[RefundRequest]:
    """Return the refund requests with their orders, buyers and vendors."""
    return RefundRequest.objects.select_related("order__buyer", "order__quote", "vendor")


def refund_requests_to(vendor: User) -> QuerySet[RefundRequest]:
    """Return the refund requests for a vendor's sales, newest first."""
    return refund_requests().filter(vendor=vendor).order_by("-asked_at", "-id")
