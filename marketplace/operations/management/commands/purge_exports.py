"""`manage.py purge_exports`: delete expired account exports."""

from collections.abc import Mapping

from django.db.models import QuerySet
from django.utils import timezone

from marketplace.jobs.commands import PurgeCommand
from marketplace.operations.models import AccountExport


class Command(PurgeCommand):
    help = "Delete expired account exports. The worker runs this daily."

    def expired(self) -> Mapping[str, QuerySet[AccountExport]]:
        return {"exports": AccountExport.objects.filter(expires_at__lte=timezone.now())}
