"""Webhook endpoints and the deliveries to them, without secrets."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from marketplace.review.decisions import Decision, service_decision
from marketplace.review.panels import Panel
from marketplace.review.service import ServiceAdmin
from marketplace.ui.formatting import badge

from ..models import WebhookEndpoint
from ..selectors import deliveries_to
from ..services import webhooks as services
from .effects import disabling_effects

ROWS = 20


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ServiceAdmin):
    """Webhook endpoints of apps."""

    list_display = ("url", "app", "status", "failures", "failing_since", "last_delivered_at")
    list_filter = (("failing_since", admin.EmptyFieldListFilter), ("disabled_at", admin.EmptyFieldListFilter))
    list_select_related = ("app",)
    search_fields = ("url", "app__name", "app__user__email")
    fields = ("app", "url", "description", "status", "created_at", "last_delivered_at", "failing_since", "disabled_at", "disabled_reason")
    readonly_fields = fields
    decision_names = ("disable",)

    def panels(self, request: HttpRequest, subject: WebhookEndpoint) -> list[Panel]:
        rows = [
            (f"{row.created_at:%Y-%m-%d %H:%M}", row.event.type, badge(row.status), row.attempts, _last_response(row))
            for row in deliveries_to(subject)[:ROWS]
        ]
        return [
            Panel("Deliveries", ("At (UTC)", "Event", "Status", "Attempts", "Last response"), rows),
            *super().panels(request, subject),
        ]

    disable = service_decision(
        Decision(
            "Disable",
            "developers.disable_webhookendpoint",
            "No events are sent to it until its developer enables it again.",
            "The endpoint was disabled.",
            available=lambda endpoint: endpoint.disabled_at is None,
            danger=True,
            effects=disabling_effects,
        ),
        services.disable_endpoint,
        "endpoint",
    )


def _last_response(row: Any) -> str:
    return str(row.last_http_status or row.last_error or "none yet")
