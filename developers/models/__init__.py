"""The developers' tables."""

from .applications import ApplicationMessage, DeveloperApplication
from .apps import App, AppLogo, AppOrigin, AppScope, ScopeReview
from .clients import MetadataReview
from .consents import Consent
from .credentials import AccessToken, ApiKey, Grant, IDToken, RefreshToken
from .first_party import FirstPartyToken
from .spending import SpendingLimit
from .usage import ApiUsage, DormancyNotice, HourlyUsage
from .webhooks import EventCounter, WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent, WebhookSubscription

__all__ = [
    "AccessToken",
    "ApiKey",
    "ApiUsage",
    "App",
    "AppLogo",
    "AppOrigin",
    "AppScope",
    "ApplicationMessage",
    "Consent",
    "DeveloperApplication",
    "DormancyNotice",
    "EventCounter",
    "FirstPartyToken",
    "Grant",
    "HourlyUsage",
    "IDToken",
    "MetadataReview",
    "RefreshToken",
    "ScopeReview",
    "SpendingLimit",
    "WebhookAttempt",
    "WebhookDelivery",
    "WebhookEndpoint",
    "WebhookEvent",
    "WebhookSubscription",
]
