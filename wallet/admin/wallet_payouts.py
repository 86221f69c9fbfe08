"""Wallet payouts in the admin: requests to pay or to refuse. Bank details are shown to those who may pay."""

from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from marketplace.review.claims import is_claimed
from marketplace.review.decisions import CLAIMING, Decision, DecisionForm, claiming, service_decision
from marketplace.review.panels import Panel
from marketplace.review.queues import QueueAdmin
from marketplace.review.search import SearchQuery

from .. import bounds
from ..models import WalletPayout
from ..models.wallet_payouts import WalletPayoutStatus
from ..services.wallet_payouts import WALLET_PAYOUT_TRANSITIONS, pay_wallet_payout, refuse_wallet_payout
from .effects import wallet_payout_effects, wallet_payout_refusal_effects
from .lists import email_or_deleted, money_column
from .vendor_payouts import CurrencyFilter
from .wallets import JOURNAL_COLUMNS, journal_rows

DECIDE = "wallet.decide_walletpayout"
_waits = partial(WALLET_PAYOUT_TRANSITIONS.allows, verb="pay")
# Number of columns shown of a journal; there is no room for all of them beside the forms.
SHOWN_COLUMNS = 4


class PaymentForm(DecisionForm):
    """The reference of the payment."""

    reference = forms.CharField(
        max_length=bounds.PAYMENT_REFERENCE_CHARS,
        help_text="The bank's reference for the payment. It is mailed to the owner and recorded in the ledger.",
    )


class WalletCurrencyFilter(CurrencyFilter):
    """Filters by the currency of the wallet."""

    field_path = "wallet__currency"


@admin.register(WalletPayout)
class WalletPayoutAdmin(QueueAdmin):
    """Requests of owners to be paid out of their wallets."""

    waiting = {"status": WalletPayoutStatus.WAITING}
    waiting_since = "requested_at"
    list_display = ("requested_at", "asked_by", "amount", "status", "waiting_time", "claim_mark")
    list_filter = ("status", WalletCurrencyFilter)
    list_select_related = ("hold", "closing_journal__actor", "wallet__owner", "claimed_by")
    search_fields = ("wallet__owner__email", "reference")
    fields = ("asked_by", "amount", "status", "requested_at", "reference", "reason")
    readonly_fields = ("asked_by", "amount")
    decision_names = ("pay", "refuse", *CLAIMING)
    owner, noun, review_permission = "wallet__owner", "wallet_payout", DECIDE
    page_decisions = {"pay": "a", "refuse": "r"}
    kept_parameters = ("status__exact", "currency", "q")
    claim, take_over, release = claiming(DECIDE, _waits)
    found_title, found_detail = "wallet__owner__email", "status"
    amount = money_column("Amount", "amount_minor")

    def name(self, subject: WalletPayout) -> str:
        return f"{self.asked_by(subject)}: {self.amount(subject)}"

    def find(self, query: SearchQuery) -> list[Q]:
        if query.id:
            return [Q(pk=query.id)]
        return [Q(wallet__owner__email=query.email)] if query.email else [Q(reference=query.text)]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Add the bank details for users who may pay."""
        return (*super().get_fields(request, obj), *(("pay_to",) if request.user.has_perm(DECIDE) else ()))

    @admin.display(description="Requested by", ordering="wallet__owner__email")
    def asked_by(self, wallet_payout: WalletPayout) -> str:
        return email_or_deleted(wallet_payout.wallet.owner)

    @admin.display(description="Pay to")
    def pay_to(self, wallet_payout: WalletPayout) -> str:
        """Return the bank details, until they are erased; those of a waiting payout once it is claimed."""
        if _waits(wallet_payout) and not is_claimed(wallet_payout):
            return "shown once it is claimed"
        return wallet_payout.payment_details or "deleted"

    def panels(self, request: HttpRequest, subject: WalletPayout) -> list[Panel]:
        rows = [row[:SHOWN_COLUMNS] for row in journal_rows(subject.wallet)]
        return [Panel(f"Transactions in {subject.currency}", JOURNAL_COLUMNS[:SHOWN_COLUMNS], rows), *super().panels(request, subject)]

    pay = service_decision(
        Decision(
            "Record as paid",
            DECIDE,
            "You confirm that you paid it. The amount that was set aside counts as paid out; this cannot be undone.",
            "It is paid.",
            PaymentForm,
            available=_waits,
            effects=wallet_payout_effects,
        ),
        pay_wallet_payout,
        "wallet_payout",
    )

    refuse = service_decision(
        Decision(
            "Refuse",
            DECIDE,
            "Nothing is paid, and the amount returns to the wallet at once.",
            "It is refused.",
            available=_waits,
            danger=True,
            effects=wallet_payout_refusal_effects,
        ),
        refuse_wallet_payout,
        "wallet_payout",
    )
