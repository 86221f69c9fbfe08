"""Wallets in the admin: credit one, and view its journals."""

import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.http import HttpRequest

from marketplace.accounts.models import User
from marketplace.core.money import Currency, to_minor
from marketplace.review.decisions import Decision, ReasonForm, decision, service_decision
from marketplace.review.panels import Panel
from marketplace.review.service import ServiceAdmin
from marketplace.ui.formatting import money

from .. import bounds
from ..models import LedgerAccount, WalletOwner
from ..models.ledger import AccountKind
from ..models.quotes import CURRENCIES
from ..selectors import accounts_of, accounts_to_pay, journals_of, owed_by
from ..services.funding import DEFAULT_SOURCE, Payment, credit_wallet
from ..services.receivables import write_off
from .effects import credit_effects
from .lists import OneChoiceFilter

CREDIT, WRITE_OFF = "wallet.credit_wallet", "wallet.write_off_debt"
JOURNAL_ROWS = 50
JOURNAL_COLUMNS = ("At (UTC)", "Kind", "Amount", "Balance after", "Reason", "Reference", "Who")


def journal_rows(account: LedgerAccount) -> list[tuple[Any, ...]]:
    """Return the last journals that moved a wallet, as rows with the columns `JOURNAL_COLUMNS`."""
    journals: QuerySet[Any] = journals_of(account).select_related("actor").annotate(reference=F("credit_reference__reference"))
    return [
        (
            f"{journal.at:%Y-%m-%d %H:%M}",
            journal.kind,
            money(journal.wallet_net_minor or 0, account.currency),
            money(journal.wallet_balance_minor or 0, account.currency),
            journal.reason,
            journal.reference or "",
            journal.actor,
        )
        for journal in journals[:JOURNAL_ROWS]
    ]


def _balance(owner: Any, currency: Currency) -> str:
    return money(getattr(owner, f"{currency.lower()}_minor") or 0, currency)


class CreditForm(ReasonForm):
    """Amount and reason. The hidden idempotency key prevents a double credit if the form is sent twice."""

    currency = forms.ChoiceField(choices=[(code, code) for code in CURRENCIES])
    amount = forms.DecimalField(
        min_value=Decimal("0.01"),
        max_value=bounds.MAX_CREDIT_MINOR // 100,
        max_digits=14,
        decimal_places=2,
    )
    reference = forms.CharField(
        required=False,
        max_length=bounds.PAYMENT_REFERENCE_CHARS,
        help_text="The number of the payment, such as that of a bank transfer. A payment that has one is credited once.",
    )
    source = forms.CharField(
        required=False, initial=DEFAULT_SOURCE, max_length=bounds.CREDIT_SOURCE_CHARS, help_text="Where that number comes from."
    )
    key = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)
    field_order = ("currency", "amount", "reference", "source", "reason", "key")


class EarningsFilter(OneChoiceFilter):
    """Filters users by earnings that are not paid out."""

    title = parameter_name = "earnings"
    choice = ("due", "To pay out")
    chosen_ids = staticmethod(lambda: accounts_to_pay().values("owner"))


class DebtFilter(OneChoiceFilter):
    """Filters users by what they owe for returned card payments, as of the last digest."""

    title = parameter_name = "debt"
    choice = ("owed", "Owes money")
    chosen_ids = staticmethod(lambda: LedgerAccount.objects.filter(kind=AccountKind.RECEIVABLE, balance_minor__lt=0).values("owner"))


class WriteOffForm(ReasonForm):
    """The currency of the debt, and the reason."""

    currency = forms.ChoiceField()
    field_order = ("currency", "reason")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        owed = owed_by(self.subject.pk)
        self.fields["currency"] = forms.ChoiceField(choices=[(code, money(amount, code)) for code, amount in owed.items()], label="Debt")


@admin.register(WalletOwner)
class WalletAdmin(ServiceAdmin):
    """Users with the balances of their wallets."""

    list_display = ("email", "name", "balance_inr", "balance_usd", "date_joined")
    list_filter = (EarningsFilter, DebtFilter)
    search_fields = ("email", "name")
    ordering = ("email",)
    fields = ("email", "name", "balance_inr", "balance_usd", "owed")
    readonly_fields = ("balance_inr", "balance_usd", "owed")
    decision_names = ("credit", "write_off")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Add the balances, `inr_minor` and `usd_minor`; null for a currency that was never used."""
        balances = LedgerAccount.objects.filter(kind=AccountKind.WALLET, owner=OuterRef("pk")).values("balance_minor")
        columns = {f"{code.lower()}_minor": Subquery(balances.filter(currency=code)) for code in CURRENCIES}
        owners: QuerySet[Any] = super().get_queryset(request).annotate(**columns)
        return owners

    @admin.display(description="INR balance")
    def balance_inr(self, owner: WalletOwner) -> str:
        return _balance(owner, Currency.INR)

    @admin.display(description="USD balance")
    def balance_usd(self, owner: WalletOwner) -> str:
        return _balance(owner, Currency.USD)

    @admin.display(description="Owed for returned card payments", empty_value="nothing")
    def owed(self, owner: WalletOwner) -> str:
        return ", ".join(money(amount, code) for code, amount in owed_by(owner.pk).items())

    def panels(self, request: HttpRequest, subject: Any) -> list[Panel]:
        return [Panel(f"Transactions in {account.currency}", JOURNAL_COLUMNS, journal_rows(account)) for account in accounts_of(subject)]

    @decision(
        Decision(
            "Credit wallet",
            CREDIT,
            "The amount can be spent at once. The reason is stored permanently in the ledger.",
            "The wallet was credited.",
            CreditForm,
            effects=credit_effects,
        )
    )
    def credit(self, owner: WalletOwner, actor: User, cleaned_data: Mapping[str, Any]) -> None:
        credit_wallet(
            user=owner,
            currency=cleaned_data["currency"],
            amount_minor=to_minor(cleaned_data["amount"]),
            reason=cleaned_data["reason"],
            actor=actor,
            payment=Payment(cleaned_data["reference"], cleaned_data["source"] or DEFAULT_SOURCE) if cleaned_data["reference"] else None,
            idempotency_key=str(cleaned_data["key"]),
        )

    write_off = service_decision(
        Decision(
            "Write off debt",
            WRITE_OFF,
            "It is not collected from later credit any more, and counts as the marketplace's loss. The reason is stored permanently in the ledger.",
            "The debt was written off.",
            WriteOffForm,
            available=lambda owner: bool(owed_by(owner.pk)),
            danger=True,
        ),
        write_off,
        "user",
    )
