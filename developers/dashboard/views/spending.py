"""Spending limits: what may spend from the user's wallet, and how much."""

import uuid

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from marketplace.accounts.pages import SignedInRequest, posted, problems_as_form_errors, render_form, signed_in_page

from ... import selectors
from ...models import AccessToken, App
from ...services.spending import replace_spending_limits
from ..limit_forms import SUGGESTED, SpendingForm


@signed_in_page("GET")
def spending(request: SignedInRequest) -> HttpResponseBase:
    """List the tokens and apps that may spend, with their limits."""
    return render(request, "developers/spending.html", {"spenders": selectors.spenders_of(request.user)})


@signed_in_page("GET", "POST")
def token_limits(request: SignedInRequest, token_id: uuid.UUID) -> HttpResponseBase:
    """Change what a personal token may spend."""
    return _limits_page(request, get_object_or_404(selectors.spending_tokens_of(request.user), pk=token_id))


@signed_in_page("GET", "POST")
def app_limits(request: SignedInRequest, app_id: uuid.UUID) -> HttpResponseBase:
    """Change what an app may spend."""
    return _limits_page(request, get_object_or_404(selectors.spending_apps_of(request.user), pk=app_id))


def _limits_page(request: SignedInRequest, spender: App | AccessToken) -> HttpResponseBase:
    required = isinstance(spender, AccessToken)
    present = list(selectors.owner_spending_limits(request.user, spender))
    form = SpendingForm(
        posted(request),
        limits=present or (SUGGESTED if required else ()),
        required=required,
        request=request,
    )
    if form.is_valid():
        with problems_as_form_errors(form):
            replace_spending_limits(owner=request.user, spender=spender, limits=form.limits(), actor=request.user)
            messages.success(request, f"The limits of {spender.name} are saved. They apply from the next purchase on.")
            return redirect("spending")
    own = isinstance(spender, App) and spender.user_id == request.user.pk
    return render_form(request, "developers/spending_limits.html", form, spender=spender, own=own)
