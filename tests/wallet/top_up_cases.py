"""Top-ups with the test provider, and their disputes and refunds."""

from typing import Any

from marketplace.accounts.models import User
from tests.factories import UserFactory
from wallet.models import TopUp
from wallet.models.top_ups import EventKind
from wallet.providers import SimulatedProvider
from wallet.providers.simulated import signed_event
from wallet.services.provider_events import receive_event
from wallet.services.top_ups import TopUpRequest, request_top_up


def requested_top_up(user: User | None = None, amount_minor: int = 50_000, currency: str = "INR", **wanted: Any) -> TopUp:
    """Return a top-up whose page is open."""
    return request_top_up(user=user or UserFactory(), wanted=TopUpRequest(currency, amount_minor, **wanted))[0]


def deliver_event(top_up: TopUp, kind: EventKind, **told: Any) -> TopUp:
    """Deliver an event of the test provider; return the top-up as it stands then."""
    body, headers = signed_event(top_up, kind, **told)
    receive_event(provider=SimulatedProvider.name, body=body, headers=headers)
    top_up.refresh_from_db()
    return top_up


def paid_top_up(user: User | None = None, amount_minor: int = 50_000, currency: str = "INR") -> TopUp:
    """Return a top-up that was paid."""
    return deliver_event(requested_top_up(user, amount_minor, currency), EventKind.SUCCEEDED)
