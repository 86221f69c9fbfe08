"""Apps of OAuth clients that describe themselves in a metadata document. New clients, and changes of their documents, wait for a review."""

from datetime import datetime

from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit, bounds, texts
from marketplace.core.errors import InvalidTransition
from marketplace.core.scopes import Scope
from marketplace.core.transitions import TransitionTable, lock

from ..client_documents import Facts
from ..errors import TooManyClientsWaiting
from ..models import App, ClientDocument
from ..models.apps import AppStatus, ReviewStatus
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
_REASON = "Its document asks for it and gives no reason."


@transaction.atomic
def register_client(*, client_id: str, host: str, facts: Facts, stale_at: datetime, actor: User) -> App:
    """Queue a client for review as a pending app. It belongs to nobody: who met it first is only noted.

    Raises:
        TooManyClientsWaiting: of this host, or of all, as many wait as may.
    """
    # The row that stands for the table: they come in one after the other, so that none goes over the bounds.
    lock(ContentType.objects.all(), app_label=ClientDocument._meta.app_label, model=ClientDocument._meta.model_name)
    if known := App.objects.filter(client_id=client_id).first():
        # Someone else met it at the same moment.
        return known
    waiting = ClientDocument.objects.filter(app__status=AppStatus.PENDING)
    if waiting.filter(host=host).count() >= bounds.WAITING_CLIENTS_OF_HOST or waiting.count() >= bounds.WAITING_CLIENTS:
        raise TooManyClientsWaiting
    app = App.objects.create(
        client_id=client_id,
        name=facts.name,
        purpose=f"The client describes itself at {client_id}",
        registration_source=App.RegistrationSource.CIMD,
        client_type=App.CLIENT_PUBLIC,
        client_secret="",
        hash_client_secret=False,
        authorization_grant_type=App.GRANT_AUTHORIZATION_CODE,
    )
    stored = facts.as_json()
    ClientDocument.objects.create(app=app, host=host, reviewed=stored, latest=stored, stale_at=stale_at)
    audit.record("app.create", app, actor=actor, to_state=app.status, name=app.name, document=client_id)
    write_redirect_uris(app=app, uris=facts.redirect_uris, actor=actor)
    open_review(app, {Scope(scope): _REASON for scope in facts.scopes}, actor)
    return app


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
    document = lock(ClientDocument.objects.all(), pk=app.pk)
    APP.apply(app, "reopen", actor=actor, reason=reason, changes={"status_reason": ""})
    open_review(app, {Scope(scope): _REASON for scope in document.reviewed["scopes"]}, actor)
    return app


@transaction.atomic
def note_document(*, document: ClientDocument, facts: Facts, stale_at: datetime) -> ClientDocument:
    """Keep what a client's document says now. What is new in it waits for a review; an address that is gone is gone."""
    app = lock(App.objects.all(), pk=document.app_id)
    document = lock(ClientDocument.objects.all(), pk=app.pk)
    changes = {"read_at": timezone.now(), "stale_at": stale_at}
    said = facts.as_json()
    if said == document.latest:
        ClientDocument.objects.filter(pk=app.pk).update(**changes)
        return document
    verb = "change" if said != document.reviewed else "revert"
    if DOCUMENT.allows(document, verb):
        before = document.latest
        DOCUMENT.apply(document, verb, actor=None, changes=changes | {"latest": said}, before=before, after=said)
    else:
        # Back at what was reviewed, after a change that was refused.
        ClientDocument.objects.filter(pk=app.pk).update(**changes, latest=said)
        document.latest = said
    _settle(app, document)
    return document


@transaction.atomic
def accept_document(*, document: ClientDocument, shown: dict[str, object], reason: str, actor: User) -> ClientDocument:
    """Take over what a client's document says now: its name and its addresses. Scopes that it newly names wait for their own review.

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
    known = document.reviewed["scopes"]
    changes = {"reviewed": document.latest} if verb == "accept" else {}
    DOCUMENT.apply(document, verb, actor=actor, reason=reason, changes=changes, document=document.latest)
    _settle(app, document)
    further = [Scope(scope) for scope in document.reviewed["scopes"] if scope not in known and scope not in app.scopes]
    # One request is open at a time, and nothing is asked for a client that is suspended.
    if further and app.status == AppStatus.APPROVED and not app.scope_reviews.filter(status=ReviewStatus.PENDING).exists():
        open_review(app, dict.fromkeys(further, _REASON), actor)
    return document


def _settle(app: App, document: ClientDocument) -> None:
    """Give the app the reviewed name, and the reviewed addresses that its document still names."""
    reviewed, latest = document.reviewed, document.latest
    app.name = reviewed["name"]
    app.save(update_fields=["name", "updated"])
    write_redirect_uris(app=app, uris=[uri for uri in reviewed["redirect_uris"] if uri in latest["redirect_uris"]], actor=None)
