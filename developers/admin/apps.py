"""Apps in the admin, with the decisions on them."""

from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from marketplace.core.scopes import Scope
from marketplace.review.decisions import Decision, ReasonForm, service_decision
from marketplace.review.panels import Panel
from marketplace.review.search import SearchQuery, starts_with
from marketplace.review.service import ServiceAdmin

from ..models import ApiKey, App
from ..models.apps import AppStatus
from ..selectors import app_limits_of, keys_of, mcp_tokens_of, open_scope_review_of
from ..services.apps import reinstate_app, suspend_app
from ..services.clients import reopen_client
from ..services.scopes import narrow_scopes, reject_app
from ..services.spending import remove_app_spending_limit, set_app_spending_limit
from ..services.states import APP_TRANSITIONS
from ..usage.selectors import is_dormant, unused_scopes, usage_of_app
from .effects import suspension_effects
from .spending_limits import AppLimitForm, RemoveLimitForm, app_limits_panel
from .usage import usage_context

DECIDE = "developers.decide_app"
SUSPEND = "developers.suspend_app"
APP_LIMIT = "developers.set_limit_app"
DECISION_LABELS = {None: "waits", True: "granted", False: "refused"}


class NarrowForm(ReasonForm):
    """Asks which granted scopes to withdraw, and why."""

    scopes = forms.TypedMultipleChoiceField(coerce=Scope, widget=forms.CheckboxSelectMultiple)
    field_order = ("scopes", "reason")

    def __init__(self, *args: Any, subject: App, **kwargs: Any) -> None:
        super().__init__(*args, subject=subject, **kwargs)
        self.fields["scopes"].choices = [(scope.value, scope.value) for scope in Scope if scope in subject.scopes]  # type: ignore[attr-defined]  # it is a choice field


def _state_of(key: ApiKey) -> str:
    if is_dormant(key):
        return "active, unused for 90 days"
    return "active" if key.is_active else "ended"


@admin.register(App)
class AppAdmin(ServiceAdmin):
    """Apps of developers and OAuth clients, with their scopes and credentials."""

    list_display = ("name", "user", "status", "granted_scopes", "created")
    list_filter = ("status",)
    list_select_related = ("user",)
    search_fields = ("name", "user__email")
    found_title, found_detail = "name", "status"
    fields = ("name", "user", "status", "status_reason", "purpose", "granted_scopes", "client_id", "redirect_uris", "created", "updated")
    decision_names = ("narrow", "suspend", "reinstate", "reject", "reopen", "set_limit", "remove_limit")
    row_template = "admin/developers/app_panels.html"

    def find(self, query: SearchQuery) -> list[Q]:
        """Search by id, client id, developer's email address or beginning of the name."""
        if query.id:
            return [Q(pk=query.id)]
        return [Q(user__email=query.email)] if query.email else [Q(client_id=query.text), starts_with("name", query.text)]

    def page_context(self, request: HttpRequest, subject: App) -> dict[str, Any]:
        rows, app_keys, app_mcp_tokens = list(subject.scope_rows.all()), list(keys_of(subject)), list(mcp_tokens_of(subject))
        unused = unused_scopes(subject, rows)
        scopes = [
            (row.scope, row.reason, DECISION_LABELS[row.granted], "no call in 90 days" if row.scope in unused else "", row.note)
            for row in rows
        ]
        mcp_tokens = [
            (token.name, f"…{token.hint}", token.scope, token.expires, token.last_used_at, "active" if token.is_active else "ended")
            for token in app_mcp_tokens
        ]
        keys = [(key.name, f"…{key.last_four}", key.scope, key.last_used_at, _state_of(key)) for key in app_keys]
        context = super().page_context(request, subject)
        panels = [
            Panel("Scopes", ("Scope", "Why", "Decision", "Use", "Note"), scopes),
            Panel("API keys", ("Name", "Ends in", "Scopes", "Last used", "State"), keys),
            Panel("MCP tokens", ("Name", "Ends in", "Scopes", "Expires", "Last used", "State"), mcp_tokens),
            app_limits_panel(app_limits_of(subject)),
            *context["panels"],
        ]
        return context | usage_context(usage_of_app(subject, [*app_keys, *app_mcp_tokens]), panels)

    narrow = service_decision(
        Decision(
            "Withdraw scopes",
            DECIDE,
            "Keys and tokens of the app lose these scopes at their next request.",
            "The scopes were withdrawn.",
            form=NarrowForm,
            available=lambda app: bool(app.granted_scopes),
            danger=True,
        ),
        narrow_scopes,
        "app",
        fields=("scopes", "reason"),
    )

    suspend = service_decision(
        Decision(
            "Suspend",
            SUSPEND,
            "Keys and tokens of the app stop working at once. Its scopes are kept for when it is reinstated.",
            "The app was suspended.",
            available=partial(APP_TRANSITIONS.allows, verb="suspend"),
            danger=True,
            effects=suspension_effects,
        ),
        suspend_app,
        "app",
    )

    reinstate = service_decision(
        Decision(
            "Reinstate",
            SUSPEND,
            "Keys and tokens of the app that were not revoked work again.",
            "The app was reinstated.",
            available=partial(APP_TRANSITIONS.allows, verb="reinstate"),
        ),
        reinstate_app,
        "app",
    )

    reject = service_decision(
        Decision(
            "Reject",
            DECIDE,
            "All requested scopes are refused.",
            "The app was rejected.",
            available=lambda app: APP_TRANSITIONS.allows(app, "reject") and open_scope_review_of(app) is not None,
            danger=True,
        ),
        reject_app,
        "app",
    )

    reopen = service_decision(
        Decision(
            "Review again",
            DECIDE,
            "The scopes of the client are queued for another review.",
            "The client is queued for review.",
            available=lambda app: app.user_id is None and APP_TRANSITIONS.allows(app, "reopen"),
        ),
        reopen_client,
        "app",
    )

    set_limit = service_decision(
        Decision(
            "Set spending limit of the app",
            APP_LIMIT,
            "The app can spend at most this from any one wallet, whatever limits the wallet's owner has set.",
            "The spending limit of the app was set.",
            form=AppLimitForm,
            available=lambda app: app.status in {AppStatus.APPROVED, AppStatus.SUSPENDED},
        ),
        set_app_spending_limit,
        "app",
        fields=("limit_values", "reason"),
    )

    remove_limit = service_decision(
        Decision(
            "Remove spending limit of the app",
            APP_LIMIT,
            "Only the limits of each wallet's owner apply to the app's spending.",
            "The spending limit of the app was removed.",
            form=RemoveLimitForm,
            available=lambda app: app_limits_of(app).exists(),
        ),
        remove_app_spending_limit,
        "app",
        fields=("currency", "reason"),
    )
