"""Personal tokens: make one, see it once, revoke it."""

import uuid
from functools import partial

from allauth.core import ratelimit
from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from marketplace.accounts.pages import SignedInRequest, problems_beside, render_form, signed_in_page
from marketplace.core.scopes import format_scopes, parse_scopes

from ... import selectors
from ...services.credentials import issue_personal_token, revoke_token
from ..forms import TokenForm


@signed_in_page("GET")
def token_list(request: SignedInRequest) -> HttpResponseBase:
    """List the user's personal tokens."""
    tokens = list(selectors.personal_tokens_of(request.user))
    return render(
        request,
        "developers/tokens.html",
        {
            "live_tokens": [(token, format_scopes(parse_scopes(token.scope)).split()) for token in tokens if token.live],
            "ended_tokens": [token for token in tokens if not token.live],
        },
    )


@signed_in_page("GET", "POST")
def create(request: SignedInRequest) -> HttpResponseBase:
    """Make a token; its secret is on the answer to this POST and nowhere else."""
    form = TokenForm(request.POST or None, password_is_right=partial(_password_is_right, request))
    if form.is_valid():
        with problems_beside(form):
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
def revoke(request: SignedInRequest, token_id: uuid.UUID) -> HttpResponseBase:
    """Ask once more, then revoke the token."""
    token = get_object_or_404(selectors.personal_tokens_of(request.user), pk=token_id)
    if request.method == "POST":
        revoke_token(token=token, actor=request.user)
        messages.success(request, f"The token {token.name} (…{token.hint}) is revoked.")
        return redirect("tokens")
    return render(request, "developers/token_revoke.html", {"token": token})


def _password_is_right(request: SignedInRequest, password: str) -> bool:
    """Check the password, as often in a minute as signing in again may be tried."""
    return bool(ratelimit.consume(request, action="reauthenticate", user=request.user)) and request.user.check_password(password)
