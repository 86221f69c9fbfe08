"""`manage.py purge_webhooks`: remove old events and the log of their deliveries."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from rich.console import Console
from rich.progress import Progress

from developers.models import WebhookDelivery, WebhookMessage
from developers.webhooks.purging import KEPT, STEP, old_messages


class Command(BaseCommand):
    """Removes events that were told."""

    help = (
        f"Remove webhook events older than {KEPT.days} days with the log of their deliveries; those that are still on their way stay. "
        "The schedule runs it daily. With --dry-run the rows are counted and none is removed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Offer a rehearsal."""
        parser.add_argument("--dry-run", action="store_true", help="count the rows, remove none")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Remove, or count."""
        total = old_messages().count()
        if options["dry_run"]:
            self.stdout.write(f"{total} events would be removed.")
            return
        removed = 0
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("Events", total=total)
            # One event may have been told to very many: in steps, so that nobody waits long for the database.
            while ids := list(
                WebhookDelivery.objects.filter(message__in=old_messages().order_by()).order_by("pk").values_list("pk", flat=True)[:STEP]
            ):
                WebhookDelivery.objects.filter(pk__in=ids).delete()
            while ids := list(old_messages().values_list("pk", flat=True)[:STEP]):
                # Another run may have been quicker with some of them.
                _, rows = WebhookMessage.objects.filter(pk__in=ids).delete()
                removed += rows.get(WebhookMessage._meta.label, 0)
                progress.update(task, completed=removed)
        self.stdout.write(f"{removed} events removed.")
