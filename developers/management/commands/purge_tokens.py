"""`manage.py purge_tokens`: delete codes and tokens that have ended."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from developers.services.purging import KEPT, ended_access_tokens, ended_codes, ended_page_tokens, ended_refresh_tokens
from marketplace.core.commands import PurgeCommand


class Command(PurgeCommand):
    """Deletes codes and tokens."""

    help = (
        f"Remove authorization codes and the tokens of apps that ended more than {KEPT.days} days ago. What recognizes the "
        "second use of a code or refresh token stays while its connection lives, and so do personal tokens. Those of our own pages go "
        "as soon as they are over. It may run twice at once, and be stopped at any time. Run it daily. With --dry-run the rows are "
        "counted and none is removed."
    )

    def expired(self) -> Mapping[str, QuerySet[Any]]:
        """Return the codes and tokens to delete."""
        return {
            "codes": ended_codes(),
            "refresh tokens": ended_refresh_tokens(),
            "access tokens": ended_access_tokens(),
            "page tokens": ended_page_tokens(),
        }
