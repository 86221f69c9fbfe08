"""Events of accounts that the apps above subscribe to."""

import uuid
from dataclasses import dataclass

from marketplace.core.events import Event


@dataclass(frozen=True)
class AccountDeleting(Event):
    """An account is about to be deleted, in the same transaction.

    A subscriber that must keep it raises `AccountInUse`; the others erase what is personal.
    """

    user_id: uuid.UUID


@dataclass(frozen=True)
class AccountEffectsRequested(Event):
    """Staff are about to deactivate or delete an account: subscribers add what ends with it to `effects`, a sentence each."""

    user_id: uuid.UUID
    is_deletion: bool
    effects: list[str]
