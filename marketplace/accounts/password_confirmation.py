"""Asks a signed-in user for the password again."""

from typing import Any

from allauth.core import ratelimit
from django import forms

from .pages import SignedInRequest


def password_is_right(request: SignedInRequest, password: str) -> bool:
    """Tell whether the password is right; attempts count against the rate limit of signing in again."""
    return bool(ratelimit.consume(request, action="reauthenticate", user=request.user)) and request.user.check_password(password)


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
        """Add an error unless the password is right."""
        self.password_confirmed = password_is_right(self._request, self.cleaned_data.get("password", ""))
        if not self.password_confirmed:
            self.add_error("password", f"The password is incorrect. It is required for {self.needed_for}.")
