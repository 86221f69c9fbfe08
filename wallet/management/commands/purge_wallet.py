"""`manage.py purge_wallet`: delete expired quotes and idempotency records, and erase old bank details."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from marketplace.jobs.commands import PurgeCommand
from wallet.services.quotes import expired_quotes

from ... import bounds
from ...services.idempotency import expired_responses
from ...services.provider_events import unmatched_events
from ...services.wallet_payouts import expired_payment_details


class Command(PurgeCommand):
    """Deletes expired quotes and idempotency records."""

    help = (
        f"Delete unused quotes that expired a day ago, and responses stored for Idempotency-Keys more than {bounds.IDEMPOTENCY_HOURS} "
        f"hours ago, and providers' events of {bounds.PROVIDER_EVENT_DAYS} days ago that fitted no payment, and erase bank details of wallet payouts {bounds.PAYMENT_DETAILS_DAYS} days after they were paid. The worker runs this daily."
    )

    def expired(self) -> Mapping[str, QuerySet[Any]]:
        """Return expired quotes, idempotency records, and events that fitted no payment."""
        return {"expired quotes": expired_quotes(), "old answers": expired_responses(), "foreign events": unmatched_events()}

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete the rows, then erase old bank details."""
        super().handle(*args, **options)
        details = expired_payment_details()
        if options["dry_run"]:
            self.stdout.write(f"Bank details of {details.count()} payouts would be erased.")
        else:
            self.stdout.write(f"Bank details of {details.update(payment_details='')} payouts erased.")
