"""`manage.py reencrypt_secrets`: re-encrypt webhook secrets, second factors and bank accounts with the current key."""

from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet

from developers.models import WebhookEndpoint
from developers.services.webhooks import reencrypt_endpoint
from marketplace.accounts.second_factor import reencrypt_authenticator
from marketplace.core.encryption import DecryptionFailed
from marketplace.core.errors import NotFound
from marketplace.ui.progress import progress_bar
from vendors.models import PayoutDetails
from vendors.services.payout_details import reencrypt_payout_details
from wallet.services.wallet_payouts import count_payouts_under_old_keys

# Name of the secrets, whose they are, their rows, the field that names the owner, and the function that encrypts a row's secret anew.
SECRETS: tuple[tuple[str, str, QuerySet[Any], str, Callable[[Any], None]], ...] = (
    ("secrets", "webhooks", WebhookEndpoint.objects.all(), "pk", lambda row: reencrypt_endpoint(endpoint=row)),
    ("second factors", "users", Authenticator.objects.all(), "user_id", lambda row: reencrypt_authenticator(authenticator=row)),
    ("bank accounts", "vendors", PayoutDetails.objects.all(), "profile_id", lambda row: reencrypt_payout_details(details=row)),
)


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
        lost = []
        for name, owner, rows, owner_field, reencrypt in SECRETS:
            undecryptable = _reencrypt(f"{name} of {owner}".capitalize(), rows.all(), reencrypt)
            if owners := dict.fromkeys(getattr(row, owner_field) for row in undecryptable):
                some = ", ".join(map(str, islice(owners, 20)))
                lost.append(f"The {name} of {len(owners)} {owner} cannot be decrypted: {some}.")
        if waiting := count_payouts_under_old_keys():
            lost.append(f"{waiting} waiting wallet payouts need an old key: decide on them before you remove it.")
        if lost:
            raise CommandError(" ".join(lost), returncode=1)
        self.stdout.write("All secrets are encrypted with the current key.")


def _reencrypt(description: str, rows: QuerySet[Any], reencrypt: Callable[[Any], None]) -> list[Any]:
    """Re-encrypt each row; return those that cannot be decrypted."""
    lost = []
    with progress_bar() as progress:
        for row in progress.track(rows.order_by("pk").iterator(chunk_size=500), total=rows.count(), description=description):
            try:
                # The row may have been deleted meanwhile.
                with suppress(NotFound):
                    reencrypt(row)
            except DecryptionFailed:
                lost.append(row)
    return lost
