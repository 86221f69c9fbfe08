"""The developers' endpoints: events and webhooks of an app, and reports of leaked credentials, from anyone."""

from datetime import timedelta

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from marketplace.api.idempotency import idempotent
from marketplace.api.pagination import newest_first
from marketplace.api.serializers import EmptyBody, parse_body
from marketplace.api.views import ApiViewSet
from marketplace.core.access import ANY_API_KEY, PUBLIC
from marketplace.core.database import row_by_id
from marketplace.core.errors import InsufficientScope, InvalidTransition, NotFound
from marketplace.http.rate_limits import count_by_address

from ..errors import AppNotApproved, TooManyTestEvents, TooManyWebhookEndpoints, WebhookUrlRefused
from ..event_types import types_for_key
from ..models import WebhookDelivery, WebhookEndpoint
from ..principals import app_of, principal_of
from ..selectors import deliveries_to, webhook_endpoints_of
from ..services.leaks import report_leaks
from ..services.webhooks import change_endpoint, create_endpoint, delete_endpoint, redeliver_event, rotate_endpoint_secret
from ..webhooks.event_feed import events_after
from .serializers import (
    CreatedWebhook,
    DeliveryPage,
    DeliveryQuery,
    DeliveryResponse,
    EventPageResponse,
    EventQuery,
    LeakReportBody,
    LeakReportResponse,
    NewWebhook,
    RotatedSecret,
    RotateSecretBody,
    WebhookChanges,
    WebhookDeleted,
    WebhookList,
    WebhookResponse,
)

WEBHOOK_ID = OpenApiParameter("webhook_id", str, OpenApiParameter.PATH, description="Id of a webhook.")
DELIVERY_ID = OpenApiParameter("delivery_id", str, OpenApiParameter.PATH, description="Id of a delivery.")


class LeakViewSet(ApiViewSet):
    """Takes reports of secret scanners."""

    access = {"report": PUBLIC}

    @extend_schema(
        operation_id="reportLeakedCredentials",
        summary="Report leaked keys and tokens",
        request=LeakReportBody,
        responses=LeakReportResponse,
    )
    def report(self, request: Request) -> Response:
        """Report keys and tokens found in public. Valid ones are revoked at once, and their owners get an email.

        The response is the same whether the credentials exist or not.
        """
        count_by_address(request, "leak_reports")
        body = parse_body(LeakReportBody, request)
        # If a secret was found in several places, the first counts.
        report_leaks(places={found["value"]: found["url"] for found in reversed(body["credentials"])})
        return Response(LeakReportResponse({"received": len(body["credentials"])}).data, headers={"Cache-Control": "no-store"})


class EventViewSet(ApiViewSet):
    """The events of the key's app."""

    access = {"list": ANY_API_KEY}
    queries = {"list": EventQuery}

    @extend_schema(operation_id="listEvents", summary="List events", responses=EventPageResponse)
    def list(self, request: Request) -> Response:
        """List the events of the last 30 days that webhooks of the app could get, oldest first.

        Events about orders, top-ups and approvals need the scopes that their webhooks need, granted to the key; those of the developer's own
        store are not listed. No event is added before one that was listed.
        """
        query = self.query()
        page = events_after(query.get("after"), app=app_of(request), scopes=principal_of(request).scopes, limit=query["limit"])
        return Response(EventPageResponse(page).data)


