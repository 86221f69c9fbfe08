"""Forms of the account and wallet pages."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django import forms

from developers.dashboard.limit_forms import AMOUNT_LABELS, amount_field
from developers.services.spending import LimitValues
from marketplace.accounts.models import MailTopic
from marketplace.accounts.pages import SignedInRequest
from marketplace.accounts.password_confirmation import PasswordConfirmationForm, PasswordForm, password_error
from marketplace.core import bounds as core_bounds
from marketplace.core.money import Currency, to_minor
from marketplace.ui.formatting import money
from marketplace.ui.forms import Prose
from wallet import bounds as wallet_bounds


class NameForm(forms.Form):
    """Asks for the user's name."""

    name = forms.CharField(
        label="Name",
        max_length=core_bounds.NAME_CHARS,
        required=False,
        help_text="How we address you. It is also on invoices if you enter no billing details, and users of your apps see it if you name no company.",
    )


class MailTopicsForm(forms.Form):
    """Asks which mails the user wants, by topic."""

    topics = forms.MultipleChoiceField(
        label="Send me emails about", choices=MailTopic.choices, required=False, widget=forms.CheckboxSelectMultiple
    )


class DeletionForm(forms.Form):
    """Asks for the email address and the password, to confirm the deletion."""

    email = forms.CharField(
        label="Enter your email address to confirm",
        max_length=254,
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "email"}),
    )
    password = forms.CharField(
        label="Password", strip=False, max_length=1_000, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )

    def __init__(self, *args: Any, request: SignedInRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._request = request

    def clean_email(self) -> str:
        """Accept the account's own address only."""
        email = str(self.cleaned_data["email"]).strip().lower()
        if email != self._request.user.email:
            raise forms.ValidationError("That is not the address of this account.", code="other_address")
        return email

    def clean(self) -> None:
        """Check the password only once the address is right: each try counts."""
        super().clean()
        if not self.errors and (error := password_error(self._request, self.cleaned_data["password"])):
            self.add_error("password", error)


class TopUpForm(forms.Form):
    """Asks for the amount and the currency of a top-up.

    Args:
        currencies: The currencies in which credit can be added.
    """

    currency = forms.ChoiceField(label="Currency", widget=forms.RadioSelect)
    amount = forms.DecimalField(
        label="Amount",
        min_value=Decimal(wallet_bounds.MIN_TOP_UP_MINOR) / 100,
        max_digits=14,
        decimal_places=2,
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    # The purchase that waits for the credit.
    quote = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, currencies: Sequence[Currency], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labels = {Currency.INR: "Rupees (INR)", Currency.USD: "US dollars (USD)"}
        self.fields["currency"].choices = [(code.value, labels[code]) for code in currencies]  # type: ignore[attr-defined]  # a choice field


class ApprovalForm(PasswordConfirmationForm):
    """Asks the owner of the wallet to approve a purchase once, or to raise the limit as well.

    `limit` has the amounts that the form begins with.
    """

    needed_for = "a purchase of this price, and for a higher limit"

    decision = forms.ChoiceField(choices=[("once", "Once"), ("raise", "And raise the limit")], widget=forms.HiddenInput)

    def __init__(self, *args: Any, limit: LimitValues, with_password: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.limit = limit
        self.with_password = with_password
        for name, label in AMOUNT_LABELS.items():
            self.fields[name] = amount_field(label, getattr(limit, name))
        self.fields["password"].help_text = "Required because of the price." if with_password else "Required to raise the limit."

    @property
    def amounts(self) -> list[forms.BoundField]:
        """The fields of the limit."""
        return [self[name] for name in AMOUNT_LABELS]

    def clean(self) -> None:
        super().clean()
        if self.with_password or self.cleaned_data.get("decision") == "raise":
            self.require_password()

    def raised_limit(self) -> LimitValues | None:
        """Return the limit to set; None if the purchase is approved once."""
        if self.cleaned_data["decision"] == "once":
            return None
        amounts: dict[str, Any] = {name: None if (typed := self.cleaned_data[name]) is None else to_minor(typed) for name in AMOUNT_LABELS}
        return replace(self.limit, **amounts)


class WalletPayoutForm(PasswordForm):
    """Asks for the currency, the amount and the bank details of a wallet payout.

    `balances` has for each currency the balance of the wallet and the part of it that can be paid out.
    """

    needed_for = "taking money out of the wallet"
    password_help = "Required again because this takes money out of your wallet."

    currency = forms.ChoiceField(label="From", widget=forms.RadioSelect)
    amount = forms.DecimalField(
        label="Amount",
        required=False,
        min_value=Decimal("0.01"),
        max_digits=14,
        decimal_places=2,
        help_text="Leave empty to pay out all that was not paid by card.",
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}),
    )
    payment_details = Prose(
        label="Pay to",
        max_length=wallet_bounds.BANK_DETAILS_CHARS,
        help_text="For example: account holder, account number and bank. Only the staff who make the payment can see it. It is deleted if nothing "
        f"is paid, and {wallet_bounds.BANK_DETAILS_DAYS} days after a payment.",
        widget=forms.Textarea(attrs={"rows": 4, "autocomplete": "off"}),
    )
    field_order = ("currency", "amount", "payment_details", "password")

    def __init__(self, *args: Any, balances: Mapping[str, tuple[int, int]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["currency"].choices = [  # type: ignore[attr-defined]  # it is a choice field
            (currency, _balance_label(balance, payable, currency)) for currency, (balance, payable) in balances.items()
        ]
        self.fields["currency"].initial = next(iter(balances), None)

    def wanted_minor(self) -> int | None:
        """Return the amount in minor units; None for all that was not paid by card."""
        amount = self.cleaned_data["amount"]
        return None if amount is None else to_minor(amount)


def _balance_label(balance: int, payable: int, currency: str) -> str:
    if payable == balance:
        return money(balance, currency)
    return f"{money(payable, currency)} of {money(balance, currency)}; the rest was paid by card: ask us to return it to the card"
