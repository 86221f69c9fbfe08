"""Classes and functions for the settings of django-oauth-toolkit: the scopes of apps, and the secrets of tokens."""

from typing import Any

from oauth2_provider.scopes import BaseScopes

from marketplace.core.scopes import format_scopes

from ..secrets import Prefix, new_secret


class GrantedScopes(BaseScopes):
    """Answers the one question about scopes that the toolkit asks: our validator and our models answer the others."""

    def get_default_scopes(self, application: Any = None, request: Any = None, *args: Any, **kwargs: Any) -> list[str]:
        """Return the scopes of a request without `scope`: all that the app is granted; the consent page names each."""
        return format_scopes(application.scopes).split()


def access_token(request: Any) -> str:
    """Return an access token for the audience, which the validator has determined from the resource."""
    return new_secret(request.audience.prefix)


def refresh_token(request: Any) -> str:
    """Return a refresh token."""
    return new_secret(Prefix.REFRESH_TOKEN)
