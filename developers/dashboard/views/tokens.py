"""Personal tokens: make one, see it once, rotate it, revoke it."""

import uuid
from functools import partial

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from marketplace.accounts.pages import SignedInRequest, problems_as_form_errors, render_form, signed_in_page
from marketplace.core.scopes import Scope, parse_scopes

from ... import selectors
from ...services.credentials import issue_personal_token, revoke_token
from ...services.rotation import rotate_token
from ...usage.chart import chart_of
from ...usage.selectors import usage_of_tokens
from ..credential_forms import RotateForm, TokenForm
from ..rows import token_row
from .passwords import password_is_right


@signed_in_page("GET")
def token_list(request: SignedInRequest) -> HttpResponseBase:
    """List the user's personal tokens."""
    tokens = list(selectors.personal_tokens_of(request.user))
    usage = usage_of_tokens(tokens)
    return render(
        request,
        "developers/tokens.html",
        {
            "live_tokens": [token_row(token) for token in tokens if token.live],
            "ended_tokens": [token for token in tokens if not token.live],
            "usage": usage,
            "chart": chart_of(usage),
        },
    )


@signed_in_page("GET", "POST")
def create(request: SignedInRequest) -> HttpResponseBase:
    """Make a token; its secret is on the answer to this POST and nowhere else."""
    form = TokenForm(request.POST or None, password_is_right=partial(password_is_right, request))
    if form.is_valid():
        with problems_as_form_errors(form):
            token, secret = issue_personal_token(
                user=request.user,
                name=form.cleaned_data["name"],
                scopes=form.wanted_scopes(),
                expires_at=form.expires_at(),
                actor=request.user,
                password_confirmed=form.password_confirmed,
                limits=form.limits(),
            )
            return render(request, "developers/token_created.html", {"token": token, "secret": secret})
    return render_form(request, "developers/token_create.html", form)


@signed_in_page("GET", "POST")
def rotate(request: SignedInRequest, token_id: uuid.UUID) -> HttpResponseBase:
    """Make the token's successor, and say how long the old one goes on."""
    token = get_object_or_404(selectors.personal_tokens_of(request.user), pk=token_id)
    spends = Scope.WALLET_SPEND in parse_scopes(token.scope)
    form = RotateForm(request.POST or None, spends=spends, password_is_right=partial(password_is_right, request))
    if form.is_valid():
        with problems_as_form_errors(form):
            successor, secret = rotate_token(
                token=token, overlap=form.wanted_overlap(), actor=request.user, password_confirmed=form.password_confirmed
            )
            return render(request, "developers/token_created.html", {"token": successor, "secret": secret})
    return render_form(request, "developers/token_rotate.html", form, token=token)


@signed_in_page("GET", "POST")
def revoke(request: SignedInRequest, token_id: uuid.UUID) -> HttpResponseBase:
    """Ask once more, then revoke the token."""
    token = get_object_or_404(selectors.personal_tokens_of(request.user), pk=token_id)
    if request.method == "POST":
        revoke_token(token=token, actor=request.user)
        messages.success(request, f"The token {token.name} (…{token.hint}) is revoked.")
        return redirect("tokens")
    what_ends = f"The token {token.name} (…{token.hint}) stops working at once and permanently."
    return render(request, "developers/token_revoke.html", {"token": token, "what_ends": what_ends})
