"""`manage.py purge_exports`: delete copies of accounts' data that have expired."""

from collections.abc import Mapping

from django.db.models import QuerySet
from django.utils import timezone

from marketplace.jobs.commands import PurgeCommand
from marketplace.operations.models import AccountExport


class Command(PurgeCommand):
    """Deletes expired copies."""

    help = "Delete expired account exports. The worker runs this daily."

    def expired(self) -> Mapping[str, QuerySet[AccountExport]]:
        """Return the copies that nobody can fetch any more."""
        return {"exports": AccountExport.objects.filter(expires_at__lte=timezone.now())}
