"""Pages of an app's webhooks: endpoints, their secrets, deliveries and test events."""

import uuid
from datetime import timedelta

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.accounts.pages import SignedInRequest, posted, problems_as_form_errors, problems_as_messages, render_form, signed_in_page

from ... import selectors
from ...models import App, WebhookDelivery, WebhookEndpoint
from ...models.apps import AppStatus
from ...models.webhooks import DeliveryStatus
from ...services import webhooks as services
from ...webhooks.signing import body_of
from ..new_secrets import keep_secret, take_secret
from ..webhook_forms import EndpointForm, RotateSecretForm
from .apps import own_app

LOG_ROWS = 25
REFRESH_PERIOD = timedelta(minutes=1)
ATTEMPTS = 20


def own_endpoint(user: User, app_id: uuid.UUID, endpoint_id: uuid.UUID) -> tuple[App, WebhookEndpoint]:
    """Return the endpoint of the user's app; someone else's is not found."""
    app = own_app(user, app_id)
    return app, get_object_or_404(selectors.webhook_endpoints_of(app), pk=endpoint_id)


def own_delivery(user: User, app_id: uuid.UUID, endpoint_id: uuid.UUID, delivery_id: uuid.UUID) -> tuple[App, WebhookDelivery]:
    """Return a delivery to an endpoint of the user's app; someone else's is not found."""
    app, endpoint = own_endpoint(user, app_id, endpoint_id)
    return app, get_object_or_404(WebhookDelivery.objects.select_related("event", "endpoint"), pk=delivery_id, endpoint=endpoint)


@signed_in_page("GET")
def webhook_list(request: SignedInRequest, app_id: uuid.UUID) -> HttpResponseBase:
    """List an app's endpoints."""
    app = own_app(request.user, app_id)
    endpoints = selectors.webhook_endpoints_of(app)
    return render(
        request, "developers/webhooks/list.html", {"app": app, "endpoints": endpoints, "may_create": app.status == AppStatus.APPROVED}
    )


@signed_in_page("GET", "POST")
def create(request: SignedInRequest, app_id: uuid.UUID) -> HttpResponseBase:
    """Create an endpoint; the next page shows its secret, once."""
    app = own_app(request.user, app_id)
    form = EndpointForm(posted(request))
    if form.is_valid():
        with problems_as_form_errors(form):
            return _to_secret(request, *services.create_endpoint(app=app, **form.cleaned_data, actor=request.user))
    return render_form(request, "developers/webhooks/create.html", form, app=app)


@signed_in_page("GET")
def detail(request: SignedInRequest, app_id: uuid.UUID, endpoint_id: uuid.UUID) -> HttpResponseBase:
    """Show an endpoint with its deliveries."""
    app, endpoint = own_endpoint(request.user, app_id, endpoint_id)
    page, now = Paginator(selectors.deliveries_to(endpoint), LOG_ROWS).get_page(request.GET.get("page")), timezone.now()
    # The page refreshes itself while a recent delivery has no response; it does not wait for retries, which can take hours.
    awaited = page.number == 1 and any(
        each.status == DeliveryStatus.PENDING and not each.attempts and each.created_at > now - REFRESH_PERIOD for each in page
    )
    context = {"app": app, "endpoint": endpoint, "page": page, "awaited": awaited, "now": now}
    return render(request, "developers/webhooks/detail.html", context)


@signed_in_page("GET", "POST")
def edit(request: SignedInRequest, app_id: uuid.UUID, endpoint_id: uuid.UUID) -> HttpResponseBase:
    """Change the address and the events of an endpoint."""
    app, endpoint = own_endpoint(request.user, app_id, endpoint_id)
    known = {"url": endpoint.url, "description": endpoint.description, "events": endpoint.events}
    form = EndpointForm(posted(request), initial=known)
    if form.is_valid():
        with problems_as_form_errors(form):
            services.change_endpoint(endpoint=endpoint, **form.cleaned_data, actor=request.user)
            messages.success(request, "The webhook was saved.")
            return redirect("webhook", app_id=app.pk, endpoint_id=endpoint.pk)
    return render_form(request, "developers/webhooks/edit.html", form, app=app, endpoint=endpoint)


@signed_in_page("GET", "POST")
def rotate(request: SignedInRequest, app_id: uuid.UUID, endpoint_id: uuid.UUID) -> HttpResponseBase:
    """Create a new secret; the form says how long the old one stays valid."""
    app, endpoint = own_endpoint(request.user, app_id, endpoint_id)
    form = RotateSecretForm(posted(request))
    if form.is_valid():
        secret = services.rotate_endpoint_secret(endpoint=endpoint, **form.cleaned_data, actor=request.user)
        return _to_secret(request, endpoint, secret)
    return render_form(request, "developers/webhooks/rotate.html", form, app=app, endpoint=endpoint)


