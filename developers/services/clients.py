"""Redirect URIs of developers' apps, and clients with a metadata document: what is new waits for a review."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.utils import timezone

from marketplace.accounts.models import User
from marketplace.core import audit, texts
from marketplace.core.errors import InvalidTransition, NotFound
from marketplace.core.scopes import APP_SCOPES
from marketplace.core.transitions import TransitionTable, lock, lock_for_decision

from .. import bounds
from ..errors import TooManyClientsWaiting, TooManyRedirectUris
from ..models import App, MetadataReview
from ..models.apps import AppStatus
from ..models.clients import MetadataReviewStatus
from ..redirects import uri_error
from .apps import write_redirect_uris
from .scopes import queue_request
from .states import APP_TRANSITIONS, lock_app, notify_developer

METADATA_REVIEW_TRANSITIONS = TransitionTable(
    "metadata_review",
    {
        "change": ((MetadataReviewStatus.UNCHANGED, MetadataReviewStatus.CHANGED), MetadataReviewStatus.CHANGED),
        "revert": ((MetadataReviewStatus.CHANGED,), MetadataReviewStatus.UNCHANGED),
        "accept": ((MetadataReviewStatus.CHANGED,), MetadataReviewStatus.UNCHANGED),
        "refuse": ((MetadataReviewStatus.CHANGED,), MetadataReviewStatus.UNCHANGED),
    },
)
_REASON = "The client describes itself and gives no reason."


@transaction.atomic
def set_redirect_uris(*, app: App, uris: Sequence[str], actor: User) -> bool:
    """Replace the redirect URIs of a developer's app; codes issued for a removed one are refused.

    If the app has scopes and one of the URIs is new, a reviewer decides, and the present ones work until then; a sandbox accepts it at once.

    Returns:
        Whether the URIs wait for a reviewer.

    Raises:
        InvalidInput: an address is not https, nor http on the user's own computer, or has parts that do not belong there.
        TooManyRedirectUris: more than an app may have.
    """
    wanted = list(dict.fromkeys(uris))
    if len(wanted) > bounds.MAX_REDIRECT_URIS:
        raise TooManyRedirectUris(maximum=bounds.MAX_REDIRECT_URIS)
    for uri in wanted:
        if fault := uri_error(uri):
            raise texts.invalid("redirect_uris", "invalid", f"{uri[:200]}: {fault}")
    app = lock_app(app)
    # A developer's app has a row for its latest request only: an earlier one is replaced, even if it still waits.
    MetadataReview.objects.filter(app=app).delete()
    present = app.redirect_uris.split()
    if settings.SANDBOX or not app.scopes or set(wanted) <= set(present):
        write_redirect_uris(app=app, uris=wanted, actor=actor)
        return False
    reviewed, latest = ({"name": app.name, "redirect_uris": each} for each in (present, wanted))
    MetadataReview.objects.create(app=app, host="", reviewed=reviewed, latest=latest, status=MetadataReviewStatus.CHANGED)
    audit.record("app.request_redirect_uris", app, actor=actor, before=present, after=wanted)
    return True


def submit_document(*, client: App, actor: User) -> App:
    """Submit a client's document for review: all of it for a new client, the changes for a known one.

    `client` is the app as the toolkit has just fetched it: its row is new and pending, or unchanged (`App.save`). The actor connects the
    client, without owning it.

    Raises:
        TooManyClientsWaiting: the maximum of new clients, of its host or of all, waits for review; the app is deleted.
    """
    contents = {"name": client.name, "redirect_uris": list(dict.fromkeys(client.redirect_uris.split()))}
    with transaction.atomic():
        # A lock for the whole table: simultaneous new clients cannot exceed the bounds.
        lock(ContentType.objects.all(), app_label=MetadataReview._meta.app_label, model=MetadataReview._meta.model_name)
        app = lock(App.objects.all(), pk=client.pk)
        metadata_review = MetadataReview.objects.select_for_update(of=("self",), no_key=True).filter(pk=app.pk).first()
        if metadata_review is not None:
            _update_document(app, metadata_review, contents)
            return app
        host = str(urlsplit(app.client_id).hostname).rstrip(".")
        waiting = MetadataReview.objects.filter(app__status=AppStatus.PENDING)
        if waiting.filter(host=host).count() < bounds.MAX_WAITING_CLIENTS_OF_HOST and waiting.count() < bounds.MAX_WAITING_CLIENTS:
            _queue_client(app, host, contents, actor)
            return app
        app.delete()
    raise TooManyClientsWaiting


def _queue_client(app: App, host: str, contents: dict[str, Any], actor: User) -> None:
    # Until a review, `reviewed` is what was fetched first.
    MetadataReview.objects.create(app=app, host=host, reviewed=contents, latest=contents)
    audit.record("app.create", app, actor=actor, to_state=app.status, name=app.name, document=app.client_id)
    # The toolkit has saved the URIs, but not their origins.
    app.redirect_uris = ""
    write_redirect_uris(app=app, uris=contents["redirect_uris"], actor=actor)
    queue_request(app, dict.fromkeys(APP_SCOPES, _REASON), actor)


@transaction.atomic
def reopen_client(*, app: App, reason: str, actor: User) -> App:
    """Queue a rejected client with a metadata document for another review, since no other app can be created for its URL.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: it is not rejected.
        NotFound: it is a developer's app, not a client with a metadata document.
    """
    reason = texts.clean_text(reason, "reason")
    app = lock(App.objects.all(), pk=app.pk)
    if app.user_id is not None:
        raise NotFound
    APP_TRANSITIONS.apply(app, "reopen", actor=actor, reason=reason, changes={"status_reason": ""})
    queue_request(app, dict.fromkeys(APP_SCOPES, _REASON), actor)
    return app


def _update_document(app: App, metadata_review: MetadataReview, contents: dict[str, Any]) -> None:
    """Save the latest document of a known client. Redirect URIs that it no longer has are removed at once."""
    unchanged = contents == metadata_review.latest
    if unchanged and metadata_review.status == MetadataReviewStatus.CHANGED:
        # It has waited for a review since `read_at`.
        return
    metadata_review.read_at = timezone.now()
    if unchanged:
        metadata_review.save(update_fields=["read_at"])
        return
    verb = "change" if contents != metadata_review.reviewed else "revert"
    if METADATA_REVIEW_TRANSITIONS.allows(metadata_review, verb):
        before = metadata_review.latest
        changes = {"read_at": metadata_review.read_at, "latest": contents}
        METADATA_REVIEW_TRANSITIONS.apply(metadata_review, verb, actor=None, changes=changes, before=before, after=contents)
    else:
        # The document is as reviewed again, after a change that was refused.
        metadata_review.latest = contents
        metadata_review.save(update_fields=["read_at", "latest"])
    _apply_document(app, metadata_review)


@transaction.atomic
def decide_metadata(*, metadata_review: MetadataReview, accept: bool, shown: dict[str, object], reason: str, actor: User) -> None:
    """Accept or refuse the latest document of a client, or the new redirect URIs of a developer's app, if they are still what the reviewer was shown.

    After a refusal a client keeps what was reviewed and its document still has, a developer's app its present redirect URIs.

    Raises:
        InvalidInput: no reason.
        InvalidTransition: no change waits, or the document has changed again since.
        SelfReview: the app is the actor's.
    """
    reason = texts.clean_text(reason, "reason")
    app = lock_for_decision(App.objects.all(), pk=metadata_review.app_id, owner="user_id", actor=actor)
    metadata_review = lock(MetadataReview.objects.all(), pk=app.pk)
    if metadata_review.latest != shown:
        raise InvalidTransition("The metadata has changed again. Reload the page and check it.")
    changes = {"reviewed": metadata_review.latest} if accept else {}
    if not accept and app.user_id is not None:
        # The URIs that the developer wanted to replace stay.
        changes = {"latest": metadata_review.reviewed}
    verb = "accept" if accept else "refuse"
    METADATA_REVIEW_TRANSITIONS.apply(metadata_review, verb, actor=actor, reason=reason, changes=changes, metadata=metadata_review.latest)
    _apply_document(app, metadata_review)
    notify_developer(app, "developers/redirects_decided", accepted=accept, reason=reason, uris=app.redirect_uris.split())


def _apply_document(app: App, metadata_review: MetadataReview) -> None:
    """Give the app the reviewed name, and the reviewed redirect URIs that its document still has."""
    reviewed, latest = metadata_review.reviewed, metadata_review.latest
    app.name = reviewed["name"]
    app.save(update_fields=["name", "updated"])
    write_redirect_uris(app=app, uris=[uri for uri in reviewed["redirect_uris"] if uri in latest["redirect_uris"]], actor=None)
