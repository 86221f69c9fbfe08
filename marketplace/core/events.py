"""Events, by which lower apps notify upper ones that they may not import: lower apps emit, upper apps subscribe in `ready()`.

Subscribers run in the emitter's transaction, so that a change and what follows from it stand or fall together. What need not
be there at once, or takes long, is a job: `subscribe_later` writes it into the queue in that same transaction (the queue is
the outbox of events), and a worker does it once the change stands, as often as it takes.
"""

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

from django.core.serializers.json import DjangoJSONEncoder


@dataclass(frozen=True)
class Event:
    """Base of every event; a subclass names what happened in the past tense."""


class Task(Protocol):
    """A task of the queue. Core does not know the queue."""

    @property
    def module_path(self) -> str:
        """Its name."""

    def enqueue(self, *args: Any, **kwargs: Any) -> Any:
        """Write it into the queue."""


E = TypeVar("E", bound=Event)
_later: set[tuple[type[Event], str]] = set()
_subscribers: defaultdict[type[Event], list[Callable[[Any], None]]] = defaultdict(list)


def subscribe(event_type: type[E], handler: Callable[[E], None]) -> None:
    """Call `handler` for each event of this type. Subscribing twice is once."""
    if handler not in _subscribers[event_type]:
        _subscribers[event_type].append(handler)


def subscribe_later(event_type: type[Event], task: Task) -> None:
    """Enqueue `task` for each event of this type; it gets the event's fields by name, as JSON has them. Subscribing twice is once."""
    if (event_type, task.module_path) not in _later:
        _later.add((event_type, task.module_path))
        _subscribers[event_type].append(partial(_enqueue, task))


def emit(event: Event) -> None:
    """Hand the event to its subscribers, in the order in which they subscribed."""
    for handler in _subscribers[type(event)]:
        handler(event)


def _enqueue(task: Task, event: Event) -> None:
    task.enqueue(**json.loads(json.dumps(asdict(event), cls=DjangoJSONEncoder)))
