"""Top-ups with the test provider, and their disputes and refunds."""

from collections.abc import Callable
from functools import partial
from typing import Any

from marketplace.accounts.models import User
from tests.factories import UserFactory
from tests.shop import bought, on_sale
from wallet.models import TopUp
from wallet.models.top_ups import EventKind
from wallet.providers import SimulatedProvider
from wallet.providers.simulated import signed_event
from wallet.services.provider_events import receive_event
from wallet.services.top_ups import TopUpRequest, request_top_up


def requested_top_up(user: User | None = None, amount_minor: int = 50_000, currency: str = "INR", **wanted: Any) -> TopUp:
    return request_top_up(user=user or UserFactory(), wanted=TopUpRequest(currency, amount_minor, **wanted))[0]


def telling(top_up: TopUp, kind: EventKind, **told: Any) -> Callable[[], None]:
    body, headers = signed_event(top_up, kind, **told)
    return partial(receive_event, provider=SimulatedProvider.name, body=body, headers=headers)


def deliver_event(top_up: TopUp, kind: EventKind, **told: Any) -> TopUp:
    telling(top_up, kind, **told)()
    top_up.refresh_from_db()
    return top_up


def paid_top_up(user: User | None = None, amount_minor: int = 50_000, currency: str = "INR") -> TopUp:
    return deliver_event(requested_top_up(user, amount_minor, currency), EventKind.SUCCEEDED)


def indebted() -> User:
    """Return a buyer who owes 100.00 INR after a lost dispute of a purchase that stands."""
    top_up = paid_top_up(amount_minor=49_900)
    bought(on_sale(), top_up.user)
    for kind in (EventKind.DISPUTED, EventKind.DISPUTE_LOST):
        deliver_event(top_up, kind, amount_minor=10_000)
    return top_up.user
