"""Lists the events that an app may see, in a fixed order: no event is added before one that was already listed."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from marketplace.api.pagination import pack_cursor, unpack_cursor
from marketplace.core.errors import InvalidInput
from marketplace.core.scopes import Scope

from ..event_types import types_for_key
from ..models import App, EventCounter, WebhookEvent
from ..purging import EVENTS_KEPT

BATCH = 500
LATEST = "latest"


@dataclass(frozen=True)
class EventPage:
    """A page of events, oldest first."""

    events: list[WebhookEvent]
    # Where the next page begins, even if it has no events yet.
    next_cursor: str
    # Whether more events can be read now.
    has_more: bool


def events_after(cursor: str | None, *, app: App, scopes: AbstractSet[Scope], limit: int) -> EventPage:
    """Return the events of the last 30 days that follow a cursor and that a key of an app with these scopes may see.

    Args:
        cursor: `next_cursor` of the previous page, None for the oldest events, `latest` for those that happen from now on.
        app: The app: it sees public events and its own, and not those of its developer's store.
        scopes: The scopes of the key.
        limit: The most events to return.

    Raises:
        InvalidInput: the cursor is not valid.
    """
    after = None if cursor == LATEST else _position_in(cursor)
    unlisted = number_new_events()
    last = EventCounter.objects.values_list("last", flat=True).first() or 0
    if after is None:
        after = last
    if after > last:
        raise _bad_cursor()
    kept = WebhookEvent.objects.filter(
        position__gt=after, position__lte=last, created_at__gt=timezone.now() - EVENTS_KEPT, type__in=types_for_key(scopes)
    ).order_by("position")
    # One query for each audience, so that the database reads no more than a page by its index.
    audiences = (Q(app=None, owner=None), Q(app=app))
    found = sorted((event for audience in audiences for event in kept.filter(audience)[: limit + 1]), key=_position_of)
    events = found[:limit]
    reached = _position_of(events[-1]) if len(found) > limit else last
    return EventPage(events, pack_cursor([reached]), unlisted or len(found) > limit)


@transaction.atomic
def number_new_events() -> bool:
    """Give positions to the events that were committed since the last call; return whether some are left.

    Events get them after their commit and under a lock, so the order does not depend on which transaction is committed first. An event
    that others may be merged into gets its position when its merge window ends (`merges_until`).
    """
    complete = Q(merges_until=None) | Q(merges_until__lte=timezone.now())
    waiting = WebhookEvent.objects.filter(complete, position=None).order_by("created_at", "id")
    if not waiting.exists():
        return False
    counter, _ = EventCounter.objects.select_for_update().get_or_create(pk=1)
    events = list(waiting.select_for_update(no_key=True, skip_locked=True).only("pk")[:BATCH])
    for event in events:
        counter.last += 1
        event.position = counter.last
    WebhookEvent.objects.bulk_update(events, ["position"])
    counter.save(update_fields=["last"])
    return len(events) == BATCH


def _position_of(event: WebhookEvent) -> int:
    return event.position or 0


def _position_in(cursor: str | None) -> int:
    """Return the position in a cursor, 0 without one."""
    if cursor is None:
        return 0
    match unpack_cursor(cursor):
        # bool is an int.
        case [int(position)] if type(position) is int and position >= 0:
            return position
    raise _bad_cursor()


def _bad_cursor() -> InvalidInput:
    detail = "Send the nextCursor of an earlier response unchanged. If the service was restored from a backup, begin again without one."
    return InvalidInput(errors=[{"pointer": "?after", "code": "invalid_cursor", "detail": detail}])
