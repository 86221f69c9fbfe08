"""Makes, in the service's own database, what the demo does not show: what takes two people, what went wrong, what is still empty.

Run beside the service with its settings; prints who can sign in besides the demo's people, as JSON.
"""

import json
import secrets
import sys

import django
from django.db import transaction

django.setup()

from allauth.account.models import EmailAddress  # noqa: E402 - models are there once Django is set up

from catalog.models import Category, LicenseTier, Listing  # noqa: E402
from catalog.models.files import PreviewKind  # noqa: E402
from catalog.services.review import reject_listing  # noqa: E402
from developers.event_types import EventType  # noqa: E402
from developers.models import App  # noqa: E402
from developers.services.apps import set_redirect_uris  # noqa: E402
from developers.services.webhooks import create_endpoint, send_test_event  # noqa: E402
from marketplace.accounts.models import User  # noqa: E402
from marketplace.demo.people import APP_NAME  # noqa: E402
from tests.files.makers import picture  # noqa: E402
from tests.studio.cases import submitted, with_candidate  # noqa: E402
from vendors.models import VendorProfile  # noqa: E402
from vendors.previews import process_preview  # noqa: E402
from vendors.services.files import attach_preview  # noqa: E402
from vendors.services.listings import create_listing  # noqa: E402
from vendors.services.profiles import apply, approve_vendor  # noqa: E402

CALLBACK = "https://app.example/callback"
REJECTED = "harbour-slab"


def main() -> None:
    """Make everything."""
    admin = User.objects.get(email="admin@demo.example")
    with transaction.atomic():
        _rejected_listing(VendorProfile.objects.get(store__slug="northlight"), admin)
        _connected_app()
        people = {"newStore": _vendor("New Store", admin, approved=True), "waitingStore": _vendor("Waiting Store", admin, approved=False)}
    sys.stdout.write(json.dumps(people))


def _rejected_listing(profile: VendorProfile, admin: User) -> Listing:
    """Make a listing that came back from the review and permits a licence that is no longer on offer."""
    listing = create_listing(
        profile=profile,
        title="Harbour Slab",
        slug=REJECTED,
        short_description="A slab serif for signs.",
        category=Category.objects.get(slug="fonts"),
        base_price_minor=49_00,
        actor=profile.user,
    )
    tier, _ = LicenseTier.objects.get_or_create(
        slug="broadcast",
        defaults={"name": "Broadcast", "summary": "On television.", "text": "Broadcast.", "is_active": False, "sort_order": 9},
    )
    listing.allowed_license_slugs = ["personal", tier.slug]
    listing.save()
    attach_preview(
        listing=listing,
        kind=PreviewKind.GALLERY,
        processed=process_preview(PreviewKind.GALLERY, picture(size=(1200, 800))),
        actor=profile.user,
    )
    findings = [
        {"code": "description_thin"},
        {"code": "other", "field": "previews", "message": "The cover shows another typeface.", "hint": "Show this one, in large letters."},
    ]
    reject_listing(review=submitted(with_candidate(listing)), findings=findings, note="Nearly there.", actor=admin)
    return listing


def _connected_app() -> None:
    """Give the developer's app an address to send people back to, and a webhook that nobody answers."""
    app = App.objects.get(name=APP_NAME)
    set_redirect_uris(app=app, uris=[CALLBACK], actor=app.developer)
    url = "https://hooks.app.example/marketplace/events"
    events = [EventType.ASSET_PUBLISHED, EventType.ASSET_UPDATED]
    endpoint, _ = create_endpoint(app=app, url=url, description="The importer", events=events, actor=app.developer)
    send_test_event(endpoint=endpoint, actor=app.developer)


def _vendor(name: str, admin: User, *, approved: bool) -> dict[str, str]:
    """Make someone who has a store without a listing, or waits for one."""
    slug, password = name.lower().replace(" ", "-"), secrets.token_urlsafe(12)
    user = User.objects.create_user(f"{slug}@demo.example", password, name=name)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    profile = apply(
        user=user, store_name=name, store_slug=slug, bio="We draw type.", application_data={"links": ["https://type.example"]}, actor=user
    )
    if approved:
        approve_vendor(profile=profile, reason="Known", actor=admin)
    return {"email": user.email, "password": password}


if __name__ == "__main__":
    main()
