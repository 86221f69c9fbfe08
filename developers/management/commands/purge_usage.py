"""`manage.py purge_usage`: delete usage that is older than 13 months."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from developers.usage.rows import KEPT_HOURS, KEPT_MONTHS, old_days, old_hours
from marketplace.jobs.commands import PurgeCommand


class Command(PurgeCommand):
    help = (
        f"Remove the usage of keys and apps by day that is older than {KEPT_MONTHS} months, and by hour that is older than {KEPT_HOURS} "
        "hours. Run it daily. With --dry-run the rows are counted and none is removed."
    )

    def expired(self) -> Mapping[str, QuerySet[Any]]:
        return {"daily rows": old_days(), "hourly rows": old_hours()}
