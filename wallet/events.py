"""Events of the wallet, to which its jobs subscribe."""

import uuid
from dataclasses import dataclass

from marketplace.core.events import Event


@dataclass(frozen=True)
class DeletedAccountCredited(Event):
    """A deleted account got credit back that was paid by card, or a dispute or refund ended that kept such credit from its card."""

    user_id: uuid.UUID
