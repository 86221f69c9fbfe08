"""`manage.py reseal_secrets`: put the secrets of webhooks under the newest key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from developers.models import WebhookEndpoint
from developers.services.webhooks import reseal_endpoint
from marketplace.core.commands import progress_bar
from marketplace.core.sealing import Unreadable


class Command(BaseCommand):
    """Seals secrets anew."""

    help = (
        "Re-encrypt webhook secrets with the current SECRET_KEY. Run it after changing that key, while the old one is in "
        "SECRET_KEY_FALLBACKS; afterwards the old one can be removed. Safe to interrupt and repeat, and to run beside the service. "
        "Exit status: 0 all are re-encrypted; 1 some could not be decrypted because their key is gone, and their developers must "
        "rotate them."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Seal, and name what cannot be read."""
        endpoints = WebhookEndpoint.objects.order_by("pk")
        lost = []
        with progress_bar() as progress:
            for endpoint in progress.track(endpoints.iterator(chunk_size=500), total=endpoints.count(), description="Secrets"):
                try:
                    reseal_endpoint(endpoint=endpoint)
                except Unreadable:
                    lost.append(str(endpoint.pk))
        if lost:
            raise CommandError(f"The secrets of {len(lost)} webhooks cannot be decrypted: {', '.join(lost[:20])}.", returncode=1)
        self.stdout.write("All secrets are encrypted with the current key.")
