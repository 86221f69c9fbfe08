"""Which documents of clients are taken, and what is kept of them."""

from typing import Any

import orjson
import pytest

from developers.client_documents import Facts, Unusable, facts_from, host_of_document, names_document

from .documents import GOOD, URL


def facts(**changes: Any) -> Facts:
    document = {name: value for name, value in (GOOD | changes).items() if value is not None}
    return facts_from(URL, orjson.dumps(document))


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": None},
        {"client_id": "https://client.example/oauth/client.json?x"},
        {"client_id": "https://CLIENT.example/oauth/client.json"},
        {"client_id": [URL]},
        {"client_name": None},
        {"client_name": ""},
        {"client_name": " \u200b "},
        {"client_name": ["Assistant"]},
        {"client_name": "A" * 121},
        {"client_name": "Assistant\nmade by your bank"},
        {"client_name": "Assistant \u202e"},
        {"client_uri": "x" * 2001},
        {"redirect_uris": None},
        {"redirect_uris": []},
        {"redirect_uris": "https://client.example/callback"},
        {"redirect_uris": [7]},
        {"redirect_uris": ["client://callback", "http://client.example/callback", "https://*.client.example/"]},
        {"redirect_uris": [f"https://client.example/{n}" for n in range(11)]},
        {"client_secret": "s"},
        {"client_secret": ""},
        {"client_secret_expires_at": 0},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"token_endpoint_auth_method": ["none"]},
        {"grant_types": ["client_credentials"]},
        {"grant_types": None, "response_types": ["token"]},
        {"grant_types": 7},
        {"response_types": {"token": 1}},
    ],
)
def test_document_that_breaks_a_rule_is_not_taken(changes: dict[str, Any]) -> None:
    with pytest.raises(Unusable):
        facts(**changes)


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b'"text"', b"{", b"\xff", b"<html>", b"[" * 5000])
def test_what_is_no_json_object_is_not_taken(body: bytes) -> None:
    with pytest.raises(Unusable):
        facts_from(URL, body)


def test_facts_are_kept_and_addresses_that_lead_nowhere_good_are_left_out() -> None:
    kept = facts(redirect_uris=["http://localhost/callback", "client://callback", "http://localhost/callback"], scope="catalog:read openid")
    assert kept == Facts(
        name="Assistant",
        redirect_uris=["http://localhost/callback"],
        left_out=["client://callback"],
        client_uri="https://client.example/",
        scopes=["catalog:read"],
    )


def test_document_without_scopes_asks_for_all_that_an_app_can_have() -> None:
    assert facts(scope="vendor:manage").scopes == ["catalog:read", "library:read", "library:download", "account:read", "wallet:spend"]


@pytest.mark.parametrize(
    "client_id", ["", "abc123", "http://client.example/c", "HTTPS://client.example/c", "https://client.example/ c", "https://" + "a" * 300]
)
def test_other_ids_name_no_document(client_id: str) -> None:
    assert not names_document(client_id)


@pytest.mark.parametrize(
    "client_id",
    [
        "https://client.example",
        "https:///c",
        "https://user@client.example/c",
        "https://client.example:port/c",
        "https://client.example/c#part",
        "https://client.example/a/../c",
        "https://client.example/./c",
        "https://[::1/c",
    ],
)
def test_address_of_another_form_is_not_read(client_id: str) -> None:
    with pytest.raises(Unusable):
        host_of_document(client_id)
