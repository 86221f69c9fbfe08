"""A valid client ID metadata document, its URL, and the app that the toolkit makes of one."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from developers.models import App

URL = "https://client.example/oauth/client.json"
GOOD: dict[str, Any] = {
    "client_id": URL,
    "client_name": "Assistant",
    "client_uri": "https://client.example/",
    "redirect_uris": ["https://client.example/callback", "http://127.0.0.1/callback"],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
}


def app_of_document(
    client_id: str = URL, name: str = "Assistant", redirect_uris: Sequence[str] = ("https://client.example/callback",)
) -> App:
    """Do what the toolkit does with a document that it has read, and return what it returns."""
    app: App | None = App.objects.filter(client_id=client_id).first()
    if app is None:
        app = App(
            client_id=client_id,
            registration_source=App.RegistrationSource.CIMD,
            client_type=App.CLIENT_PUBLIC,
            authorization_grant_type=App.GRANT_AUTHORIZATION_CODE,
        )
    app.name, app.redirect_uris, app.cimd_expires_at = name, " ".join(redirect_uris), timezone.now()
    app.save()
    return app