@signed_in_page("GET")
def show_secret(request: SignedInRequest, app_id: uuid.UUID, endpoint_id: uuid.UUID) -> HttpResponseBase:
    """Show the new secret of an endpoint, once; afterwards lead back to the endpoint."""
    app, endpoint = own_endpoint(request.user, app_id, endpoint_id)
    secret = take_secret(request, endpoint.pk)
    if secret is None:
        messages.info(request, "The secret is shown only once. If you didn't copy it, rotate it.")
        return redirect("webhook", app_id=app.pk, endpoint_id=endpoint.pk)
    return render(request, "developers/webhooks/secret.html", {"app": app, "endpoint": endpoint, "secret": secret})


@signed_in_page("GET", "POST")
def delete(request: SignedInRequest, app_id: uuid.UUID, endpoint_id: uuid.UUID) -> HttpResponseBase:
    """Ask for confirmation, then delete the endpoint."""
    app, endpoint = own_endpoint(request.user, app_id, endpoint_id)
    if request.method == "POST":
        services.delete_endpoint(endpoint=endpoint, actor=request.user)
        messages.success(request, "The webhook was deleted.")
        return redirect("webhooks", app_id=app.pk)
    return render(request, "developers/webhooks/delete.html", {"app": app, "endpoint": endpoint})


@signed_in_page("POST")
def switch(request: SignedInRequest, app_id: uuid.UUID, endpoint_id: uuid.UUID) -> HttpResponseBase:
    """Disable or enable the endpoint, depending on the button."""
    app, endpoint = own_endpoint(request.user, app_id, endpoint_id)
    if request.POST.get("to") == "enabled":
        with problems_as_messages(request, "The webhook was enabled. It gets events from now on, while the app is approved."):
            services.enable_endpoint(endpoint=endpoint, actor=request.user)
    else:
        with problems_as_messages(request, "The webhook was disabled."):
            services.disable_endpoint(endpoint=endpoint, reason=services.DISABLED_BY_DEVELOPER, actor=request.user)
    return redirect("webhook", app_id=app.pk, endpoint_id=endpoint.pk)


@signed_in_page("POST")
def send_test(request: SignedInRequest, app_id: uuid.UUID, endpoint_id: uuid.UUID) -> HttpResponseBase:
    """Send a test event."""
    app, endpoint = own_endpoint(request.user, app_id, endpoint_id)
    with problems_as_messages(request, "A ping was sent. The response appears below in a moment; reload the page if it doesn't."):
        services.send_test_event(endpoint=endpoint, actor=request.user)
    return redirect("webhook", app_id=app.pk, endpoint_id=endpoint.pk)


@signed_in_page("GET")
def delivery_detail(request: SignedInRequest, app_id: uuid.UUID, endpoint_id: uuid.UUID, delivery_id: uuid.UUID) -> HttpResponseBase:
    """Show a delivery with its attempts."""
    app, delivery = own_delivery(request.user, app_id, endpoint_id, delivery_id)
    context = {"app": app, "delivery": delivery, "body": body_of(delivery.event).decode(), "attempts": delivery.log.all()[:ATTEMPTS]}
    return render(request, "developers/webhooks/delivery.html", context)


@signed_in_page("POST")
def redeliver(request: SignedInRequest, app_id: uuid.UUID, endpoint_id: uuid.UUID, delivery_id: uuid.UUID) -> HttpResponseBase:
    """Deliver an event again."""
    app, delivery = own_delivery(request.user, app_id, endpoint_id, delivery_id)
    with problems_as_messages(request, "It is being redelivered. Reload the page in a moment to see the response."):
        services.redeliver_event(delivery=delivery, actor=request.user)
    return redirect("webhook-delivery", app_id=app.pk, endpoint_id=endpoint_id, delivery_id=delivery_id)


@signed_in_page("POST")
def redeliver_failed(request: SignedInRequest, app_id: uuid.UUID, endpoint_id: uuid.UUID) -> HttpResponseBase:
    """Redeliver everything that failed."""
    app, endpoint = own_endpoint(request.user, app_id, endpoint_id)
    with problems_as_messages(request, "Failed deliveries are being sent again, one after the other."):
        services.redeliver_failed_events(endpoint=endpoint, actor=request.user)
    return redirect("webhook", app_id=app.pk, endpoint_id=endpoint.pk)


def _to_secret(request: SignedInRequest, endpoint: WebhookEndpoint, secret: str) -> HttpResponseBase:
    keep_secret(request, endpoint.pk, secret)
    return redirect("webhook-secret", app_id=endpoint.app_id, endpoint_id=endpoint.pk)
