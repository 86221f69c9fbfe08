"""Pages of the apps that a user has connected by OAuth."""

import uuid

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from marketplace.accounts.pages import SignedInRequest, signed_in_page

from ... import selectors
from ...services.consents import withdraw_consent


@signed_in_page("GET")
def connection_list(request: SignedInRequest) -> HttpResponseBase:
    """List the connected apps, and those that were disconnected."""
    ended = request.user.consents.exclude(withdrawn_at=None).select_related("app").order_by("-withdrawn_at")[:50]
    context = {"connections": selectors.connections_of(request.user), "ended": ended}
    return render(request, "developers/connections.html", context)


@signed_in_page("GET", "POST")
def withdraw(request: SignedInRequest, app_id: uuid.UUID) -> HttpResponseBase:
    """Ask for confirmation, then disconnect the app."""
    app = get_object_or_404(selectors.connected_apps_of(request.user), pk=app_id)
    if request.method == "POST":
        withdraw_consent(user=request.user, app=app, actor=request.user)
        messages.success(request, f"{app.name} is disconnected. The tokens that it got through your authorisation no longer work.")
        return redirect("connections")
    return render(request, "developers/connection_withdraw.html", {"app": app})
