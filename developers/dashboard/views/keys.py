"""API keys of an app: make one, see it once, rotate it, revoke it."""

import uuid
from functools import partial

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from marketplace.accounts.pages import SignedInRequest, problems_as_form_errors, render_form, signed_in_page

from ... import selectors
from ...models import ApiKey, App
from ...services.credentials import issue_api_key, revoke_api_key
from ...services.rotation import rotate_api_key
from ..credential_forms import KeyForm, RotateForm
from ..next_steps import first_call
from .apps import own_app
from .passwords import password_is_right


@signed_in_page("GET", "POST")
def create(request: SignedInRequest, app_id: uuid.UUID) -> HttpResponseBase:
    """Make a key; its secret is on the answer to this POST and nowhere else."""
    app = own_app(request.user, app_id)
    form = KeyForm(request.POST or None)
    if form.is_valid():
        with problems_as_form_errors(form):
            key, secret = issue_api_key(app=app, name=form.cleaned_data["name"], expires_at=form.expires_at(), actor=request.user)
            return render(request, "developers/key_created.html", _created(app, key, secret))
    return render_form(request, "developers/key_create.html", form, app=app)


@signed_in_page("GET", "POST")
def rotate(request: SignedInRequest, app_id: uuid.UUID, key_id: uuid.UUID) -> HttpResponseBase:
    """Make the key's successor, and say how long the old one goes on."""
    app = own_app(request.user, app_id)
    key = get_object_or_404(selectors.keys_of(app), pk=key_id)
    form = RotateForm(request.POST or None, spends=False, password_is_right=partial(password_is_right, request))
    if form.is_valid():
        with problems_as_form_errors(form):
            successor, secret = rotate_api_key(key=key, overlap=form.wanted_overlap(), actor=request.user)
            return render(request, "developers/key_created.html", _created(app, successor, secret))
    return render_form(request, "developers/key_rotate.html", form, app=app, key=key)


@signed_in_page("GET", "POST")
def revoke(request: SignedInRequest, app_id: uuid.UUID, key_id: uuid.UUID) -> HttpResponseBase:
    """Ask once more, then revoke the key."""
    app = own_app(request.user, app_id)
    key = get_object_or_404(selectors.keys_of(app), pk=key_id)
    if request.method == "POST":
        revoke_api_key(key=key, actor=request.user)
        messages.success(request, f"The key {key.name} (…{key.last_four}) is revoked.")
        return redirect("app-detail", app_id=app.pk)
    what_ends = f"The key {key.name} (…{key.last_four}) of {app.name} stops working at once and permanently."
    return render(request, "developers/key_revoke.html", {"app": app, "key": key, "what_ends": what_ends})


def _created(app: App, key: ApiKey, secret: str) -> dict[str, object]:
    return {"app": app, "key": key, "secret": secret, "first_call": first_call(app)}
