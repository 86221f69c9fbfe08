"""The data and the inspection of a service for tests of uploads; runs in the service's environment."""

import hashlib
import sys
from io import StringIO
from typing import Any

from botocore.exceptions import ClientError
from django.conf import settings
from django.core.management import CommandError, call_command

from catalog.models import Deliverable, Listing, ListingReview, Preview
from catalog.services.review import approve_listing
from catalog.services.submission import submit_listing
from marketplace.accounts.models import User
from marketplace.core.errors import DependencyUnavailable
from marketplace.core.scopes import Scope
from marketplace.storage import default_storage
from marketplace.storage.s3 import S3Storage
from tests.callers import personal_token
from tests.factories import ListingFactory, UserFactory
from tests.shop import archive, bought, funded, on_sale
from tests.vendors.attaching import show
from tests.vendors.cases import make_vendor
from vendors.services.files import keys_of

FOLDERS = ("deliverables/", "previews/")
# Nobody signs in with a password here, and a safe one takes long to hash.
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
settings.EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"


def token_of(user: User, *scopes: Scope) -> str:
    return personal_token(user, frozenset(scopes))[1]


def prepare(count: str) -> dict[str, Any]:
    """Make a vendor with published listings whose files are stored, and a buyer who owns the first."""
    store = default_storage
    if isinstance(store, S3Storage):
        try:
            store.bucket.create()
        except ClientError as error:
            sys.exit(f"the S3 server cannot store here: {error}")
    profile = make_vendor()
    listings = [on_sale(archive(f"reviewed {number}"), store=profile.store) for number in range(int(count))]
    preview = show(listings[0])
    # Uploads to what waits for review are refused.
    waiting = ListingFactory(store=make_vendor().store, status="PendingReview")
    buyer = funded(inr=100_000)
    bought(listings[0], buyer)
    return {
        "vendor": token_of(profile.user, Scope.VENDOR_MANAGE),
        "locked": str(waiting.id),
        "waiting": token_of(waiting.store.owner, Scope.VENDOR_MANAGE),
        "buyer": token_of(buyer, Scope.LIBRARY_DOWNLOAD),
        "shopper": token_of(funded(inr=100_000), Scope.WALLET_SPEND, Scope.ACCOUNT_READ, Scope.LIBRARY_READ, Scope.LIBRARY_DOWNLOAD),
        "preview": str(preview.id),
        "listings": {str(listing.id): listing.approved_deliverable.sha256 for listing in listings if listing.approved_deliverable},
    }


def approve(listing_id: str) -> dict[str, Any]:
    """Have a reviewer approve the listing's new file."""
    listing = Listing.objects.get(pk=listing_id)
    submit_listing(listing=listing, checks=[{"name": "file_integrity", "passed": True, "detail": ""}], actor=listing.store.owner)
    review = ListingReview.objects.get(listing=listing, status="Pending")
    approve_listing(review=review, actor=UserFactory(email="reviewer@example.com"))
    return {}


def _told(*words: str) -> tuple[str, str]:
    """Run a management command; return what it says, and what it ends with if it fails."""
    out = StringIO()
    try:
        call_command(*words, stdout=out)
    except CommandError as error:
        return out.getvalue(), f"{error} ({error.returncode})"
    return out.getvalue(), ""


def swept_state() -> dict[str, Any]:
    """Sweep the store; return what the sweep, another and the verification say, and the state."""
    return {
        "swept": _told("sweep_objects", "--delete", "--hours", "0"),
        "again": _told("sweep_objects", "--hours", "0"),
        "verified": _told("verify_checksums"),
    } | state()


def state() -> dict[str, Any]:
    """Return what is recorded, what is stored, what was left unfinished, and which file each listing has."""
    store = default_storage
    recorded = {file.object_key: [file.file_size, file.sha256] for file in Deliverable.objects.all()}
    for preview in Preview.objects.all():
        recorded[preview.object_key] = [preview.size, preview.sha256]
        recorded |= {copy["key"]: [copy["size"], copy["sha256"]] for copy in preview.renditions.values()}
        assert set(keys_of(preview)) <= set(recorded)
    return {
        "recorded": recorded,
        "stored": {key: _measured(key) for folder in FOLDERS for key, _ in store.keys_with_times(folder)},
        "unfinished": [part.name for part in store.unfinished()],
        "live": {str(listing.id): listing.approved_deliverable.sha256 for listing in Listing.objects.all() if listing.approved_deliverable},
        "pointed": sorted(
            file.object_key
            for listing in Listing.objects.select_related("approved_deliverable", "candidate_deliverable")
            for file in (listing.approved_deliverable, listing.candidate_deliverable)
            if file is not None
        ),
    }


def _measured(key: str) -> list[Any]:
    digest, size = hashlib.sha256(), 0
    try:
        for block in default_storage.read(key):
            digest.update(block)
            size += len(block)
    except DependencyUnavailable as error:
        return [size, f"unreadable: {error.__cause__!r}"]
    return [size, digest.hexdigest()]
