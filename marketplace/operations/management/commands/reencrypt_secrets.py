"""`manage.py reencrypt_secrets`: re-encrypt webhook secrets, second factors and bank accounts with the current key."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet
from rich.progress import Progress

from developers.models import WebhookEndpoint
from developers.services.webhooks import reencrypt_endpoint
from marketplace.accounts.second_factor import reencrypt_authenticator
from marketplace.core.encryption import DecryptionFailed
from marketplace.core.errors import NotFound
from marketplace.ui.progress import progress_bar
from vendors.models import PayoutDetails
from vendors.services.payout_details import reencrypt_payout_details
from wallet.services.wallet_payouts import count_payouts_under_old_keys


class Command(BaseCommand):
    help = (
        "Re-encrypt the secrets of webhooks and of two-factor sign-in, and vendors' bank accounts, with the current SECRET_KEY. "
        "Run it after changing that key, and keep the old one in SECRET_KEY_FALLBACKS for two weeks after the change: "
        "sessions, links, queued mails and exports still need it. Safe to interrupt and repeat, and to run beside the service. "
        "Exit status: 0 all are re-encrypted; 1 some could not be decrypted because their key is gone: developers "
        "must rotate these webhook secrets, users must set up two-factor sign-in again, and vendors must enter their bank accounts again; "
        "or waiting wallet payouts, whose bank details never change, need an old key."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        lost: defaultdict[tuple[str, str], dict[Hashable, None]] = defaultdict(dict)
        with progress_bar() as progress:
            for endpoint in _tracked(progress, "Secrets of webhooks", WebhookEndpoint.objects.all()):
                with _noting_lost(lost["secrets", "webhooks"], endpoint.pk):
                    reencrypt_endpoint(endpoint=endpoint)
            for authenticator in _tracked(progress, "Second factors of users", Authenticator.objects.all()):
                with _noting_lost(lost["second factors", "users"], authenticator.user_id):
                    reencrypt_authenticator(authenticator=authenticator)
            for details in _tracked(progress, "Bank accounts of vendors", PayoutDetails.objects.all()):
                with _noting_lost(lost["bank accounts", "vendors"], details.profile_id):
                    reencrypt_payout_details(details=details)
        problems = [
            f"The {secrets} of {len(ids)} {owners} cannot be decrypted: {', '.join(map(str, islice(ids, 20)))}."
            for (secrets, owners), ids in lost.items()
            if ids
        ]
        if waiting := count_payouts_under_old_keys():
            problems.append(f"{waiting} waiting wallet payouts need an old key: decide on them before you remove it.")
        if problems:
            raise CommandError(" ".join(problems), returncode=1)
        self.stdout.write("All secrets are encrypted with the current key.")


def _tracked(progress: Progress, description: str, rows: QuerySet[Any]) -> Iterable[Any]:
    return progress.track(rows.order_by("pk").iterator(chunk_size=500), total=rows.count(), description=description)


@contextmanager
def _noting_lost(lost: dict[Hashable, None], owner_id: Hashable) -> Iterator[None]:
    """Note the owner of what cannot be decrypted; pass over a row that was deleted meanwhile."""
    try:
        with suppress(NotFound):
            yield
    except DecryptionFailed:
        lost[owner_id] = None
