"""A valid client ID metadata document and its URL."""

from typing import Any

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
