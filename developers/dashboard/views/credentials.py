"""Pages to create, rotate and revoke API keys, MCP tokens and personal tokens."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from marketplace.accounts.pages import SignedInRequest, posted, problems_as_form_errors, render_form, signed_in_page
from marketplace.core.scopes import Scope

from ...audiences import Audience
from ...models import App
from ...usage.chart import chart_of
from ...usage.selectors import usage_of_credentials
from ..credential_forms import RotateForm
from ..credentials import PERSONAL_TOKENS, Credential, CredentialPages
from ..new_secrets import keep_secret, take_secret
from ..next_steps import first_call_url
from .apps import own_app


@signed_in_page("GET")
def token_list(request: SignedInRequest) -> HttpResponseBase:
    """List the user's personal tokens."""
    tokens = list(PERSONAL_TOKENS.all_of(request.user))
    usage = usage_of_credentials(tokens)
    return render(
        request,
        "developers/tokens.html",
        {
            "active_tokens": [PERSONAL_TOKENS.row(token) for token in tokens if token.is_active],
            "ended_tokens": [token for token in tokens if not token.is_active],
            "usage": usage,
            "chart": chart_of(usage),
        },
    )


@signed_in_page("GET", "POST")
def create(request: SignedInRequest, kind: CredentialPages, app_id: uuid.UUID | None = None) -> HttpResponseBase:
    """Create a credential; the next page shows its secret, once."""
    app = _app(request, app_id)
    form = kind.form(posted(request), app or request.user, request)
    if form.is_valid():
        owner: dict[str, Any] = {"user": request.user} if app is None else {"app": app}
        with problems_as_form_errors(form):
            return _to_secret(request, kind, app, *kind.issue(**owner, **form.values(), actor=request.user))
    return render_form(request, "developers/credential_create.html", form, **_context(kind, app))


@signed_in_page("GET", "POST")
def rotate(request: SignedInRequest, kind: CredentialPages, credential_id: uuid.UUID, app_id: uuid.UUID | None = None) -> HttpResponseBase:
    """Create a credential's successor; the form says how long the old one stays valid."""
    app = _app(request, app_id)
    credential = get_object_or_404(kind.all_of(app or request.user), pk=credential_id)
    # A successor has what the app is granted now, or what the user's own token has.
    spends = Scope.WALLET_SPEND in (app or credential).scopes
    form = RotateForm(posted(request), spends=spends, request=request)
    if form.is_valid():
        with problems_as_form_errors(form):
            # For tokens the services ask whether the password was given; a key's form has asked for it.
            confirmed = {"password_confirmed": form.password_confirmed} if kind.argument == "token" else {}
            successor = kind.rotate(**{kind.argument: credential}, overlap=form.cleaned_data["overlap"], **confirmed, actor=request.user)
            return _to_secret(request, kind, app, *successor)
    return render_form(request, "developers/credential_rotate.html", form, credential=credential, **_context(kind, app))


@signed_in_page("GET")
def show_secret(
    request: SignedInRequest, kind: CredentialPages, credential_id: uuid.UUID, app_id: uuid.UUID | None = None
) -> HttpResponseBase:
    """Show the secret of a new credential, once; afterwards lead back to the list."""
    app = _app(request, app_id)
    credential = get_object_or_404(kind.all_of(app or request.user), pk=credential_id)
    context = _context(kind, app)
    secret = take_secret(request, credential.pk)
    if secret is None:
        messages.info(request, f"The {kind.short_name} is shown only once. If you didn't copy it, rotate it or create another.")
        return redirect(context["back"])
    context |= {"credential": credential, "secret": secret, "first_call": first_call_url(app), "mcp_url": Audience.MCP.uri}
    return render(request, "developers/credential_created.html", context)


@signed_in_page("GET", "POST")
def revoke(request: SignedInRequest, kind: CredentialPages, credential_id: uuid.UUID, app_id: uuid.UUID | None = None) -> HttpResponseBase:
    """Ask for confirmation, then revoke the credential."""
    app = _app(request, app_id)
    credential = get_object_or_404(kind.all_of(app or request.user), pk=credential_id)
    what, context = f"{kind.short_name} {credential.name} (…{credential.hint})", _context(kind, app)
    if request.method == "POST":
        kind.revoke(**{kind.argument: credential}, actor=request.user)
        messages.success(request, f"The {what} is revoked.")
        return redirect(context["back"])
    what_ends = f"The {what}{f' of {app.name}' if app else ''} stops working at once and permanently."
    return render(request, "developers/credential_revoke.html", {"credential": credential, "what_ends": what_ends, **context})


def _app(request: SignedInRequest, app_id: uuid.UUID | None) -> App | None:
    return None if app_id is None else own_app(request.user, app_id)


def _context(kind: CredentialPages, app: App | None) -> dict[str, Any]:
    back = reverse("tokens") if app is None else reverse("app-detail", args=[app.pk])
    return {"kind": kind, "app": app, "back": back}


def _to_secret(request: SignedInRequest, kind: CredentialPages, app: App | None, credential: Credential, secret: str) -> HttpResponseBase:
    keep_secret(request, credential.pk, secret)
    return redirect(f"{kind.route}-secret", *([] if app is None else [app.pk]), credential.pk)
