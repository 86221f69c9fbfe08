"""Forms of the developer dashboard. They check the shape of the input; services check the rules."""

from collections.abc import Container
from typing import Any

from django import forms

from marketplace.core import bounds as core_bounds
from marketplace.core.scopes import APP_SCOPES, SCOPE_LABELS, Scope
from marketplace.ui.forms import Prose

from .. import bounds
from ..redirects import uri_error


def scope_choices(scopes: Container[Scope]) -> list[tuple[str, str]]:
    """Return the choices of a field for these scopes."""
    return [(scope.value, SCOPE_LABELS[scope]) for scope in Scope if scope in scopes]


class ApplicationForm(forms.Form):
    """Asks for developer access."""

    what = Prose(label="What are you building?", help_text="Two or three sentences: what it does and for whom.")
    why = Prose(label="Why does it need the API?", help_text="Which data or functions it uses.")
    company = forms.CharField(label="Company", max_length=core_bounds.NAME_CHARS, required=False)
    website = forms.URLField(label="Website", max_length=core_bounds.URL_CHARS, required=False, assume_scheme="https")


class AnswerForm(forms.Form):
    """Answers a reviewer's question."""

    text = Prose(label="Your answer", help_text="It goes back to the reviewer with your application.")


class ScopesForm(forms.Form):
    """Requests some of the available scopes for an app, each with a reason."""

    scopes = forms.MultipleChoiceField(
        label="Scopes",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one scope."},
    )

    def __init__(self, *args: Any, available: Container[Scope] = APP_SCOPES, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = scope_choices(available)
        self.fields["scopes"].choices = choices  # type: ignore[attr-defined]  # it is the field declared above
        for value, _label in choices:
            self.fields[_reason_name(value)] = forms.CharField(
                label="Why does the app need it?", max_length=core_bounds.REASON_CHARS, required=False
            )

    @property
    def rows(self) -> list[tuple[forms.boundfield.BoundWidget, forms.BoundField]]:
        """The checkbox of each scope, in the order of `Scope`, and the field for its reason."""
        return [(checkbox, self[_reason_name(checkbox.data["value"])]) for checkbox in self["scopes"]]

    def clean(self) -> None:
        """Require a reason for each requested scope."""
        super().clean()
        for value in self.cleaned_data.get("scopes", ()):
            name = _reason_name(value)
            if name not in self.errors and not self.cleaned_data.get(name):
                self.add_error(name, "Say why the app needs this scope.")

    def requested(self) -> dict[Scope, str]:
        return {Scope(value): self.cleaned_data[_reason_name(value)] for value in self.cleaned_data["scopes"]}


def _reason_name(scope: str) -> str:
    return f"reason_{scope.replace(':', '_')}"


class AppForm(ScopesForm):
    """Describes a new app and requests its scopes."""

    name = forms.CharField(label="Name", max_length=core_bounds.NAME_CHARS, help_text="Buyers and reviewers see it.")
    purpose = Prose(label="Purpose", help_text="What the app does for its users.")


class RedirectsForm(forms.Form):
    """Lists the redirect URIs of an app."""

    redirect_uris = forms.CharField(
        label="Redirect URIs",
        help_text=(
            "One per line, exactly as the app sends it. https only; for a program on the user's computer"
            " http://127.0.0.1, http://[::1] or http://localhost, where any port will do."
        ),
        max_length=(core_bounds.URL_CHARS + 2) * bounds.MAX_REDIRECT_URIS,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        required=False,
    )

    def clean_redirect_uris(self) -> list[str]:
        """Return the addresses; refuse one that cannot be registered."""
        uris = [line.strip() for line in self.cleaned_data["redirect_uris"].splitlines() if line.strip()]
        for uri in uris:
            if fault := uri_error(uri):
                raise forms.ValidationError(f"{uri[:200]}: {fault}")
        return uris
