"""Forms that create and rotate keys and tokens. They check the shape of the input; services check the rules."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils import timezone

from marketplace.accounts.password_confirmation import PasswordConfirmationForm
from marketplace.core.scopes import APP_SCOPES, PERSONAL_SCOPES, Scope

from .. import bounds
from ..audiences import Audience
from .forms import scope_choices
from .limit_forms import LimitsForm

_LIFETIMES = ((7, "7 days"), (30, "30 days"), (90, "90 days"), (180, "180 days"), (365, "1 year"))
_OVERLAPS = ((7, "in 7 days"), (1, "in a day"), (30, "in 30 days"), (0, "at once"))


def _days(typed: str) -> timedelta:
    return timedelta(days=int(typed))


class TokenForm(PasswordConfirmationForm, LimitsForm):
    """Describes a new token without an app, for the API or, as the audience says, for the MCP server."""

    name = forms.CharField(label="Name", max_length=bounds.CREDENTIAL_NAME_CHARS, help_text="What the token is for, such as “my script”.")
    scopes = forms.MultipleChoiceField(
        label="Scopes",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one scope."},
    )
    lifetime = forms.TypedChoiceField(label="Expires after", choices=_LIFETIMES, coerce=_days, initial=30)

    def __init__(self, *args: Any, audience: Audience = Audience.API, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._audience = audience
        # An MCP token can have what an app can.
        offered = APP_SCOPES if audience == Audience.MCP else PERSONAL_SCOPES
        self.fields["scopes"].choices = scope_choices(offered)  # type: ignore[attr-defined]  # it is the field declared above

    def clean(self) -> None:
        """Require the password and a limit for a token that can spend."""
        super().clean()
        if Scope.WALLET_SPEND in self.cleaned_data.get("scopes", ()):
            self.require_limit()
            self.require_password()

    def values(self) -> dict[str, Any]:
        """Return the arguments of `issue_token_without_app`."""
        return {
            "name": self.cleaned_data["name"],
            "scopes": frozenset(map(Scope, self.cleaned_data["scopes"])),
            "expires_at": timezone.now() + self.cleaned_data["lifetime"],
            "audience": self._audience,
            "password_confirmed": self.password_confirmed,
            "limits": self.limits(),
        }


class _SpendingCredentialForm(PasswordConfirmationForm):
    """Asks for the password if the new credential can spend money."""

    def __init__(self, *args: Any, spends: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._spends = spends
        if spends:
            self.fields["password"].help_text = f"Required again for {self.needed_for}."
            self.order_fields([name for name in self.fields if name != "password"])
        else:
            del self.fields["password"]

    def clean(self) -> None:
        super().clean()
        if self._spends:
            self.require_password()


class KeyForm(_SpendingCredentialForm):
    """Names a new API key."""

    needed_for = "a key that can spend your money"

    name = forms.CharField(
        label="Name", max_length=bounds.CREDENTIAL_NAME_CHARS, help_text="Where the key will be used, such as “build server”."
    )
    lifetime = forms.TypedChoiceField(
        label="Expires after", choices=[("", "Never"), *_LIFETIMES], coerce=_days, empty_value=None, required=False
    )

    def values(self) -> dict[str, Any]:
        """Return the arguments of `issue_api_key`."""
        lifetime = self.cleaned_data["lifetime"]
        return {"name": self.cleaned_data["name"], "expires_at": None if lifetime is None else timezone.now() + lifetime}


class MCPTokenForm(_SpendingCredentialForm):
    """Names a new MCP token."""

    name = forms.CharField(
        label="Name", max_length=bounds.CREDENTIAL_NAME_CHARS, help_text="Which assistant will use it, such as “desk assistant”."
    )
    lifetime = forms.TypedChoiceField(label="Expires after", choices=_LIFETIMES, coerce=_days, initial=90)

    def values(self) -> dict[str, Any]:
        """Return the arguments of `issue_mcp_token`."""
        expires_at = timezone.now() + self.cleaned_data["lifetime"]
        return {"name": self.cleaned_data["name"], "expires_at": expires_at, "password_confirmed": self.password_confirmed}


class RotateForm(_SpendingCredentialForm):
    """Asks how long the old key or token stays valid."""

    needed_for = "a successor that can spend your money"

    overlap = forms.TypedChoiceField(label="The old one ends", choices=_OVERLAPS, coerce=_days, initial=7)