class WebhookViewSet(ApiViewSet):
    """The webhooks of the key's app."""

    access = dict.fromkeys(("list", "register", "retrieve", "update", "remove", "rotate_secret", "deliveries", "redeliver"), ANY_API_KEY)
    queries = {"deliveries": DeliveryQuery}
    problems = {
        "register": (AppNotApproved, InsufficientScope, TooManyWebhookEndpoints, WebhookUrlRefused),
        "update": (InsufficientScope, WebhookUrlRefused),
        "redeliver": (AppNotApproved, InvalidTransition, TooManyTestEvents),
    }

    @extend_schema(operation_id="listWebhooks", summary="List webhooks", responses=WebhookList)
    def list(self, request: Request) -> Response:
        """List the app's webhooks, at most five."""
        return Response(WebhookList({"items": webhook_endpoints_of(app_of(request))}).data)

    @extend_schema(operation_id="createWebhook", summary="Create a webhook", request=NewWebhook, responses=CreatedWebhook)
    @idempotent
    def register(self, request: Request) -> Response:
        """Register an address that the app's events are sent to. The response has the signing secret, once.

        The key needs the scopes of the events, as it does to list them. Webhooks for `sale.completed` and `listing.reviewed` are created in the
        dashboard.
        """
        body, app, caller = parse_body(NewWebhook, request), app_of(request), principal_of(request)
        endpoint, secret = create_endpoint(app=app, **body, actor=caller.user, scopes=caller.scopes)
        return Response(WebhookResponse(endpoint).data | {"secret": secret})

    @extend_schema(operation_id="getWebhook", summary="Get a webhook", parameters=[WEBHOOK_ID], responses=WebhookResponse)
    def retrieve(self, request: Request, webhook_id: str) -> Response:
        """Return one of the app's webhooks."""
        return Response(WebhookResponse(_own_endpoint(request, webhook_id)).data)

    @extend_schema(
        operation_id="updateWebhook", summary="Change a webhook", parameters=[WEBHOOK_ID], request=WebhookChanges, responses=WebhookResponse
    )
    def update(self, request: Request, webhook_id: str) -> Response:
        """Change the address, the events or the description of a webhook, disable it, or enable it for future events.

        The key needs the scopes of the webhook's events, as it does to list them, except to disable it. No key changes a webhook for events of
        the developer's own store.
        """
        body = parse_body(WebhookChanges, request)
        endpoint, caller = _own_endpoint(request, webhook_id), principal_of(request)
        changed = change_endpoint(endpoint=endpoint, **body, actor=caller.user, scopes=caller.scopes)
        return Response(WebhookResponse(changed).data)

    @extend_schema(
        operation_id="deleteWebhook", summary="Delete a webhook", parameters=[WEBHOOK_ID], request=None, responses={200: WebhookDeleted}
    )
    def remove(self, request: Request, webhook_id: str) -> Response:
        """Delete a webhook with its log."""
        parse_body(EmptyBody, request)
        endpoint = _own_endpoint(request, webhook_id)
        delete_endpoint(endpoint=endpoint, actor=principal_of(request).user)
        return Response(WebhookDeleted({"id": webhook_id}).data)

    @extend_schema(
        operation_id="rotateWebhookSecret",
        summary="Rotate the secret of a webhook",
        parameters=[WEBHOOK_ID],
        request=RotateSecretBody,
        responses=RotatedSecret,
    )
    @idempotent
    def rotate_secret(self, request: Request, webhook_id: str) -> Response:
        """Create a new signing secret and return it, once. Until the old one expires or you rotate again, events are signed with both."""
        overlap = timedelta(hours=parse_body(RotateSecretBody, request)["overlap_hours"])
        endpoint = _own_endpoint(request, webhook_id)
        secret = rotate_endpoint_secret(endpoint=endpoint, overlap=overlap, actor=principal_of(request).user)
        endpoint.refresh_from_db(fields=["old_secret_until"])
        return Response(RotatedSecret({"id": webhook_id, "secret": secret, "old_secret_until": endpoint.old_secret_until}).data)

    @extend_schema(
        operation_id="listWebhookDeliveries", summary="List deliveries to a webhook", parameters=[WEBHOOK_ID], responses=DeliveryPage
    )
    def deliveries(self, request: Request, webhook_id: str) -> Response:
        """List the deliveries of the last 30 days to a webhook, newest first, of events that the key may list."""
        query, deliveries = self.query(), _deliveries(request, webhook_id)
        if "status" in query:
            deliveries = deliveries.filter(status=query.pop("status"))
        return Response(DeliveryPage(newest_first([deliveries], "created_at", **query)).data)

    @extend_schema(
        operation_id="redeliverEvent",
        summary="Deliver an event again",
        parameters=[WEBHOOK_ID, DELIVERY_ID],
        request=None,
        responses=DeliveryResponse,
    )
    @idempotent
    def redeliver(self, request: Request, webhook_id: str, delivery_id: str) -> Response:
        """Deliver an event that the key may list again, with the same id and a new series of attempts."""
        parse_body(EmptyBody, request)
        deliveries = _deliveries(request, webhook_id).select_related("endpoint")
        delivery = row_by_id(deliveries, delivery_id)
        if delivery is None:
            raise NotFound
        redeliver_event(delivery=delivery, actor=principal_of(request).user)
        return Response(DeliveryResponse(deliveries.get(pk=delivery.pk)).data)


def _own_endpoint(request: Request, webhook_id: str) -> WebhookEndpoint:
    """Return a webhook of the key's app.

    Raises:
        NotFound: it is not the app's.
    """
    endpoint = row_by_id(webhook_endpoints_of(app_of(request)), webhook_id)
    if endpoint is None:
        raise NotFound
    return endpoint


def _deliveries(request: Request, webhook_id: str) -> QuerySet[WebhookDelivery]:
    """Return the deliveries to a webhook of the key's app, of events that the key may list.

    Raises:
        NotFound: it is not the app's.
    """
    types = types_for_key(principal_of(request).scopes)
    return deliveries_to(_own_endpoint(request, webhook_id)).filter(event__type__in=types)
