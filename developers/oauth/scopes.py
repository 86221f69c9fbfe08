"""The scopes that an app may request: those that it is granted now."""

from typing import Any

from oauth2_provider.scopes import BaseScopes

from marketplace.core.scopes import APP_SCOPES, SCOPE_LABELS, format_scopes

from ..models import App


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
