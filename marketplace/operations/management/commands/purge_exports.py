"""`manage.py purge_exports`: delete copies of accounts' data that have expired."""

from collections.abc import Mapping

from django.db.models import QuerySet
from django.utils import timezone

from marketplace.core.commands import PurgeCommand
from marketplace.operations.models import AccountExport


class Command(PurgeCommand):
    """Deletes expired copies."""

    help = "Remove the copies of their data that users asked for and that have expired. The schedule runs it daily."

    def expired(self) -> Mapping[str, QuerySet[AccountExport]]:
        """Return the copies that nobody can fetch any more."""
        return {"copies": AccountExport.objects.filter(expires_at__lte=timezone.now())}
