"""Tool tokens of an app, for assistants: make one, see it once, rotate it, revoke it."""

import uuid
from functools import partial

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from marketplace.accounts.pages import SignedInRequest, problems_as_form_errors, render_form, signed_in_page
from marketplace.core.scopes import Scope

from ... import selectors
from ...audiences import Audience
from ...models import AccessToken, App
from ...services.credentials import issue_mcp_token, revoke_token
from ...services.rotation import rotate_token
from ..credential_forms import RotateForm, ToolTokenForm
from .apps import own_app
from .passwords import password_is_right


@signed_in_page("GET", "POST")
def create(request: SignedInRequest, app_id: uuid.UUID) -> HttpResponseBase:
    """Make a tool token; its secret is on the answer to this POST and nowhere else."""
    app = own_app(request.user, app_id)
    form = ToolTokenForm(request.POST or None, spends=_spends(app), password_is_right=partial(password_is_right, request))
    if form.is_valid():
        with problems_as_form_errors(form):
            token, secret = issue_mcp_token(
                app=app,
                name=form.cleaned_data["name"],
                expires_at=form.expires_at(),
                actor=request.user,
                password_confirmed=form.password_confirmed,
            )
            return _created(request, app, token, secret)
    return render_form(request, "developers/tool_token_create.html", form, app=app)


@signed_in_page("GET", "POST")
def rotate(request: SignedInRequest, app_id: uuid.UUID, token_id: uuid.UUID) -> HttpResponseBase:
    """Make the token's successor, and say how long the old one goes on."""
    app = own_app(request.user, app_id)
    token = get_object_or_404(selectors.tool_tokens_of(app), pk=token_id)
    form = RotateForm(request.POST or None, spends=_spends(app), password_is_right=partial(password_is_right, request))
    if form.is_valid():
        with problems_as_form_errors(form):
            successor, secret = rotate_token(
                token=token, overlap=form.wanted_overlap(), actor=request.user, password_confirmed=form.password_confirmed
            )
            return _created(request, app, successor, secret)
    return render_form(request, "developers/tool_token_rotate.html", form, app=app, token=token)


@signed_in_page("GET", "POST")
def revoke(request: SignedInRequest, app_id: uuid.UUID, token_id: uuid.UUID) -> HttpResponseBase:
    """Ask once more, then revoke the token."""
    app = own_app(request.user, app_id)
    token = get_object_or_404(selectors.tool_tokens_of(app), pk=token_id)
    if request.method == "POST":
        revoke_token(token=token, actor=request.user)
        messages.success(request, f"The tool token {token.name} (…{token.hint}) is revoked.")
        return redirect("app-detail", app_id=app.pk)
    what_ends = f"The tool token {token.name} (…{token.hint}) of {app.name} stops working at once and permanently."
    return render(request, "developers/tool_token_revoke.html", {"app": app, "token": token, "what_ends": what_ends})


def _created(request: SignedInRequest, app: App, token: AccessToken, secret: str) -> HttpResponseBase:
    context = {"app": app, "token": token, "secret": secret, "mcp_url": Audience.MCP.uri}
    return render(request, "developers/tool_token_created.html", context)


def _spends(app: App) -> bool:
    return Scope.WALLET_SPEND in app.scopes
