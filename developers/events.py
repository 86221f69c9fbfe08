"""Events of consents, for the apps above."""

import uuid
from dataclasses import dataclass

from marketplace.core.events import Event


@dataclass(frozen=True)
class ConsentWithdrawn(Event):
    """All consents of a user to another developer's app ended, by the user or by staff."""

    user_id: uuid.UUID
    app_id: uuid.UUID
