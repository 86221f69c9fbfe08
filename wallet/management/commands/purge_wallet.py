"""`manage.py purge_wallet`: delete quotes that expired unused, and old answers to Idempotency-Keys."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from marketplace.core import bounds
from marketplace.core.commands import PurgeCommand
from wallet.services.idempotency import expired_answers
from wallet.services.quotes import forgotten_quotes


class Command(PurgeCommand):
    """Deletes expired quotes and answers."""

    help = (
        f"Delete unused quotes that expired a day ago, and responses stored for Idempotency-Keys more than {bounds.IDEMPOTENCY_HOURS} "
        "hours ago. The worker runs this daily."
    )

    def expired(self) -> Mapping[str, QuerySet[Any]]:
        """Return what nobody can use any more."""
        return {"expired quotes": forgotten_quotes(), "old answers": expired_answers()}
