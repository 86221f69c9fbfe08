"""The interface of payment providers, and their events."""

import datetime as dt
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator

from .. import bounds
from ..errors import PaymentEventInvalid
from ..models.top_ups import EventKind, ReversalStatus, TopUp


@dataclass(frozen=True)
class PaymentPage:
    """A page on which a payment is made: the provider's id of it, and its address."""

    reference: str
    url: str


@dataclass(frozen=True)
class PaymentEvent:
    """An event with a valid signature.

    Args:
        event_id: The provider's id of the event, from what is signed.
        kind: What happened.
        occurred_at: When, by the provider's clock.
        top_up_id: The id that was given with the request, where the event has it.
        page: The provider's id of the page, where the event has it.
        payment: The provider's id of the payment.
        reversal: The provider's id of the dispute or refund.
        amount_minor: The amount that was paid, disputed or refunded.
        currency: Its currency.
    """

    event_id: str
    kind: EventKind
    occurred_at: dt.datetime
    top_up_id: str = ""
    page: str = ""
    payment: str = ""
    reversal: str = ""
    amount_minor: int = 0
    currency: str = ""

    def __post_init__(self) -> None:
        lengths = (
            (self.event_id, bounds.PROVIDER_ID_CHARS),
            (self.page, bounds.PROVIDER_ID_CHARS),
            (self.reversal, bounds.PROVIDER_ID_CHARS),
            (self.payment, bounds.PAYMENT_REFERENCE_CHARS),
            (self.top_up_id, bounds.PROVIDER_ID_CHARS),
            (self.currency, 3),
        )
        if not self.event_id or any(not isinstance(text, str) or len(text) > maximum for text, maximum in lengths):
            raise PaymentEventInvalid
        if not isinstance(self.amount_minor, int) or not 0 <= self.amount_minor <= bounds.MAX_BALANCE_MINOR:
            raise PaymentEventInvalid
        try:
            ProhibitNullCharactersValidator()("".join(text for text, _ in lengths))
        except ValidationError as error:
            raise PaymentEventInvalid from error


@dataclass(frozen=True)
class ProviderPayment:
    """A payment in a provider's list: the provider's id of it, its amount and its currency."""

    payment: str
    amount_minor: int
    currency: str


@dataclass(frozen=True)
class ProviderReversal:
    """A dispute or refund in a provider's list: the provider's ids of it and of its payment, its amount and its status."""

    reference: str
    payment: str
    amount_minor: int
    currency: str
    status: ReversalStatus


@dataclass(frozen=True)
class Refund:
    """A refund: the provider's id of it, and whether it is done; if not, an event reports the outcome."""

    reference: str
    done: bool


class Provider(Protocol):
    """A payment provider. Its methods call it over the network, except `read_event`; none is called in a transaction."""

    name: str
    label: str
    currencies: frozenset[str]

    def create_page(self, top_up: TopUp, return_url: str) -> PaymentPage:
        """Return the page on which a top-up is paid, and from which the payer is sent to an address; the same one for the same top-up.

        Raises:
            PaymentProviderUnavailable: it does not answer, or asks to wait.
            PaymentRefused: it refuses the request.
        """

    def read_event(self, body: bytes, headers: Mapping[str, str]) -> PaymentEvent | None:
        """Return the event in a request's body, None if it is of a kind that does not matter here.

        Raises:
            PaymentSignatureInvalid: it is not the provider's.
            PaymentEventInvalid: it lacks something.
        """

    def refund(self, *, payment: str, amount_minor: int, reversal_id: uuid.UUID) -> Refund | None:
        """Refund a part of a payment to its card, once for each reversal; return None if the provider refuses, such as during a dispute.

        Raises:
            PaymentProviderUnavailable: it does not answer, or asks to wait.
        """

    def payments_of(self, day: dt.date) -> Iterator[ProviderPayment]:
        """Yield the payments of a day (UTC).

        Raises:
            PaymentProviderUnavailable: it does not answer, or refuses.
        """

    def reversals_of(self, day: dt.date) -> Iterator[ProviderReversal]:
        """Yield the disputes, except for inquiries, and the refunds that began on a day (UTC), as they stand now.

        Raises:
            PaymentProviderUnavailable: it does not answer, or refuses.
        """


def day_bounds(day: dt.date) -> tuple[int, int]:
    """Return the first second of a day (UTC) and of the next one, as Unix times."""
    start = int(dt.datetime.combine(day, dt.time(), dt.UTC).timestamp())
    return start, start + 86_400


def moment_of(seconds: int) -> dt.datetime:
    """Return a Unix time as a time.

    Raises:
        PaymentEventInvalid: it is not a time.
    """
    try:
        return dt.datetime.fromtimestamp(seconds, dt.UTC)
    except (TypeError, ValueError, OverflowError, OSError) as error:
        raise PaymentEventInvalid from error
