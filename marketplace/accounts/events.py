"""What accounts tell the apps above them."""

import uuid
from dataclasses import dataclass

from marketplace.core.events import Event


@dataclass(frozen=True)
class AccountDeleted(Event):
    """An account is being deleted. A subscriber that must keep it raises `AccountInUse`; the others erase what is personal."""

    user_id: uuid.UUID


@dataclass(frozen=True)
class AccountEnding(Event):
    """Staff were shown the page that shuts or deletes an account: subscribers add to `effects` what goes with it, a sentence each."""

    user_id: uuid.UUID
    deleted: bool
    effects: list[str]
