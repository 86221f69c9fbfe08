"""Forms of the account pages: where they differ from allauth's."""

from typing import TYPE_CHECKING, Any

from allauth.account import forms as account
from allauth.mfa.base import forms as second_factor
from allauth.mfa.totp import forms as totp
from django.contrib.auth.hashers import make_password
from django.forms import Form
from django.http import HttpRequest, HttpResponse

from .models import User

if TYPE_CHECKING:
    _Base = Form
else:
    _Base = object

LABELS = {
    "email": "Email",
    "login": "Email",
    "remember": "Stay signed in on this device",
    "oldpassword": "Current password",
    "code": "Code",
}
# Labels where a password is replaced.
NEW = {"password1": "New password", "password2": "New password (again)"}
PASSWORD_RULES = "At least 10 characters; not only digits, not a common password, not similar to your e-mail address."


class LabelsMixin(_Base):
    """Replaces the library's labels and placeholders by our labels."""

    labels = LABELS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.widget.attrs.pop("placeholder", None)
            field.label = self.labels.get(name, field.label)
            if name == "password1":
                field.help_text = PASSWORD_RULES


class LoginForm(LabelsMixin, account.LoginForm):  # type: ignore[misc]  # allauth ships no types
    """Signs in."""


class SignupForm(LabelsMixin, account.SignupForm):  # type: ignore[misc]  # as above
    """Takes as long for an address that has an account as for one that has none."""

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Create the account; if there is one, only hash the password, so that page and response time are the same."""
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])
        user, response = super().try_save(request)
        return user, response


class AddEmailForm(LabelsMixin, account.AddEmailForm):  # type: ignore[misc]  # as above
    """Adds an address."""


class ChangePasswordForm(LabelsMixin, account.ChangePasswordForm):  # type: ignore[misc]  # as above
    """Changes the password."""

    labels = LABELS | NEW


class ResetPasswordForm(LabelsMixin, account.ResetPasswordForm):  # type: ignore[misc]  # as above
    """Asks for a link."""


class ResetPasswordKeyForm(LabelsMixin, account.ResetPasswordKeyForm):  # type: ignore[misc]  # as above
    """Chooses a new password behind the link."""

    labels = LABELS | NEW


class ReauthenticateForm(LabelsMixin, account.ReauthenticateForm):  # type: ignore[misc]  # as above
    """Asks for the password once more."""


class AuthenticateForm(LabelsMixin, second_factor.AuthenticateForm):  # type: ignore[misc]  # as above
    """Asks for the code at sign-in."""


class CodeAgainForm(LabelsMixin, second_factor.ReauthenticateForm):  # type: ignore[misc]  # as above
    """Asks for the code once more."""


class ActivateTOTPForm(LabelsMixin, totp.ActivateTOTPForm):  # type: ignore[misc]  # as above
    """Sets up an authenticator app."""

    labels = LABELS | {"code": "Code that the app shows"}
