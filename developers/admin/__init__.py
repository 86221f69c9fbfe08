"""Developer access in the admin: applications, scopes, apps, credentials."""

from .applications import DeveloperApplicationAdmin
from .apps import AppAdmin
from .clients import ClientMetadataAdmin
from .consents import ConsentAdmin
from .credentials import AccessTokenAdmin, ApiKeyAdmin
from .scopes import ScopeReviewAdmin
from .webhooks import WebhookEndpointAdmin

__all__ = [
    "AccessTokenAdmin",
    "ApiKeyAdmin",
    "AppAdmin",
    "ClientMetadataAdmin",
    "ConsentAdmin",
    "DeveloperApplicationAdmin",
    "ScopeReviewAdmin",
    "WebhookEndpointAdmin",
]
