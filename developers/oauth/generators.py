"""Generates token secrets for django-oauth-toolkit. The validator has determined the kind of access token from the resource."""

from typing import Any

from ..secrets import Prefix, new_secret


def access_token(request: Any) -> str:
    """Return an access token for the request's audience."""
    return new_secret(request.audience.prefix)


def refresh_token(request: Any) -> str:
    """Return a refresh token."""
    return new_secret(Prefix.REFRESH_TOKEN)
