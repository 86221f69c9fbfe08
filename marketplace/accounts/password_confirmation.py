"""Asks a signed-in user for the password again."""

from typing import Any

from allauth.core import ratelimit
from django import forms

from .pages import SignedInRequest


def password_error(request: SignedInRequest, password: str) -> str:
    """Return why a password is refused, empty if it is right; attempts count against the rate limit of signing in again."""
    if not ratelimit.consume(request, action="reauthenticate", user=request.user):
        return "You have tried too often. Wait a minute, then try again."
    return "" if request.user.check_password(password) else "The password is incorrect."


class PasswordConfirmationForm(forms.Form):
    """Asks for the password again before a program may spend money, or money is paid out."""

    needed_for = "a token that can spend your money"

    password = forms.CharField(
        label="Your password",
        help_text="Required again because the token can spend your money.",
        strip=False,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, *args: Any, request: SignedInRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._request = request
        self.password_confirmed = False

    def require_password(self) -> None:
        """Add an error unless the password is right. It is checked only once the rest is right, because each try counts."""
        if self.errors:
            return
        error = password_error(self._request, self.cleaned_data.get("password", ""))
        self.password_confirmed = not error
        if error:
            self.add_error("password", f"{error} The password is required for {self.needed_for}.")


class PasswordForm(PasswordConfirmationForm):
    """Asks for the password in any case."""

    password_help = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].required = True
        self.fields["password"].help_text = self.password_help

    def clean(self) -> None:
        super().clean()
        self.require_password()
