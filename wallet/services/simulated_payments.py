"""Payments with the test provider: its events, made and delivered like those of a real one."""

import datetime as dt

from marketplace.jobs.policy import job

from ..models import TopUp
from ..models.top_ups import EventKind
from ..providers import SimulatedProvider
from ..providers.simulated import signed_event
from .provider_events import receive_event

OUTCOMES = {
    "succeeded": "The payment succeeds",
    "failed": "The payment fails",
    "late": "The payment succeeds, and we are told 20 seconds later",
    "disputed": "The payment succeeds, then the bank disputes it",
}
VERDICTS = {"won": "The dispute is won", "lost": "The dispute is lost"}
_EVENTS = {
    "succeeded": (EventKind.SUCCEEDED,),
    "failed": (EventKind.FAILED,),
    "late": (EventKind.SUCCEEDED,),
    "disputed": (EventKind.SUCCEEDED, EventKind.DISPUTED),
    "won": (EventKind.DISPUTE_WON,),
    "lost": (EventKind.DISPUTE_LOST,),
}


def pay(*, top_up: TopUp, outcome: str, late_at: dt.datetime) -> None:
    """Deliver the events of an outcome: at once, or at `late_at` if we are to be told late."""
    if outcome == "late":
        deliver.using(run_after=late_at).enqueue(str(top_up.pk), outcome)
    else:
        deliver.call(str(top_up.pk), outcome)


@job()
def deliver(top_up_id: str, outcome: str) -> None:
    """Deliver the events of an outcome."""
    top_up = TopUp.objects.get(pk=top_up_id)
    for kind in _EVENTS[outcome]:
        body, headers = signed_event(top_up, kind)
        receive_event(provider=SimulatedProvider.name, body=body, headers=headers)
