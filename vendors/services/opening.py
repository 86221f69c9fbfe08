"""Records that staff opened a file inside an archive."""

from django.db import transaction

from catalog.models import Deliverable
from marketplace.accounts.models import User
from marketplace.core import audit


@transaction.atomic
def record_opened(*, deliverable: Deliverable, path: str, actor: User) -> None:
    """Write to the audit log who opened which file of an archive."""
    audit.record("deliverable.open_entry", deliverable, actor=actor, path=path)
