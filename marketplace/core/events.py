"""Events, with which lower apps notify upper ones that they must not import: lower apps emit, upper apps subscribe in `ready()`.

Subscribers run in the emitter's transaction, so that a change and its consequences are committed together. Work that
can be done later, or takes long, is a job: `subscribe_later` enqueues it in the same transaction (the queue is
a transactional outbox), and a worker runs it after the commit, with retries.
"""

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

from django.core.serializers.json import DjangoJSONEncoder
from django_tasks.base import Task


@dataclass(frozen=True)
class Event:
    """Base class of events."""


E = TypeVar("E", bound=Event)
_subscribers: defaultdict[type[Event], list[Callable[[Any], None]]] = defaultdict(list)


def subscribe(event_type: type[E], handler: Callable[[E], None]) -> None:
    """Call `handler` for each event of this type."""
    _subscribers[event_type].append(handler)


def subscribe_later(event_type: type[Event], task: Task[..., None]) -> None:
    """Enqueue `task` for each event of this type, with its fields as keyword arguments in JSON types."""
    _subscribers[event_type].append(partial(_enqueue, task))


def emit(event: Event) -> None:
    """Call the event's subscribers, in the order of their subscription."""
    for handler in _subscribers[type(event)]:
        handler(event)


def _enqueue(task: Task[..., None], event: Event) -> None:
    task.enqueue(**json.loads(json.dumps(asdict(event), cls=DjangoJSONEncoder)))
