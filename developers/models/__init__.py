"""The developers' tables."""

from .applications import ApplicationMessage, DeveloperApplication
from .apps import App, AppScope, ScopeReview
from .consents import Consent
from .credentials import AccessToken, ApiKey, Grant, IDToken, RefreshToken

__all__ = [
    "AccessToken",
    "ApiKey",
    "App",
    "AppScope",
    "ApplicationMessage",
    "Consent",
    "DeveloperApplication",
    "Grant",
    "IDToken",
    "RefreshToken",
    "ScopeReview",
]
