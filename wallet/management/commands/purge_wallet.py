"""`manage.py purge_wallet`: delete expired quotes and idempotency records, and erase old bank details."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from marketplace.jobs.commands import PurgeCommand
from wallet.services.quotes import expired_quotes

from ... import bounds
from ...services.idempotency import expired_responses
from ...services.vendor_payouts import expired_payout_details
from ...services.wallet_payouts import expired_payment_details


class Command(PurgeCommand):
    """Deletes expired quotes and idempotency records."""

    help = (
        f"Delete unused quotes that expired a day ago, and responses stored for Idempotency-Keys more than {bounds.IDEMPOTENCY_HOURS} "
        f"hours ago, and erase bank details of wallet payouts {bounds.PAYMENT_DETAILS_DAYS} days after they were paid, and those of vendors as long after they were replaced. The worker runs this daily."
    )

    def expired(self) -> Mapping[str, QuerySet[Any]]:
        """Return expired quotes and idempotency records."""
        return {"expired quotes": expired_quotes(), "old answers": expired_responses()}

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete the rows, then erase old bank details."""
        super().handle(*args, **options)
        details, accounts = expired_payment_details(), expired_payout_details()
        if options["dry_run"]:
            self.stdout.write(f"Bank details of {details.count()} payouts and {accounts.count()} vendors would be erased.")
        else:
            erased = details.update(payment_details=""), accounts.update(encrypted="")
            self.stdout.write(f"Bank details of {erased[0]} payouts and {erased[1]} vendors erased.")
