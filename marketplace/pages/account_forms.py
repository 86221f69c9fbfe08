"""Forms of the account page."""

from collections.abc import Callable
from typing import Any

from django import forms

from marketplace.accounts.models import User
from marketplace.core import bounds


class NameForm(forms.Form):
    """How one is greeted."""

    name = forms.CharField(
        label="Name",
        max_length=bounds.NAME_CHARS,
        required=False,
        help_text="How we address you on the site and in mails. Nobody else sees it.",
    )


class DeletionForm(forms.Form):
    """The address and the password, typed once more."""

    email = forms.CharField(
        label="Enter your e-mail address to confirm",
        max_length=254,
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "email"}),
    )
    password = forms.CharField(
        label="Password", strip=False, max_length=1_000, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )

    def __init__(self, *args: Any, user: User, password_is_right: Callable[[str], bool], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self.password_is_right = password_is_right

    def clean_email(self) -> str:
        """Take the account's own address only."""
        email = str(self.cleaned_data["email"]).strip().lower()
        if email != self.user.email:
            raise forms.ValidationError("That is not the address of this account.", code="other_address")
        return email

    def clean(self) -> dict[str, Any]:
        """Ask for the password once the address is right: each try counts."""
        cleaned = super().clean() or {}
        if not self.errors and not self.password_is_right(cleaned["password"]):
            self.add_error("password", forms.ValidationError("That is not your password.", code="wrong_password"))
        return cleaned
