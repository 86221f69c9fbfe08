"""Pages of apps: list, create, show, request scopes, set redirect URIs."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from marketplace.accounts.models import User
from marketplace.accounts.pages import SignedInRequest, posted, problems_as_form_errors, render_form, signed_in_page
from marketplace.core.scopes import APP_SCOPES, Scope
from marketplace.review.appeals import appealable_decision

from ... import selectors
from ...models import App, AppScope
from ...models.apps import AppStatus, ScopeReviewStatus
from ...services.apps import create_app
from ...services.clients import set_redirect_uris
from ...services.scopes import request_scopes
from ...usage.chart import chart_of
from ...usage.selectors import unused_scopes, usage_of_app
from ..credentials import KEYS, MCP_TOKENS, Credential, CredentialPages
from ..forms import AppForm, RedirectsForm, ScopesForm
from ..next_steps import next_step_of

# Statuses that a developer can appeal.
_APPEALABLE = (AppStatus.REJECTED, AppStatus.SUSPENDED)


def own_app(user: User, app_id: uuid.UUID) -> App:
    """Return the user's app; someone else's is not found."""
    return get_object_or_404(selectors.apps_of(user), pk=app_id)


@signed_in_page("GET")
def app_list(request: SignedInRequest) -> HttpResponseBase:
    """List the user's apps."""
    return render(
        request,
        "developers/apps.html",
        {"apps": selectors.apps_of(request.user), "approved": selectors.is_approved_developer(request.user)},
    )


@signed_in_page("GET", "POST")
def create(request: SignedInRequest) -> HttpResponseBase:
    """Create an app."""
    form = AppForm(posted(request))
    if form.is_valid():
        with problems_as_form_errors(form):
            app = create_app(
                user=request.user,
                name=form.cleaned_data["name"],
                purpose=form.cleaned_data["purpose"],
                scopes=form.requested(),
                actor=request.user,
            )
            in_review = f"{app.name} is with our reviewers. You get an email when they have decided."
            messages.success(request, in_review if app.status == AppStatus.PENDING else f"{app.name} was approved.")
            return redirect("app-detail", app_id=app.pk)
    return render_form(request, "developers/app_create.html", form, approved=selectors.is_approved_developer(request.user))


@signed_in_page("GET")
def detail(request: SignedInRequest, app_id: uuid.UUID) -> HttpResponseBase:
    """Show an app with its scopes, keys and usage."""
    app = get_object_or_404(selectors.apps_of(request.user).select_related("logo"), pk=app_id)
    rows = list(app.scope_rows.all())
    waits = any(row.granted is None for row in rows)
    # An app that was never approved has none.
    with_credentials = app.status in {AppStatus.APPROVED, AppStatus.SUSPENDED}
    keys = list(selectors.keys_of(app)) if with_credentials else []
    mcp_tokens = list(selectors.mcp_tokens_of(app)) if with_credentials else []
    usage = usage_of_app(app, [*keys, *mcp_tokens])
    return render(
        request,
        "developers/app_detail.html",
        {
            "app": app,
            "scope_rows": rows,
            "waits": waits,
            "granted": sum(row.granted is True for row in rows),
            "next_step": next_step_of(app, keys, called=bool(usage.total.total) or any(key.last_used_at for key in keys)),
            "keys": _table(KEYS, app, keys),
            "mcp_tokens": _table(MCP_TOKENS, app, mcp_tokens),
            "unused_scopes": unused_scopes(app, rows),
            "usage": usage,
            "chart": chart_of(usage),
            "may_have_keys": app.status == AppStatus.APPROVED and bool(app.granted_scopes),
            "wait": selectors.wait_of_scopes(app) if waits else None,
            "decision": appealable_decision(app) if app.status in _APPEALABLE else None,
            "may_request_more": bool(_requestable_scopes(app, rows)),
        },
    )


@signed_in_page("GET", "POST")
def more_scopes(request: SignedInRequest, app_id: uuid.UUID) -> HttpResponseBase:
    """Request scopes that the app does not have."""
    app = own_app(request.user, app_id)
    # The service validates a submitted form, which stays on the page even if the state has changed meanwhile.
    available = APP_SCOPES if request.method == "POST" else _requestable_scopes(app, list(app.scope_rows.all()))
    form = ScopesForm(posted(request), available=available)
    if form.is_valid():
        with problems_as_form_errors(form):
            requested = request_scopes(app=app, scopes=form.requested(), actor=request.user)
            in_review = "Your request is with our reviewers. The app keeps its current scopes in the meantime."
            messages.success(request, in_review if requested.status == ScopeReviewStatus.PENDING else "The scopes were granted.")
            return redirect("app-detail", app_id=app.pk)
    return render_form(request, "developers/app_scopes.html", form, app=app)


@signed_in_page("GET", "POST")
def redirects(request: SignedInRequest, app_id: uuid.UUID) -> HttpResponseBase:
    """Set the redirect URIs of an app."""
    app = own_app(request.user, app_id)
    form = RedirectsForm(posted(request), initial={"redirect_uris": "\n".join(app.redirect_uris.split())})
    if form.is_valid():
        with problems_as_form_errors(form):
            waits = set_redirect_uris(app=app, uris=form.cleaned_data["redirect_uris"], actor=request.user)
            in_review = "The redirect URIs are with our reviewers. Until they decide, the present ones work."
            messages.success(request, in_review if waits else "The redirect URIs were saved.")
            return redirect("app-detail", app_id=app.pk)
    return render_form(request, "developers/app_redirects.html", form, app=app, sandbox=settings.SANDBOX)


def _table(kind: CredentialPages, app: App, credentials: Sequence[Credential]) -> dict[str, Any]:
    """Return the context of a table of keys or MCP tokens, those that have ended below it."""
    rows = [kind.row(each, app) for each in credentials if each.is_active]
    return {"kind": kind, "rows": rows, "ended": [each for each in credentials if not each.is_active]}


def _requestable_scopes(app: App, rows: list[AppScope]) -> frozenset[Scope]:
    """Return the scopes that an approved app lacks, none while an earlier request waits."""
    if app.status != AppStatus.APPROVED or any(row.granted is None for row in rows):
        return frozenset()
    return APP_SCOPES - app.scopes
