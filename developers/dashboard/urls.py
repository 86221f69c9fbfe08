"""The developer's pages."""

from django.urls import path

from .credentials import ASSISTANT_TOKENS, KEYS, MCP_TOKENS, PERSONAL_TOKENS
from .views import api_token, application, apps, connections, credentials, spending, usage, webhooks

urlpatterns = [
    path("dashboard/api-token", api_token.api_token, name="api-token"),
    path("dashboard/developer", application.application, name="developer-application"),
    path("dashboard/apps", apps.app_list, name="apps"),
    path("dashboard/apps/new", apps.create, name="app-create"),
    path("dashboard/apps/<uuid:app_id>", apps.detail, name="app-detail"),
    path("dashboard/apps/<uuid:app_id>/usage", usage.app_usage, name="app-usage"),
    path("dashboard/apps/<uuid:app_id>/scopes", apps.more_scopes, name="app-scopes"),
    path("dashboard/apps/<uuid:app_id>/redirects", apps.redirects, name="app-redirects"),
    path("dashboard/apps/<uuid:app_id>/keys/new", credentials.create, {"kind": KEYS}, name="key-create"),
    path("dashboard/apps/<uuid:app_id>/keys/<uuid:credential_id>/revoke", credentials.revoke, {"kind": KEYS}, name="key-revoke"),
    path("dashboard/apps/<uuid:app_id>/keys/<uuid:credential_id>/rotate", credentials.rotate, {"kind": KEYS}, name="key-rotate"),
    path("dashboard/apps/<uuid:app_id>/keys/<uuid:credential_id>/secret", credentials.show_secret, {"kind": KEYS}, name="key-secret"),
    path("dashboard/apps/<uuid:app_id>/mcp-tokens/new", credentials.create, {"kind": MCP_TOKENS}, name="mcp-token-create"),
    path(
        "dashboard/apps/<uuid:app_id>/mcp-tokens/<uuid:credential_id>/revoke",
        credentials.revoke,
        {"kind": MCP_TOKENS},
        name="mcp-token-revoke",
    ),
    path(
        "dashboard/apps/<uuid:app_id>/mcp-tokens/<uuid:credential_id>/rotate",
        credentials.rotate,
        {"kind": MCP_TOKENS},
        name="mcp-token-rotate",
    ),
    path(
        "dashboard/apps/<uuid:app_id>/mcp-tokens/<uuid:credential_id>/secret",
        credentials.show_secret,
        {"kind": MCP_TOKENS},
        name="mcp-token-secret",
    ),
    path("dashboard/apps/<uuid:app_id>/webhooks", webhooks.webhook_list, name="webhooks"),
    path("dashboard/apps/<uuid:app_id>/webhooks/new", webhooks.create, name="webhook-create"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>", webhooks.detail, name="webhook"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/edit", webhooks.edit, name="webhook-edit"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/rotate", webhooks.rotate, name="webhook-rotate"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/secret", webhooks.show_secret, name="webhook-secret"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/delete", webhooks.delete, name="webhook-delete"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/toggle", webhooks.switch, name="webhook-switch"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/test", webhooks.send_test, name="webhook-test"),
    path(
        "dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/redeliver-failed",
        webhooks.redeliver_failed,
        name="webhook-redeliver-failed",
    ),
    path(
        "dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/deliveries/<uuid:delivery_id>",
        webhooks.delivery,
        name="webhook-delivery",
    ),
    path(
        "dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/deliveries/<uuid:delivery_id>/redeliver",
        webhooks.redeliver,
        name="webhook-redeliver",
    ),
    path("dashboard/connections", connections.connection_list, name="connections"),
    path("dashboard/connections/<uuid:app_id>/withdraw", connections.withdraw, name="connection-withdraw"),
    path("dashboard/spending", spending.spending, name="spending"),
    path("dashboard/spending/apps/<uuid:app_id>", spending.app_limits, name="spending-app"),
    path("dashboard/spending/tokens/<uuid:token_id>", spending.token_limits, name="spending-token"),
    path("dashboard/tokens", credentials.token_list, name="tokens"),
    path("dashboard/tokens/usage", usage.token_usage, name="token-usage"),
    path("dashboard/tokens/new", credentials.create, {"kind": PERSONAL_TOKENS}, name="token-create"),
    path("dashboard/tokens/new-for-assistant", credentials.create, {"kind": ASSISTANT_TOKENS}, name="assistant-token-create"),
    path("dashboard/tokens/<uuid:credential_id>/rotate", credentials.rotate, {"kind": PERSONAL_TOKENS}, name="token-rotate"),
    path("dashboard/tokens/<uuid:credential_id>/secret", credentials.show_secret, {"kind": PERSONAL_TOKENS}, name="token-secret"),
    path("dashboard/tokens/<uuid:credential_id>/revoke", credentials.revoke, {"kind": PERSONAL_TOKENS}, name="token-revoke"),
]
