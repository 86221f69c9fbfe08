"""The developer's pages."""

from django.urls import path

from .views import api_token, application, apps, connections, keys, spending, tokens, tool_tokens, usage, webhooks

urlpatterns = [
    path("dashboard/api-token", api_token.api_token, name="api-token"),
    path("dashboard/developer", application.application, name="developer-application"),
    path("dashboard/apps", apps.app_list, name="apps"),
    path("dashboard/apps/new", apps.create, name="app-create"),
    path("dashboard/apps/<uuid:app_id>", apps.detail, name="app-detail"),
    path("dashboard/apps/<uuid:app_id>/usage", usage.app_usage, name="app-usage"),
    path("dashboard/apps/<uuid:app_id>/scopes", apps.more_scopes, name="app-scopes"),
    path("dashboard/apps/<uuid:app_id>/redirects", apps.redirects, name="app-redirects"),
    path("dashboard/apps/<uuid:app_id>/keys/new", keys.create, name="key-create"),
    path("dashboard/apps/<uuid:app_id>/keys/<uuid:key_id>/revoke", keys.revoke, name="key-revoke"),
    path("dashboard/apps/<uuid:app_id>/keys/<uuid:key_id>/rotate", keys.rotate, name="key-rotate"),
    path("dashboard/apps/<uuid:app_id>/tool-tokens/new", tool_tokens.create, name="tool-token-create"),
    path("dashboard/apps/<uuid:app_id>/tool-tokens/<uuid:token_id>/revoke", tool_tokens.revoke, name="tool-token-revoke"),
    path("dashboard/apps/<uuid:app_id>/tool-tokens/<uuid:token_id>/rotate", tool_tokens.rotate, name="tool-token-rotate"),
    path("dashboard/apps/<uuid:app_id>/webhooks", webhooks.webhook_list, name="webhooks"),
    path("dashboard/apps/<uuid:app_id>/webhooks/new", webhooks.create, name="webhook-create"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>", webhooks.detail, name="webhook"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/edit", webhooks.edit, name="webhook-edit"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/secret", webhooks.rotate, name="webhook-rotate"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/delete", webhooks.delete, name="webhook-delete"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/switch", webhooks.switch, name="webhook-switch"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/test", webhooks.send_test, name="webhook-test"),
    path("dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/again", webhooks.redeliver_failed, name="webhook-redeliver-failed"),
    path(
        "dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/deliveries/<uuid:delivery_id>",
        webhooks.delivery,
        name="webhook-delivery",
    ),
    path(
        "dashboard/apps/<uuid:app_id>/webhooks/<uuid:endpoint_id>/deliveries/<uuid:delivery_id>/again",
        webhooks.redeliver,
        name="webhook-redeliver",
    ),
    path("dashboard/connections", connections.connection_list, name="connections"),
    path("dashboard/connections/<uuid:app_id>/withdraw", connections.withdraw, name="connection-withdraw"),
    path("dashboard/spending", spending.spending, name="spending"),
    path("dashboard/spending/apps/<uuid:app_id>", spending.app_limits, name="spending-app"),
    path("dashboard/spending/tokens/<uuid:token_id>", spending.token_limits, name="spending-token"),
    path("dashboard/tokens", tokens.token_list, name="tokens"),
    path("dashboard/tokens/usage", usage.token_usage, name="token-usage"),
    path("dashboard/tokens/new", tokens.create, name="token-create"),
    path("dashboard/tokens/<uuid:token_id>/rotate", tokens.rotate, name="token-rotate"),
    path("dashboard/tokens/<uuid:token_id>/revoke", tokens.revoke, name="token-revoke"),
]
