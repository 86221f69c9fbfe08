"""The developer's pages."""

from django.urls import URLPattern, path

from .credentials import ASSISTANT_TOKENS, KEYS, MCP_TOKENS, PERSONAL_TOKENS, CredentialPages
from .views import api_token, application, apps, connections, credentials, spending, usage, webhooks

_APP = "dashboard/apps/<uuid:app_id>"
_WEBHOOK = f"{_APP}/webhooks/<uuid:endpoint_id>"
_DELIVERY = f"{_WEBHOOK}/deliveries/<uuid:delivery_id>"


def _routes_of(kind: CredentialPages, address: str) -> list[URLPattern]:
    """Return the pages that create a credential of this kind, and show, rotate and revoke one."""
    one = f"{address}/<uuid:credential_id>"
    return [
        path(f"{address}/new", credentials.create, {"kind": kind}, name=f"{kind.route}-create"),
        path(f"{one}/secret", credentials.show_secret, {"kind": kind}, name=f"{kind.route}-secret"),
        path(f"{one}/rotate", credentials.rotate, {"kind": kind}, name=f"{kind.route}-rotate"),
        path(f"{one}/revoke", credentials.revoke, {"kind": kind}, name=f"{kind.route}-revoke"),
    ]


urlpatterns = [
    path("dashboard/api-token", api_token.api_token, name="api-token"),
    path("dashboard/developer", application.application, name="developer-application"),
    path("dashboard/apps", apps.app_list, name="apps"),
    path("dashboard/apps/new", apps.create, name="app-create"),
    path(_APP, apps.detail, name="app-detail"),
    path(f"{_APP}/usage", usage.app_usage, name="app-usage"),
    path(f"{_APP}/scopes", apps.more_scopes, name="app-scopes"),
    path(f"{_APP}/redirects", apps.redirects, name="app-redirects"),
    *_routes_of(KEYS, f"{_APP}/keys"),
    *_routes_of(MCP_TOKENS, f"{_APP}/mcp-tokens"),
    path(f"{_APP}/webhooks", webhooks.webhook_list, name="webhooks"),
    path(f"{_APP}/webhooks/new", webhooks.create, name="webhook-create"),
    path(_WEBHOOK, webhooks.detail, name="webhook"),
    path(f"{_WEBHOOK}/edit", webhooks.edit, name="webhook-edit"),
    path(f"{_WEBHOOK}/rotate", webhooks.rotate, name="webhook-rotate"),
    path(f"{_WEBHOOK}/secret", webhooks.show_secret, name="webhook-secret"),
    path(f"{_WEBHOOK}/delete", webhooks.delete, name="webhook-delete"),
    path(f"{_WEBHOOK}/toggle", webhooks.switch, name="webhook-switch"),
    path(f"{_WEBHOOK}/test", webhooks.send_test, name="webhook-test"),
    path(f"{_WEBHOOK}/redeliver-failed", webhooks.redeliver_failed, name="webhook-redeliver-failed"),
    path(_DELIVERY, webhooks.delivery_detail, name="webhook-delivery"),
    path(f"{_DELIVERY}/redeliver", webhooks.redeliver, name="webhook-redeliver"),
    path("dashboard/connections", connections.connection_list, name="connections"),
    path("dashboard/connections/<uuid:app_id>/withdraw", connections.withdraw, name="connection-withdraw"),
    path("dashboard/spending", spending.spending, name="spending"),
    path("dashboard/spending/apps/<uuid:app_id>", spending.app_limits, name="spending-app"),
    path("dashboard/spending/tokens/<uuid:token_id>", spending.token_limits, name="spending-token"),
    path("dashboard/tokens", credentials.token_list, name="tokens"),
    path("dashboard/tokens/usage", usage.token_usage, name="token-usage"),
    path("dashboard/tokens/new-for-assistant", credentials.create, {"kind": ASSISTANT_TOKENS}, name="assistant-token-create"),
    *_routes_of(PERSONAL_TOKENS, "dashboard/tokens"),
]
