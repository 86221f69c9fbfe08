"""Parses OAuth client ID metadata documents: the JSON document about a client that its `client_id` points to.

OAuth Client ID Metadata Document, as the authorization of MCP asks for it. Only public clients are taken: they keep no
secret, PKCE proves them.
"""

import re
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

import orjson

from marketplace.core import bounds, texts
from marketplace.core.errors import InvalidInput
from marketplace.core.scopes import APP_SCOPES, Scope

from .redirects import fault_of

_URL = re.compile(r"https://[!-~]+")


class Unusable(Exception):
    """The document, or its address, is not one that we take; the sentence is for the client's developer."""


@dataclass(frozen=True)
class Facts:
    """What is kept of a document, and shown to whoever reviews it.

    Args:
        name: What people are shown.
        redirect_uris: Where users may be sent back to.
        left_out: Addresses that we send nobody to.
        client_uri: The client's own page; shown, never called.
        scopes: What it asks for: what it names of ours, else everything an app can have.
    """

    name: str
    redirect_uris: list[str]
    left_out: list[str]
    client_uri: str
    scopes: list[str]

    def as_json(self) -> dict[str, Any]:
        """Return it as it is stored."""
        return asdict(self)


def names_document(client_id: str) -> bool:
    """Tell whether an id looks like the address of a document."""
    return len(client_id) <= bounds.CLIENT_ID_CHARS and bool(_URL.fullmatch(client_id))


def host_of_document(client_id: str) -> str:
    """Return the host that a document's address names, without the dot that may end it: it stands for the same.

    Raises:
        Unusable: the address is not of the form that the draft prescribes.
    """
    try:
        parts = urlsplit(client_id)
        # Reading the port is what checks it.
        parts.port  # noqa: B018
    except ValueError as error:
        raise Unusable("The client_id is not a valid address.") from error
    segments = parts.path.split("/")
    if not parts.hostname or "@" in parts.netloc or not parts.path or "#" in client_id or {".", ".."} & set(segments):
        raise Unusable("The client_id must have a host and a path, without user name, fragment and dot segments.")
    return parts.hostname.rstrip(".")


def facts_from(client_id: str, body: bytes) -> Facts:
    """Return what a document says.

    Args:
        client_id: The address that it came from.
        body: The document.

    Raises:
        Unusable: it is no document of a client that we can take.
    """
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Unusable("The document is not JSON.") from error
    if not isinstance(document, dict) or document.get("client_id") != client_id:
        raise Unusable("The document's client_id is not the address that it was read from.")
    if "client_secret" in document or "client_secret_expires_at" in document:
        raise Unusable("A document must not hold a client secret.")
    if document.get("token_endpoint_auth_method", "none") != "none":
        raise Unusable("Only clients with token_endpoint_auth_method none are accepted.")
    for member, needed in (("grant_types", "authorization_code"), ("response_types", "code")):
        used = document.get(member, [needed])
        if not isinstance(used, list) or needed not in used:
            raise Unusable(f"The document's {member} must hold {needed}.")
    return _kept(document)


def _kept(document: dict[str, Any]) -> Facts:
    addresses = document.get("redirect_uris")
    if not isinstance(addresses, list) or not all(isinstance(address, str) for address in addresses):
        raise Unusable("The document's redirect_uris must be a list of addresses.")
    addresses = list(dict.fromkeys(addresses))
    good = [address for address in addresses if not fault_of(address)]
    if not 1 <= len(good) <= bounds.REDIRECT_URIS:
        raise Unusable(
            f"From 1 to {bounds.REDIRECT_URIS} redirect_uris are needed that start with https:// or lead to the user's own computer."
        )
    named = str(document.get("scope", "")).split()
    asked = {scope for scope in APP_SCOPES if scope in named} or APP_SCOPES
    return Facts(
        name=_line(document, "client_name", required=True),
        redirect_uris=good,
        left_out=[address[: bounds.NAME_CHARS] for address in addresses if address not in good][: bounds.REDIRECT_URIS],
        client_uri=_line(document, "client_uri", required=False),
        scopes=[scope.value for scope in Scope if scope in asked],
    )


def _line(document: dict[str, Any], member: str, *, required: bool) -> str:
    value = document.get(member, "")
    try:
        return texts.line(value if isinstance(value, str) else "", member, required=required)
    except InvalidInput as problem:
        raise Unusable(f"The document's {problem.message}") from problem
