"""What flows upward: lower apps emit named events, upper apps subscribe in their `ready()`.

Subscribers run in the emitter's transaction, so that a change and what follows from it stand or fall together.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar


@dataclass(frozen=True)
class Event:
    """Base of every event; a subclass names what happened in the past tense."""


E = TypeVar("E", bound=Event)
_subscribers: defaultdict[type[Event], list[Callable[[Any], None]]] = defaultdict(list)


def subscribe(event_type: type[E], handler: Callable[[E], None]) -> None:
    """Call `handler` for each event of this type. Subscribing twice is once."""
    if handler not in _subscribers[event_type]:
        _subscribers[event_type].append(handler)


def emit(event: Event) -> None:
    """Hand the event to its subscribers, in the order in which they subscribed."""
    for handler in _subscribers[type(event)]:
        handler(event)
