"""Apps: narrow, suspend, reinstate, reject."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from unfold.enums import ActionVariant
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from marketplace.accounts.models import User
from marketplace.core.admin import Decision, Panel, ReasonForm, ServiceAdmin, decision
from marketplace.core.scopes import Scope

from ..models import App
from ..selectors import keys_of, scope_rows_of
from ..services import apps as services
from ..services.states import APP

DECIDE = "developers.decide_app"
SUSPEND = "developers.suspend_app"
_DECISIONS = {None: "waits", True: "granted", False: "refused"}


class NarrowForm(ReasonForm):
    """Which granted scopes are taken back, and why."""

    scopes = forms.MultipleChoiceField(widget=UnfoldAdminCheckboxSelectMultipleWidget)
    field_order = ("scopes", "reason")

    def __init__(self, *args: Any, subject: App, **kwargs: Any) -> None:
        super().__init__(*args, subject=subject, **kwargs)
        self.fields["scopes"].choices = [(scope.value, scope.value) for scope in Scope if scope in subject.scopes]  # type: ignore[attr-defined]  # it is a choice field


def _allows(verb: str) -> Callable[[Any], bool]:
    return partial(APP.allows, verb=verb)


@admin.register(App)
class AppAdmin(ServiceAdmin):
    """Programs of developers and what they were granted."""

    list_display = ("name", "user", "status", "granted_scopes", "created")
    list_filter = ("status",)
    list_select_related = ("user",)
    search_fields = ("name", "user__email")
    ordering = ("-id",)
    fields = ("name", "user", "status", "status_reason", "purpose", "granted_scopes", "client_id", "redirect_uris", "created", "updated")
    actions_detail = ("narrow", "suspend", "reinstate", "reject")

    def panels(self, request: HttpRequest, subject: App) -> list[Panel]:
        """Return the scopes, the keys and the history."""
        scopes = [(row.scope, row.reason, _DECISIONS[row.granted], row.note) for row in scope_rows_of(subject)]
        keys = [(key.name, f"…{key.last_four}", key.scope, key.last_used_at, "live" if key.live else "ended") for key in keys_of(subject)]
        return [
            Panel("Scopes", ("Scope", "Why", "Decision", "Note"), scopes),
            Panel("API keys", ("Name", "Ends in", "Scopes", "Last used", "State"), keys),
            *super().panels(request, subject),
        ]

    @decision(
        Decision(
            "Narrow scopes",
            DECIDE,
            "Keys and tokens of the app lose these scopes at their next request.",
            "The scopes are taken back.",
            form=NarrowForm,
            available=lambda app: bool(app.granted_scopes),
            variant=ActionVariant.WARNING,
        )
    )
    def narrow(self, app: App, actor: User, answers: Mapping[str, Any]) -> None:
        """Take granted scopes back."""
        services.narrow_scopes(app=app, revoke={Scope(scope): answers["reason"] for scope in answers["scopes"]}, actor=actor)

    @decision(
        Decision(
            "Suspend",
            SUSPEND,
            "Keys and tokens of the app stop at once; its grant is kept for its return.",
            "The app is suspended.",
            available=_allows("suspend"),
            variant=ActionVariant.DANGER,
        )
    )
    def suspend(self, app: App, actor: User, answers: Mapping[str, Any]) -> None:
        """Suspend the app."""
        services.suspend_app(app=app, reason=answers["reason"], actor=actor)

    @decision(
        Decision(
            "Reinstate",
            SUSPEND,
            "Keys and tokens of the app that were not revoked work again.",
            "The app is reinstated.",
            available=_allows("reinstate"),
        )
    )
    def reinstate(self, app: App, actor: User, answers: Mapping[str, Any]) -> None:
        """Let the app go on."""
        services.reinstate_app(app=app, reason=answers["reason"], actor=actor)

    @decision(
        Decision(
            "Reject",
            DECIDE,
            "Every scope that the app asks for is refused.",
            "The app is rejected.",
            available=_allows("reject"),
            variant=ActionVariant.DANGER,
        )
    )
    def reject(self, app: App, actor: User, answers: Mapping[str, Any]) -> None:
        """Refuse the app."""
        services.reject_app(app=app, reason=answers["reason"], actor=actor)
