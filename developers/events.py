"""Events of applications, for the apps above."""

import uuid
from dataclasses import dataclass

from marketplace.core.events import Event


@dataclass(frozen=True)
class ConsentWithdrawn(Event):
    """A user disconnected an app."""

    user_id: uuid.UUID
    app_id: uuid.UUID
