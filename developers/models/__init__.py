"""The developers' tables."""

from .applications import ApplicationMessage, DeveloperApplication
from .apps import App, AppScope, ScopeReview
from .consents import Consent
from .credentials import AccessToken, ApiKey, Grant, IDToken, RefreshToken
from .spending import SpendingLimit
from .usage import ApiUsage, DormancyNotice

__all__ = [
    "AccessToken",
    "ApiKey",
    "ApiUsage",
    "App",
    "AppScope",
    "ApplicationMessage",
    "Consent",
    "DeveloperApplication",
    "DormancyNotice",
    "Grant",
    "IDToken",
    "RefreshToken",
    "ScopeReview",
    "SpendingLimit",
]
