"""Fetches and registers clients whose `client_id` is the URL of a metadata document.

Only a signed-in user's consent page leads to a call, only to hosts on the operator's list, and seldom: each user a few
times a minute, each address once at a time and not again for a minute after it failed.
"""

import hashlib
import logging
import re
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone
from django.utils.http import is_same_domain
from oauthlib.oauth2.rfc6749.errors import InvalidClientIdError

from marketplace.accounts.models import User
from marketplace.core import bounds, outbound
from marketplace.core.errors import RateLimited

from ..client_documents import Facts, Unusable, facts_from, host_of_document, names_document
from ..errors import TooManyClientsWaiting
from ..models import App, ClientDocument
from ..models.apps import AppStatus
from ..services.clients import note_document, register_client
from ..throttling import CounterStoreDown, Limit, count_call

_SECONDS = 5.0
_PAUSE_SECONDS = 60
_SHORTEST, _LONGEST = timedelta(minutes=5), timedelta(days=1)
_MAX_AGE = re.compile(r"max-age\s*=\s*([0-9]{1,9})", re.IGNORECASE)

logger = logging.getLogger(__name__)


class Unreviewed(Exception):
    """The client is known, and may not act for anyone.

    Args:
        app: The client.
    """

    def __init__(self, app: App) -> None:
        super().__init__("not approved")
        self.app = app


@dataclass(frozen=True)
class Read:
    """A document that was read.

    Args:
        facts: What it says.
        keep: For how long it is taken to be true.
    """

    facts: Facts
    keep: timedelta


def meet(request: HttpRequest, client_id: str, user: User) -> None:
    """Read about a client that is new here, or was not read about for long.

    Raises:
        InvalidClientIdError: it cannot be known: its host is not listed, its document cannot be read or used.
        RateLimited: the user brings too many.
        Unreviewed: it waits for its review, or was refused.
    """
    if not names_document(client_id):
        return
    app = App.objects.select_related("document").filter(client_id=client_id).first()
    try:
        if app is None:
            app = _introduce(request, client_id, user)
        elif _is_stale(app):
            _read_again(request, app, user)
    except (Unusable, TooManyClientsWaiting) as fault:
        raise InvalidClientIdError(description=str(fault)) from fault
    if app.status in {AppStatus.PENDING, AppStatus.REJECTED}:
        raise Unreviewed(app)


def is_listed(host: str) -> bool:
    """Tell whether clients of this host may describe themselves here."""
    return any(is_same_domain(host, pattern.lower()) for pattern in settings.CLIENT_METADATA_HOSTS)


def _introduce(request: HttpRequest, client_id: str, user: User) -> App:
    host = host_of_document(client_id)
    if not is_listed(host):
        raise Unusable("The client is unknown, and its host is not allowed.")
    read = _read(request, client_id, user)
    return register_client(client_id=client_id, host=host, facts=read.facts, stale_at=timezone.now() + read.keep, actor=user)


def _is_stale(app: App) -> bool:
    document: ClientDocument | None = getattr(app, "document", None)
    listed = document is not None and is_listed(document.host)
    return listed and app.status == AppStatus.APPROVED and app.document.stale_at <= timezone.now()


def _read_again(request: HttpRequest, app: App, user: User) -> None:
    """Read an approved client's document anew; what was reviewed holds while it cannot be read."""
    try:
        read = _read(request, app.client_id, user)
    except (Unusable, RateLimited) as fault:
        logger.warning("The document of client %s cannot be read again: %s", app.client_id, fault)
        return
    note_document(document=app.document, facts=read.facts, stale_at=timezone.now() + read.keep)


def _read(request: HttpRequest, client_id: str, user: User) -> Read:
    busy = f"client-document:{hashlib.sha256(client_id.encode()).hexdigest()}"
    try:
        count_call(request, [Limit("client-documents", str(user.pk), settings.RATE_LIMITS["client_documents"])])
    except CounterStoreDown as error:
        raise Unusable("Clients cannot be looked up at the moment. Try again later.") from error
    if not cache.add(busy, 1, _PAUSE_SECONDS):
        raise Unusable("The client's document is being read, or could not be read a moment ago. Try again in a minute.")
    try:
        answer = outbound.request(
            "GET",
            client_id,
            headers={"Accept": "application/json"},
            seconds=_SECONDS,
            max_bytes=bounds.CLIENT_DOCUMENT_BYTES,
        )
    except (outbound.Refused, outbound.Failed) as fault:
        raise Unusable(f"The client's document cannot be read. {fault}") from fault
    read = Read(_facts_of(client_id, answer), _lifetime(answer.headers.get("Cache-Control", "")))
    cache.delete(busy)
    return read


def _facts_of(client_id: str, answer: outbound.Answer) -> Facts:
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if answer.status != 200:
        raise Unusable(f"The client's document cannot be read: its server answered {answer.status}.")
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise Unusable("The client's document is not served as application/json.")
    if not answer.whole:
        raise Unusable(f"The client's document has more than {bounds.CLIENT_DOCUMENT_BYTES} bytes.")
    return facts_from(client_id, answer.body)


def _lifetime(cache_control: str) -> timedelta:
    """Return how long an answer is kept: as its server says, within our bounds."""
    directives = cache_control.lower()
    if "no-store" in directives or "no-cache" in directives:
        return _SHORTEST
    found = _MAX_AGE.search(directives)
    return min(max(timedelta(seconds=int(found[1])), _SHORTEST), _LONGEST) if found else _LONGEST
