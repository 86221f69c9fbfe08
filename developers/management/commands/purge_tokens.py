"""`manage.py purge_tokens`: delete expired codes and tokens."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from developers.services.purging import KEPT, ended_access_tokens, ended_codes, ended_page_tokens, ended_refresh_tokens
from marketplace.jobs.commands import PurgeCommand


class Command(PurgeCommand):
    help = (
        f"Delete authorization codes, and tokens of apps that expired more than {KEPT.days} days ago. Used codes and refresh tokens are "
        "kept while their connection exists, to detect their reuse; so are personal tokens. Tokens of this site's own pages are "
        "deleted as soon as they expire. Safe to run in parallel and to interrupt. The worker runs this daily. With --dry-run rows are "
        "counted, not deleted."
    )

    def expired(self) -> Mapping[str, QuerySet[Any]]:
        return {
            "codes": ended_codes(),
            "refresh tokens": ended_refresh_tokens(),
            "access tokens": ended_access_tokens(),
            "page tokens": ended_page_tokens(),
        }
