"""Apps of OAuth clients that describe themselves in a metadata document. New clients, and changes of their documents, wait for a review."""

from typing import Any
from urllib.parse import urlsplit

from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition, NotFound
from marketplace.core.scopes import APP_SCOPES
from marketplace.core.transitions import TransitionTable, lock

from .. import bounds
from ..errors import TooManyClientsWaiting
from ..models import App, ClientDocument
from ..models.apps import AppStatus
from ..models.clients import DocumentStatus
from .apps import write_redirect_uris
from .scopes import open_review
from .states import APP

DOCUMENT = TransitionTable(
    "client_document",
    {
        "change": ((DocumentStatus.KNOWN, DocumentStatus.CHANGED), DocumentStatus.CHANGED),
        "revert": ((DocumentStatus.CHANGED,), DocumentStatus.KNOWN),
        "accept": ((DocumentStatus.CHANGED,), DocumentStatus.KNOWN),
        "refuse": ((DocumentStatus.CHANGED,), DocumentStatus.KNOWN),
    },
)
_REASON = "The client describes itself and gives no reason."


def hold_document(*, client: App, actor: User) -> App:
    """Put what a client's document says before a reviewer: all of it for a new client, the changes for a known one.

    Args:
        client: The app as the toolkit has just read it. Its row is new and pending, or unchanged (`App.save`).
        actor: Who brought the client here. It belongs to nobody.

    Raises:
        TooManyClientsWaiting: of its host, or of all, as many new clients wait as may; then the app is deleted.
    """
    said = {"name": client.name, "redirect_uris": list(dict.fromkeys(client.redirect_uris.split()))}
    with transaction.atomic():
        # The row that stands for the table: new clients come in one after the other, so that none goes over the bounds.
        lock(ContentType.objects.all(), app_label=ClientDocument._meta.app_label, model=ClientDocument._meta.model_name)
        app = lock(App.objects.all(), pk=client.pk)
        document = ClientDocument.objects.select_for_update(of=("self",), no_key=True).filter(pk=app.pk).first()
        if document is not None:
            _note(app, document, said)
            return app
        host = str(urlsplit(app.client_id).hostname).rstrip(".")
        waiting = ClientDocument.objects.filter(app__status=AppStatus.PENDING)
        if waiting.filter(host=host).count() < bounds.WAITING_CLIENTS_OF_HOST and waiting.count() < bounds.WAITING_CLIENTS:
            _queue_client(app, host, said, actor)
            return app
        app.delete()
    raise TooManyClientsWaiting


def _queue_client(app: App, host: str, said: dict[str, Any], actor: User) -> None:
    ClientDocument.objects.create(app=app, host=host, reviewed=said, latest=said)
    audit.record("app.create", app, actor=actor, to_state=app.status, name=app.name, document=app.client_id)
    # The toolkit has saved the addresses; their origins follow.
    app.redirect_uris = ""
    write_redirect_uris(app=app, uris=said["redirect_uris"], actor=actor)
    open_review(app, dict.fromkeys(APP_SCOPES, _REASON), actor)


@transaction.atomic
def reopen_client(*, app: App, reason: str, actor: User) -> App:
    """Queue a rejected client for review again: nobody can make another app under its address.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: it is not rejected.
        NotFound: it is a developer's app.
    """
    reason = texts.prose(reason, "reason")
    app = lock(App.objects.all(), pk=app.pk)
    if not ClientDocument.objects.filter(pk=app.pk).exists():
        raise NotFound
    APP.apply(app, "reopen", actor=actor, reason=reason, changes={"status_reason": ""})
    open_review(app, dict.fromkeys(APP_SCOPES, _REASON), actor)
    return app


def _note(app: App, document: ClientDocument, said: dict[str, Any]) -> None:
    """Keep what a known client's document says now. An address that is gone from it is gone at once."""
    document.read_at = timezone.now()
    if said == document.latest:
        document.save(update_fields=["read_at"])
        return
    verb = "change" if said != document.reviewed else "revert"
    if DOCUMENT.allows(document, verb):
        before = document.latest
        changes = {"read_at": document.read_at, "latest": said}
        DOCUMENT.apply(document, verb, actor=None, changes=changes, before=before, after=said)
    else:
        # Back at what was reviewed, after a change that was refused.
        document.latest = said
        document.save(update_fields=["read_at", "latest"])
    _settle(app, document)


@transaction.atomic
def accept_document(*, document: ClientDocument, shown: dict[str, object], reason: str, actor: User) -> ClientDocument:
    """Take over what a client's document says now: its name and its addresses.

    Args:
        document: The document.
        shown: What the reviewer has seen of it.
        reason: Why.
        actor: Who.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: nothing waits, or it has changed again since.
    """
    return _decide(document, "accept", shown, reason, actor)


@transaction.atomic
def refuse_document(*, document: ClientDocument, shown: dict[str, object], reason: str, actor: User) -> ClientDocument:
    """Leave a client at what was reviewed, less what its document no longer names, until the document changes again.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: nothing waits, or it has changed again since.
    """
    return _decide(document, "refuse", shown, reason, actor)


def _decide(document: ClientDocument, verb: str, shown: dict[str, object], reason: str, actor: User) -> ClientDocument:
    reason = texts.prose(reason, "reason")
    app = lock(App.objects.all(), pk=document.app_id)
    document = lock(ClientDocument.objects.all(), pk=app.pk)
    if document.latest != shown:
        raise InvalidTransition("The document has changed again. Reload the page and check it.")
    changes = {"reviewed": document.latest} if verb == "accept" else {}
    DOCUMENT.apply(document, verb, actor=actor, reason=reason, changes=changes, document=document.latest)
    _settle(app, document)
    return document


def _settle(app: App, document: ClientDocument) -> None:
    """Give the app the reviewed name, and the reviewed addresses that its document still names."""
    reviewed, latest = document.reviewed, document.latest
    app.name = reviewed["name"]
    app.save(update_fields=["name", "updated"])
    write_redirect_uris(app=app, uris=[uri for uri in reviewed["redirect_uris"] if uri in latest["redirect_uris"]], actor=None)
