"""Reads the documents of clients whose `client_id` is the URL of a metadata document, with django-oauth-toolkit.

Documents are fetched only for the consent page of a signed-in user, only from hosts on the operator's list, and at a limited
rate. New and changed documents wait for a review (`services.clients`).
"""

import logging
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.http import is_same_domain
from oauth2_provider import cimd
from oauth2_provider.settings import oauth2_settings
from oauthlib.oauth2.rfc6749.errors import InvalidClientIdError
from urllib3 import HTTPResponse

from marketplace.accounts.models import User
from marketplace.core.errors import RateLimited
from marketplace.http import outbound
from marketplace.http.rate_limits import CounterStoreDown, RateLimit, count_call

from ..errors import TooManyClientsWaiting
from ..models import App
from ..models.apps import AppStatus
from ..redirects import CLIENT_ID, uri_error
from ..services.clients import submit_document

logger = logging.getLogger(__name__)


class ClientNotApproved(Exception):
    """The client is known but not approved."""

    def __init__(self, app: App) -> None:
        super().__init__("not approved")
        self.app = app


class DocumentFetcher(cimd.SafeMetadataFetcher):
    """Fetches documents with the bounds of all outgoing requests: on time, size and networks."""

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """Return a document, without the redirect URIs and grant types that no app may have, and for how many seconds it is fresh.

        Raises:
            cimd.CIMDError: it cannot be read.
        """
        # As in the base class.
        cimd._validate_client_id_url(client_id)
        seconds, max_bytes = oauth2_settings.CIMD_FETCH_TIMEOUT_SECONDS, oauth2_settings.CIMD_MAX_DOCUMENT_SIZE
        try:
            # One byte more than is allowed lets the base class refuse it.
            fetched = outbound.request("GET", client_id, headers={"Accept": "application/json"}, seconds=seconds, max_bytes=max_bytes + 1)
        except (outbound.Refused, outbound.Failed) as fault:
            raise cimd.CIMDError(str(fault)) from fault
        response = HTTPResponse(BytesIO(fetched.body), fetched.headers, status=fetched.status, preload_content=False)
        document, fresh = self._read_document(response)  # type: ignore[no-untyped-call]  # the library ships no types
        if isinstance(document.get("redirect_uris"), list):
            document["redirect_uris"] = [uri for uri in document["redirect_uris"] if not isinstance(uri, str) or not uri_error(uri)]
        if isinstance(document.get("grant_types"), list) and "authorization_code" in document["grant_types"]:
            document["grant_types"] = ["authorization_code"]
        return document, fresh


class ListedHosts:
    """Permits clients whose document is on a host in `CLIENT_METADATA_HOSTS`."""

    def has_permission(self, request: HttpRequest, client_id: str) -> bool:
        """Tell whether the host of a document is listed."""
        try:
            host = urlsplit(client_id).hostname
        except ValueError:
            return False
        return bool(host) and any(is_same_domain(str(host).rstrip("."), pattern.lower()) for pattern in settings.CLIENT_METADATA_HOSTS)


def require_reviewed_client(request: HttpRequest, client_id: str, user: User) -> None:
    """Fetch the document of a client if the client is new, or the document has expired, and refuse a client that is not approved.

    Raises:
        InvalidClientIdError: its host is not listed, its document cannot be read or used, or too many clients wait for a review.
        RateLimited: the user has tried too many clients.
        ClientNotApproved: it waits for its review, or was rejected.
    """
    if not cimd.is_cimd_client_id(client_id) or not CLIENT_ID.fullmatch(client_id):
        return
    app = App.objects.select_related("metadata_review").filter(client_id=client_id).first()
    if app is None or not hasattr(app, "metadata_review"):
        app = _fetch_document(request, client_id, user)
        if app is None:
            raise InvalidClientIdError(description="The client is unknown, and its document cannot be read or used here.")
    elif app.status == AppStatus.APPROVED and app.cimd_expires_at is not None and app.cimd_expires_at <= timezone.now():
        try:
            _fetch_document(request, client_id, user)
        except (InvalidClientIdError, RateLimited) as fault:
            # The reviewed document stays in effect.
            logger.warning("The document of client %s cannot be read again: %s", client_id, fault)
    if app.status in {AppStatus.PENDING, AppStatus.REJECTED}:
        raise ClientNotApproved(app)


def _fetch_document(request: HttpRequest, client_id: str, user: User) -> App | None:
    if not ListedHosts().has_permission(request, client_id):
        return None
    try:
        count_call(request, [RateLimit("client-documents", str(user.pk), settings.RATE_LIMITS["client_documents"])])
        client = cimd.resolve_cimd_application(client_id, request)
        return None if client is None else submit_document(client=client, actor=user)
    except CounterStoreDown as error:
        raise InvalidClientIdError(description="Clients cannot be looked up at the moment. Try again later.") from error
    except TooManyClientsWaiting as full:
        raise InvalidClientIdError(description=full.message) from full
