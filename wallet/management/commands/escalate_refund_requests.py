"""`manage.py escalate_refund_requests`: hand over to staff the refund requests that vendors have not answered in time."""

from typing import Any

from django.core.management.base import BaseCommand

from ...services.refund_requests import escalate_overdue_requests


class Command(BaseCommand):
    help = (
        "Hand over to staff the refund requests that vendors have not answered within REFUND_ANSWER_DAYS. The worker runs this hourly. Safe to "
        "repeat and to run in parallel."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        self.stdout.write(f"{escalate_overdue_requests()} requests now wait for staff.")
