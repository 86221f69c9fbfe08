"""All of the demo's content: people, goods, history."""

import os
from datetime import timedelta

from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from catalog.services.purchase_counts import count_purchases
from marketplace.jobs.models import Job
from marketplace.ui.progress import progress_bar

from .clock import clock_at
from .entries import CatalogEntry, listings_to_buy
from .history import DAYS, make_history
from .invoices import make_invoice, make_seller
from .output import credentials_path, read_credentials, write_credentials
from .payouts import make_payout
from .people import Credentials, make_approval, make_credentials, make_people, make_requests
from .refunds import make_refund_request
from .shop import feature_listings, fill_shop


def make_content(entries: list[CatalogEntry], base_url: str) -> tuple[Credentials, str]:
    """Create the tables and what is missing in them, and return the credentials and the slug of a listing for the developer to buy.

    The credentials are written before the content, so that an interrupted run loses none.

    Files created from here on, by a server in this process too, are readable by their owner only.
    """
    os.umask(0o077)
    # Events keep the address of what they are about.
    settings.BASE_URL = base_url
    # The demo's people have no mailboxes.
    settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
    call_command("migrate", verbosity=0, interactive=False)
    path = credentials_path()
    credentials: Credentials = {"baseUrl": base_url} | read_credentials(path)
    now = timezone.now()
    with clock_at(now - timedelta(days=DAYS + 2)):
        people = make_people(credentials)
        make_seller(people)
    make_requests(people)
    make_credentials(people, credentials)
    write_credentials(path, credentials)
    with progress_bar() as progress:
        for _ in progress.track(fill_shop(entries, people, until=now), total=len(entries), description="Demo content"):
            pass
    feature_listings(people)
    make_history(people, until=now)
    make_invoice(people)
    make_payout(people.profiles["vendor"], people.customer, people.admin)
    make_refund_request(people.customer)
    make_approval(people)
    count_purchases()
    # What the demo's past left to do is due from now on.
    Job.objects.ready().filter(enqueued_at__lt=now).update(enqueued_at=now)
    unowned = listings_to_buy(people.developer).first()
    return credentials, entries[0].slug if unowned is None else unowned.slug
