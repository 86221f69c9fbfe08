"""Forms of the account pages: where they differ from allauth's."""

from typing import TYPE_CHECKING, Any

from allauth.account import forms as account
from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
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
NEW_PASSWORD_LABELS = {"password1": "New password", "password2": "New password (again)"}
PASSWORD_RULES = "At least 10 characters; not only digits, not a common password, not similar to your email address."


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


class SignupForm(LabelsMixin, account.SignupForm):  # type: ignore[misc]  # allauth ships no types
    """Takes as long for an email address with an account as for one without."""

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Create the account; if there is one, only hash the password, so that page and response time are the same."""
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])
        user, response = super().try_save(request)
        return user, response


class AddEmailForm(LabelsMixin, account.AddEmailForm):  # type: ignore[misc]  # allauth ships no types
    """Adds an address, and notifies the primary one."""

    def save(self, request: HttpRequest) -> EmailAddress:
        """Add the address. The notification does not reveal whether another account has it."""
        added = super().save(request)
        details = {"added_email": added.email}
        get_adapter(request).send_notification_mail("account/email/email_added", self.user, details, email=self.user.email)
        return added


def _labelled(form: type[Form], **labels: str) -> type[Form]:
    """Return a form of the library with our labels."""
    return type(form.__name__, (LabelsMixin, form), {"labels": LABELS | labels})


LoginForm = _labelled(account.LoginForm)
ChangePasswordForm = _labelled(account.ChangePasswordForm, **NEW_PASSWORD_LABELS)
ResetPasswordForm = _labelled(account.ResetPasswordForm)
ResetPasswordKeyForm = _labelled(account.ResetPasswordKeyForm, **NEW_PASSWORD_LABELS)
ReauthenticateForm = _labelled(account.ReauthenticateForm)
AuthenticateForm = _labelled(second_factor.AuthenticateForm)
ReauthenticateByCodeForm = _labelled(second_factor.ReauthenticateForm)
ActivateTOTPForm = _labelled(totp.ActivateTOTPForm, code="Code that the app shows")
