"""`manage.py purge_webhooks`: delete old webhook events and the log of their deliveries."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from developers.webhooks.purging import KEPT, old_deliveries, old_messages
from marketplace.jobs.commands import PurgeCommand


class Command(PurgeCommand):
    help = (
        f"Delete webhook events older than {KEPT.days} days with their delivery log, except those still being delivered. The worker "
        "runs this daily. With --dry-run rows are counted, not deleted."
    )

    def expired(self) -> Mapping[str, QuerySet[Any]]:
        # The deliveries first: one event may have very many, too many to delete with it in one transaction.
        return {"deliveries": old_deliveries(), "events": old_messages()}
