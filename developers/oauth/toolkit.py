"""Classes and functions for the settings of django-oauth-toolkit: the scopes of apps, and the secrets of tokens."""

from typing import Any

from oauth2_provider.scopes import BaseScopes

from marketplace.core.scopes import APP_SCOPES, SCOPE_LABELS, format_scopes

from ..models import App
from ..secrets import Prefix, new_secret


class GrantedScopes(BaseScopes):
    """Limits the scopes of a client to those that its app is granted."""

    def get_all_scopes(self) -> dict[str, str]:
        """Return every scope that an app can have, with its label."""
        return {scope.value: SCOPE_LABELS[scope] for scope in APP_SCOPES}

    def get_available_scopes(self, application: App | None = None, request: Any = None, *args: Any, **kwargs: Any) -> list[str]:
        """Return the scopes that the app is granted now."""
        return [] if application is None else format_scopes(application.scopes).split()

    def get_default_scopes(self, application: App | None = None, request: Any = None, *args: Any, **kwargs: Any) -> list[str]:
        """Return the scopes of a request without `scope`: all that the app is granted; the consent page names each."""
        return [] if application is None else format_scopes(application.scopes).split()


def access_token(request: Any) -> str:
    """Return an access token for the audience, which the validator has determined from the resource."""
    return new_secret(request.audience.prefix)


def refresh_token(request: Any) -> str:
    """Return a refresh token."""
    return new_secret(Prefix.REFRESH_TOKEN)
