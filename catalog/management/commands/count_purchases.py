"""`manage.py count_purchases`: add new purchases and refunds to the popularity of listings."""

from typing import Any

from django.core.management.base import BaseCommand

from catalog.services.purchase_counts import count_purchases


class Command(BaseCommand):
    help = (
        "Add new purchases and refunds to the popularity of listings. Sales only record them, so that buyers of one listing do not "
        "wait for each other. The worker runs this every two minutes. Safe to run at any time, also in parallel. mark_popular_listings "
        "includes it."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        self.stdout.write(f"Counted new purchases of {count_purchases()} listings.")
